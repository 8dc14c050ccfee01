# SPDX-License-Identifier: Apache-2.0
"""The exporter: values, bounded series, nothing stale."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bench_runner.errors import InfrastructureFault, UsageFault
from bench_runner.metrics.output import as_text, push, registry_of, write_textfile
from tests.unit.results.stored import forget, make_run

CANDIDATE = {
    "operator": "softmax",
    "backend": "cpu",
    "device": "a CPU",
    "candidate": "aaaaaaaaaaaa:softmax",
}


def samples(runs: Path, cases: bool = False) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    text = as_text(registry_of(runs, cases))
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def key(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    return name, frozenset(labels.items())


def test_values_of_a_run(tmp_path: Path) -> None:
    make_run(tmp_path, "20260101-000000-aaaa", candidate_ms=0.5)
    found = samples(tmp_path)
    passed = {"status": "PASSED", "backend": "cpu", "operator": "softmax", "mode": "benchmark"}
    assert found[key("bench_runner_jobs", **passed)] == 1
    assert found[key("bench_runner_candidate_speedup_ratio", **CANDIDATE)] == 2.0
    assert found[key("bench_runner_candidate_latency_seconds", **CANDIDATE)] == pytest.approx(5e-4)
    assert found[key("bench_runner_baseline_latency_seconds", **CANDIDATE)] == pytest.approx(1e-3)
    phase = {"backend": "cpu", "mode": "benchmark", "phase": "import"}
    assert found[key("bench_runner_job_phase_seconds_sum", **phase)] == 1.5
    assert found[key("bench_runner_job_phase_seconds_bucket", **phase, le="1.0")] == 0
    assert found[key("bench_runner_job_phase_seconds_bucket", **phase, le="2.5")] == 1
    assert found[key("bench_runner_last_success_timestamp_seconds", backend="cpu")] == 1767323045


def test_the_number_of_series_does_not_grow_with_runs(tmp_path: Path) -> None:
    make_run(tmp_path, "20260101-000000-0000")
    once = set(samples(tmp_path))
    for number in range(1, 100):
        make_run(tmp_path, f"20260101-000000-{number:04x}", path=f"/elsewhere/{number}/online.py")
    assert set(samples(tmp_path)) == once


def test_a_deleted_run_is_gone_at_the_next_scrape(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "20260101-000000-aaaa")
    registry = registry_of(tmp_path)
    assert "bench_runner_candidate_speedup_ratio{" in as_text(registry)
    forget(folder)
    assert "softmax" not in as_text(registry)


def test_a_scrape_after_changes_equals_a_fresh_one(tmp_path: Path) -> None:
    first = make_run(tmp_path, "20260101-000000-aaaa")
    lasting = registry_of(tmp_path)
    as_text(lasting)
    late = make_run(tmp_path, "20260102-000000-bbbb", judged=False)
    as_text(lasting)
    for job, verdict in first.verdicts():
        assert verdict is not None
        late.job_folder(job).mkdir(parents=True)
        late.write_verdict(verdict)
    make_run(tmp_path, "20260103-000000-cccc", wrong=True)
    as_text(lasting)
    forget(first)
    text, fresh = as_text(lasting), as_text(registry_of(tmp_path))
    # The free space of the disk is another one at each look.
    assert [line for line in text.splitlines() if "free_bytes" not in line] == [
        line for line in fresh.splitlines() if "free_bytes" not in line
    ]


def test_cases_are_series_only_when_asked_for(tmp_path: Path) -> None:
    make_run(tmp_path, "20260101-000000-aaaa")
    assert not [name for name, _ in samples(tmp_path) if "case_latency" in name]
    with_cases = samples(tmp_path, cases=True)
    case = {"dtype": "torch.float32", "shape": "[4, 4]", "params": "", "side": "candidate"}
    assert with_cases[key("bench_runner_case_latency_seconds", **CANDIDATE, **case)] == 5e-4


def test_odd_names_are_escaped(tmp_path: Path) -> None:
    name = 'a"b\\c\n{}.py'
    make_run(tmp_path, "20260101-000000-aaaa", path=f"/c/{name}")
    info = {"operator": "softmax", "candidate": "aaaaaaaaaaaa:softmax", "file": name}
    assert samples(tmp_path)[key("bench_runner_candidate_info", **info)] == 1


def test_jobs_without_a_runner_are_abandoned_not_queued(tmp_path: Path) -> None:
    make_run(tmp_path, "20260101-000000-aaaa", judged=False)
    found = samples(tmp_path)
    assert found[key("bench_runner_queue_jobs", backend="cpu")] == 0
    assert found[key("bench_runner_abandoned_jobs", backend="cpu")] == 4


def test_textfile_is_whole_and_alone(tmp_path: Path) -> None:
    make_run(tmp_path / "runs", "20260101-000000-aaaa")
    target = tmp_path / "out" / "bench.prom"
    target.parent.mkdir()
    write_textfile(registry_of(tmp_path / "runs"), target)
    assert "bench_runner_jobs{" in target.read_text()
    assert [path.name for path in target.parent.iterdir()] == ["bench.prom"]


def test_a_textfile_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="No such file") as caught:
        write_textfile(registry_of(tmp_path), tmp_path / "absent" / "bench.prom")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("verb", ["metrics", "run"])
def test_a_name_that_node_exporter_passes_over_is_refused(tmp_path: Path, verb: str) -> None:
    command = [sys.executable, "-m", "bench_runner", verb, "--runs-dir", str(tmp_path)]
    done = subprocess.run(
        [*command, "--textfile", str(tmp_path / "bench.txt")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert ".prom" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("milliseconds", "ratio"),
    [
        ([0.5], 1.0),
        ([0.5, 0.75], 1.5),
        ([0.5, 0.75, 0.75], 1.5),
        ([0.5, 0.75, 0.5], 1.0),
        ([0.5, 0.25, 0.5], 2.0),
    ],
    ids=["alone", "slower", "slower-twice", "recovered", "faster-then-back"],
)
def test_the_newest_latency_is_held_against_the_last_good_run(
    tmp_path: Path, milliseconds: list[float], ratio: float
) -> None:
    for day, latency in enumerate(milliseconds, 1):
        make_run(
            tmp_path, f"2026010{day}-000000-aaaa", candidate_ms=latency,
            finished_at=f"2026-01-0{day}T00:00:00Z",
        )  # fmt: skip
    name = "bench_runner_candidate_latency_over_last_good_ratio"
    assert samples(tmp_path)[key(name, **CANDIDATE)] == pytest.approx(ratio)


PLACE = {"operator": "softmax", "backend": "cpu", "device": "a CPU"}


@pytest.mark.parametrize(
    ("runs", "ratio"),
    [
        ([("a", 0.5, False)], 1.0),
        ([("a", 0.5, False), ("c", 1.0, False)], 1.0),
        ([("a", 0.5, False), ("a", 1.0, False)], 0.5),
        ([("a", 0.5, False), ("c", 0.625, False), ("a", 1.0, False)], 0.8),
        ([("a", 0.5, False), ("c", 1.0, False), ("a", 0.5, True)], 0.5),
    ],
    ids=["alone", "a-worse-one-more", "slower", "the-second-best-stands-in", "found-wrong"],
)
def test_an_operators_best_is_held_against_its_last_good(
    tmp_path: Path, runs: list[tuple[str, float, bool]], ratio: float
) -> None:
    for day, (who, latency, wrong) in enumerate(runs, 1):
        make_run(
            tmp_path, f"2026010{day}-000000-aaaa", sha256=who * 64, candidate_ms=latency,
            finished_at=f"2026-01-0{day}T00:00:00Z", wrong=wrong,
        )  # fmt: skip
    name = "bench_runner_operator_speedup_over_last_good_ratio"
    assert samples(tmp_path)[key(name, **PLACE)] == pytest.approx(ratio)


def test_what_ended_in_the_last_hour_outlives_older_runs(tmp_path: Path) -> None:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    old = make_run(tmp_path, "20260101-000000-aaaa")
    make_run(tmp_path, "20260102-000000-bbbb", finished_at=now, wrong=True)
    before = samples(tmp_path)
    name = "bench_runner_jobs_ended_last_hour"
    assert before[key(name, status="PASSED", backend="cpu")] == 3
    assert before[key(name, status="FAILED", backend="cpu")] == 1
    assert before[key(name, status="INFRA_ERROR", backend="cpu")] == 0
    forget(old)
    after = samples(tmp_path)
    assert {k: v for k, v in after.items() if k[0] == name} == {
        k: v for k, v in before.items() if k[0] == name
    }


class _Gateway(BaseHTTPRequestHandler):
    """What a Pushgateway answers to a PUT of a group."""

    received: list[tuple[str, bytes]]

    def do_PUT(self) -> None:
        length = int(self.headers["Content-Length"])
        type(self).received.append((self.path, self.rfile.read(length)))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_push_replaces_the_group(tmp_path: Path) -> None:
    make_run(tmp_path, "20260101-000000-aaaa")
    _Gateway.received = []
    server = HTTPServer(("127.0.0.1", 0), _Gateway)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        push(registry_of(tmp_path), f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    [(path, body)] = _Gateway.received
    assert path == "/metrics/job/bench-runner"
    assert b"bench_runner_jobs{" in body


def test_no_gateway_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureFault, match="Pushgateway") as caught:
        push(registry_of(tmp_path), "http://127.0.0.1:9")
    assert "\n" not in str(caught.value)


def test_the_verb_prints_the_metrics_of_an_absent_store(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench_runner", "metrics", "--runs-dir"]
    done = subprocess.run(
        [*command, str(tmp_path / "none")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "bench_runner_runs 0.0" in done.stdout
