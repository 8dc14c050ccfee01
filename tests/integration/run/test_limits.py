# SPDX-License-Identifier: Apache-2.0
"""Candidates that misbehave: each ends with its own name, and leaves nothing behind."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from tests.integration.run.conftest import Bench

GOOD = """\
import torch
def softmax(input, dim=-1, dtype=None):
    return torch.softmax(input, dim, dtype)
"""


def daemon(marker: str, end: str) -> str:
    """A candidate that starts a process in a session of its own, and then does ``end``."""
    return (
        "import os, signal, subprocess, sys\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    wait = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
        f"    subprocess.Popen([*wait, '{marker}'])\n"
        "    os._exit(0)\n" + end
    )


def status(job: dict[str, Any]) -> tuple[str, str]:
    return job["status"], job["verdict"].get("reason", "")


def alive(marker: str) -> list[int]:
    """Processes whose command line holds ``marker``."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or []
        if any(marker in argument for argument in line):
            found.append(process.pid)
    return found


def test_printing_without_end_neither_hangs_nor_fills_the_disk(
    bench: Bench, tmp_path: Path
) -> None:
    # To the descriptor itself: pytest captures what goes through sys.stdout.
    noise = "import os\nfor _ in range(2560): os.write(1, b'x' * 4095 + b'\\n')\n"
    job = bench.judge(tmp_path, GOOD + noise)
    assert status(job) == ("PASSED", "")
    (log,) = bench.runs.glob("*/jobs/*/job.log")
    assert log.stat().st_size < 2 << 20


def test_a_loop_is_killed_and_its_words_are_kept(bench: Bench, tmp_path: Path) -> None:
    loop = "import os\nos.write(2, b'about to wait\\n')\nwhile True: pass\n"
    job = bench.judge(tmp_path, loop, "--timeout", "12")
    assert job["status"] == "TIMEOUT"
    assert "killed after 12 s" in job["verdict"]["reason"]
    assert "about to wait" in bench.log(job)


def test_what_a_killed_candidate_printed_is_kept(bench: Bench, tmp_path: Path) -> None:
    talker = (
        "import time\n"
        "def softmax(*args, **kwargs):\n"
        "    print('last words', flush=True)\n"
        "    time.sleep(600)\n"
    )
    job = bench.judge(tmp_path, talker, "--timeout", "12")
    assert job["status"] == "TIMEOUT"
    assert "last words" in bench.log(job)


def test_names_of_any_alphabet_and_odd_folders(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "a:b [c] é"
    folder.mkdir()
    candidate = folder / "ядро [fast] i.py"
    candidate.write_text(GOOD)
    odd = Bench(folder / "runs:1", bench.executor)
    line = ["run", "--op", "softmax", "--candidate", str(candidate), "--modes", "preflight"]
    (job,) = odd(*line, code=0)["jobs"]
    assert job["status"] == "PASSED"
    shown = subprocess.run(
        odd.command("show", "latest"), capture_output=True, text=True, check=True
    )
    assert "ядро [fast] i:softmax" in shown.stdout


def test_a_candidate_cannot_skip_its_own_tests(bench: Bench, tmp_path: Path) -> None:
    candidate = tmp_path / "candidate.py"
    candidate.write_text(
        "import _pytest.python, pytest\n"
        "_pytest.python.Function.setup = lambda self: pytest.skip('not today')\n"
        "def softmax(*args, **kwargs): raise ValueError\n"
    )
    line = ["run", "--op", "softmax", "--candidate", str(candidate), "--modes", "correctness"]
    (job,) = bench(*line, code=1)["jobs"]
    assert job["status"] == "FAILED"
    assert "skips explained" in job["verdict"]["reason"]


def test_a_candidate_that_takes_its_folder_away_harms_only_itself(
    bench: Bench, tmp_path: Path
) -> None:
    thief = (
        "import os, shutil\n"
        "line = open(f'/proc/{os.getppid()}/cmdline').read().split(chr(0))\n"
        "shutil.rmtree(line[-2], ignore_errors=True)\n"
        "os.makedirs(line[-2], exist_ok=True)\n"
        "open(os.path.join(os.fsencode(line[-2]), b'\\xff.bin'), 'w').close()\n"
    )
    job = bench.judge(tmp_path, GOOD + thief)
    assert job["status"] in ("PASSED", "FAILED", "CRASHED")


def test_a_process_that_escapes_its_killed_supervisor_is_found(
    bench: Bench, tmp_path: Path
) -> None:
    marker = f"escaped-{tmp_path.name}-{bench.executor}"
    escape = (
        "import os, signal, sys\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        f"        os.execve('/bin/sh', ['sh', '-c', 'sleep 600; : {marker}'], {{}})\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "os.kill(os.getppid(), signal.SIGKILL)\n"
        "import time; time.sleep(5)\n"
    )
    job = bench.judge(tmp_path, GOOD + escape)
    assert job["status"] in ("PASSED", "CRASHED")
    assert alive(marker) == []


def test_a_daemon_does_not_outlive_its_job(bench: Bench, tmp_path: Path) -> None:
    marker = f"sleep-of-{tmp_path.name}-{bench.executor}"
    job = bench.judge(tmp_path, GOOD + daemon(marker, "os.wait()\n"))
    assert job["status"] == "PASSED"
    assert any("outlived the session" in text for text in job["verdict"]["warnings"])
    assert alive(marker) == []


def test_a_daemon_of_a_job_that_ran_out_of_time_dies_too(bench: Bench, tmp_path: Path) -> None:
    marker = f"sleep-of-{tmp_path.name}-{bench.executor}"
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass\n"
    job = bench.judge(tmp_path, daemon(marker, deaf), "--timeout", "12")
    assert job["status"] == "TIMEOUT"
    assert alive(marker) == []


def test_a_job_that_takes_too_much_memory_is_killed(bench: Bench, tmp_path: Path) -> None:
    greedy = "held = []\nwhile True: held.append(bytearray(b'x') * (32 << 20))\n"
    job = bench.judge(tmp_path, greedy, "--memory", "1500m")
    assert job["status"] == "OOM", status(job)
    assert "1.46 GiB" in job["verdict"]["reason"]


def test_leaving_early_with_0_is_a_crash(bench: Bench, tmp_path: Path) -> None:
    job = bench.judge(tmp_path, "import os\nos._exit(0)\n")
    assert job["status"] == "CRASHED"
    assert "left no report.json" in job["verdict"]["reason"]


def test_a_segmentation_fault_has_its_name(bench: Bench, tmp_path: Path) -> None:
    job = bench.judge(tmp_path, "import ctypes\nctypes.string_at(0)\n")
    assert job["status"] == "CRASHED"
    assert "SIGSEGV" in job["verdict"]["reason"]


def test_an_import_error_is_told_with_its_own_words(bench: Bench, tmp_path: Path) -> None:
    job = bench.judge(tmp_path, "import no_such_module\n")
    assert job["status"] == "FAILED"
    assert "no_such_module" in job["verdict"]["reason"]
    assert "candidate.py" in bench.log(job)


def test_a_missing_function_is_told(bench: Bench, tmp_path: Path) -> None:
    job = bench.judge(tmp_path, "def softmx(x): return x\n")
    assert job["status"] == "FAILED"
    assert "softmax" in job["verdict"]["reason"]


def test_links_among_the_artifacts_are_refused(bench: Bench, tmp_path: Path) -> None:
    # The one folder that the job may write to is beside its orders.
    link = (
        "import os\n"
        "line = open(f'/proc/{os.getppid()}/cmdline').read().split(chr(0))\n"
        "os.symlink('/etc/passwd', os.path.join(line[-2], 'secret.txt'))\n"
        "os.mkfifo(os.path.join(line[-2], 'pipe'))\n"
    )
    job = bench.judge(tmp_path, GOOD + link)
    assert job["status"] == "PASSED", status(job)
    assert "secret.txt" not in job["verdict"]["artifacts"]
    warnings = " ".join(job["verdict"]["warnings"])
    assert "secret.txt: is a link" in warnings
    assert "pipe: is not a regular file" in warnings


def test_a_job_that_fills_its_folder_is_stopped(bench: Bench, tmp_path: Path) -> None:
    fill = (
        "import os, time\n"
        "line = open(f'/proc/{os.getppid()}/cmdline').read().split(chr(0))\n"
        "for number in range(64):\n"
        "    with open(os.path.join(line[-2], f'{number}.bin'), 'wb') as file:\n"
        "        file.write(b'x' * (16 << 20))\n"
        "    time.sleep(0.1)\n"
        "time.sleep(60)\n"
    )
    job = bench.judge(tmp_path, fill)
    assert job["status"] == "FAILED"
    assert "killed for writing more than 256 MiB" in job["verdict"]["reason"]


def test_a_killed_runner_takes_its_jobs_along(bench: Bench, tmp_path: Path) -> None:
    marker = f"token-{tmp_path.name}"
    candidate = tmp_path / "candidate.py"
    candidate.write_text(
        "import os, subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', '{marker}'])\n"
        "time.sleep(600)\n"
    )
    line = ["run", "--op", "softmax", "--candidate", str(candidate), "--modes", "preflight"]
    runner = subprocess.Popen(bench.command(*line), stderr=subprocess.DEVNULL)
    wait_until(lambda: bool(alive(marker)))
    runner.kill()
    runner.wait()
    wait_until(lambda: not alive(marker))


def wait_until(condition: Callable[[], bool], seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.1)
