# SPDX-License-Identifier: Apache-2.0
"""The documents' own commands: those of the README's tour are executed, all others are understood.

A command that no rule here knows fails, so that none can be written that nobody looks at.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from bench_runner.backends import load_backends
from bench_runner.cli import cli
from bench_runner.suite import suite_root

ROOT = suite_root()
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
ASSIGNMENTS = re.compile(r"^(?:[A-Z_]+=(?:\"[^\"]*\"|\S+) )+")
NOT_COMMANDS = ("runs/2", "    ", "runs/.", "backends.yaml:", "Python ->", "BUILD_DIR=$(")
"""How lines of blocks begin that show a folder, a message, a pipeline, or name something."""
ELSEWHERE = {
    "source": "of the environment that these tests run in",
    "python": "a program of the reader's",
    "pip": "make test-cpp installs cpp/",
    "ctest": "make test-cpp runs it",
    "docker": "tests/integration/compose",
    "tools/set_cpp_vendor.sh": "tests/unit/backends",
}
"""Commands that other tests run."""


def commands(document: Path) -> Iterator[str]:
    for language, block in BLOCK.findall(document.read_text(encoding="utf-8")):
        # A block of another language is no terminal.
        for line in ("" if language else block).replace("\\\n", " ").splitlines():
            command = re.sub(r"\s+#.*$", "", line)
            if command.strip() and not line.startswith(NOT_COMMANDS):
                yield " ".join(ASSIGNMENTS.sub("", command).split())


ALL = [
    pytest.param(command, id=f"{document.name}: {command[:60]}")
    for document in DOCUMENTS
    for command in commands(document)
]


def parsed(arguments: list[str]) -> None:
    """Has click read a command line to its end, without carrying it out.

    Raises:
        click.ClickException: there is no such verb, option or choice.
    """
    command: click.Command = cli
    context = None
    while True:
        context = command.make_context(command.name, arguments, parent=context)
        if not isinstance(command, click.Group):
            return
        rest = [*context._protected_args, *context.args]
        found = command.get_command(context, rest[0])
        if found is None:
            raise click.UsageError(f"no such verb: {rest[0]}")
        command, arguments = found, rest[1:]


def test_there_are_commands() -> None:
    assert len(ALL) > 40


@pytest.mark.parametrize("command", ALL)
def test_every_command_is_understood(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, *arguments = shlex.split(command)
    if program == "bench-runner":
        monkeypatch.chdir(tmp_path)
        for name in ("before.json", "after.json", "approved.yaml", "matrix.yaml", "cpu.lock"):
            (tmp_path / name).write_text("")
        for name in ("test", "pytorch/test"):
            (tmp_path / name).mkdir(parents=True)
        (tmp_path / "pytorch/test/slow_tests.json").write_text("{}")
        shown = [one for one in arguments if one not in ("...", "[BACKEND...]")]
        parsed(["inventory", "diff", "before.json", "after.json"] if "..." in arguments else shown)
    elif program == "make":
        done = subprocess.run(["make", "-n", *arguments], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    elif program == "./setup.sh":
        assert arguments[0] in load_backends()
    elif program == "pytest":
        assert (ROOT / arguments[0]).is_file()
    else:
        assert program in ELSEWHERE, f"nobody runs {program!r}"


CANDIDATE = "examples/candidates/softmax_online.py"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the candidates that the documents speak of."""
    source = (ROOT / CANDIDATE).read_text(encoding="utf-8")
    (tmp_path / "my_softmax.py").write_text(source)
    other = source.replace("def softmax(", "def fast_softmax(")
    assert other != source
    for name in ("my_softmax.py", "other.py", "softmax_v2.py"):
        extra = "\n\nmy_softmax = fast = softmax = fast_softmax\n"
        (tmp_path / name).write_text(other + extra)
    return tmp_path


def run(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command],
        cwd=cwd,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_readmes_tour(folder: Path) -> None:
    tour = [c for c in commands(ROOT / "README.md") if c.startswith("bench-runner")]
    tour = [c for c in tour if "serve" not in c]
    assert [c.split()[1] for c in tour] == ["run", "show", "report"]
    for command in tour:
        done = run(command, folder)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    assert (folder / "report.html").stat().st_size > 10_000


@pytest.mark.parametrize(
    "command", [c for c in commands(ROOT / "README.md") if c.startswith("pytest")]
)
def test_the_readmes_pytest_commands(command: str, folder: Path) -> None:
    # The suite is where its root is; the candidates are where the reader is.
    for name in ("tests", "benchmark", "flag_gems"):
        (folder / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "pyproject.toml", folder)
    done = run(f"{command} -p no:cacheprovider -q", folder)
    assert done.returncode == 0, done.stdout[-2000:]
