# SPDX-License-Identifier: Apache-2.0
"""Run upstream Triton's own tests on the CPU and print what passed.

Triton's wheel ships no tests, and which revision a wheel was built from is not written in it. The
revision is found by content: the wheel's Python sources are hashed as git hashes blobs, and the
commit whose tree holds the most of them is the one whose tests fit. The tests are laid out in a
folder outside this repository and run from there; nothing of them is kept here.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import click
from upstream_exceptions import BadTable, UpstreamException, read_exceptions

DEFAULT_REPOSITORY = "https://github.com/triton-lang/triton-cpu"

# Sources that change in nearly every week of Triton's development: enough to single out a few
# commits among thousands before the whole wheel is compared.
TELLTALE_SOURCES = (
    "_internal_testing.py",
    "compiler/code_generator.py",
    "compiler/compiler.py",
    "knobs.py",
    "language/core.py",
    "language/semantic.py",
    "language/standard.py",
    "runtime/autotuner.py",
    "runtime/interpreter.py",
    "runtime/jit.py",
)

# Folders of the wheel that its build fills from elsewhere in Triton's tree.
PLACED_BY_BUILD = ("backends/", "profiler/", "language/extra/cuda/", "language/extra/hip/")

# Relative to python/test; what a CPU can be judged by (the rest drives CUDA or HIP by nature).
DEFAULT_FILES = (
    "unit/language/test_core.py",
    "unit/language/test_standard.py",
    "unit/language/test_random.py",
    "unit/language/test_block_pointer.py",
    "unit/language/test_tensor_descriptor.py",
    "unit/language/test_conversions.py",
    "unit/language/test_tuple.py",
    "unit/language/test_libdevice.py",
    "unit/language/test_subprocess.py",
    "unit/language/test_annotations.py",
    "unit/language/test_decorator.py",
    "unit/language/test_frontend.py",
    "unit/language/test_mxfp.py",
    "unit/language/test_compile_errors.py",
    "unit/runtime/test_autotuner.py",
    "unit/runtime/test_cache.py",
    "unit/runtime/test_launch.py",
    "unit/runtime/test_specialize.py",
    "unit/runtime/test_subproc.py",
    "unit/test_debug.py",
)

# pytest reports a failure's last line as "E   Type: text"; digits and quoted names differ from
# case to case of one cause.
VARYING = re.compile(r"0x[0-9a-f]+|'[^']{0,60}'|\d+(\.\d+)?(e[+-]?\d+)?")


@dataclass(frozen=True)
class Checkout:
    """A commit of Triton's history: its id and how much of the wheel's sources it holds."""

    commit: str
    matched: int
    total: int


@dataclass(frozen=True)
class FileOutcome:
    """What became of the tests of one file."""

    path: str
    passed: int
    excepted: int
    """Failed as the table of exceptions says."""
    failed: int
    """Failed otherwise."""
    skipped: int
    causes: Counter[str]
    ended_early: str | None = None

    @property
    def collected(self) -> int:
        return self.passed + self.excepted + self.failed + self.skipped


def git(repository: Path, *arguments: str, stdin: str | None = None) -> str:
    """Standard output of one git command on a repository with or without a work tree."""
    done = subprocess.run(
        ["git", f"--git-dir={repository}", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        message = done.stderr.strip().splitlines() or ["no message"]
        raise click.ClickException(f"git {arguments[0]} failed in {repository}: {message[-1]}")
    return done.stdout


def history(source: str, folder: Path) -> Path:
    """The git directory of Triton's history: ``source`` itself, or a clone of it in ``folder``."""
    local = Path(source).expanduser()
    if local.exists():
        inner = local / ".git"
        return (inner if inner.exists() else local).resolve()
    clone = folder / "history.git"
    if not clone.exists():
        click.echo(f"cloning {source} (several hundred megabytes, once)", err=True)
        unfinished = folder / "history.git.part"
        shutil.rmtree(unfinished, ignore_errors=True)
        done = subprocess.run(["git", "clone", "--bare", "--quiet", source, str(unfinished)])
        if done.returncode != 0:
            raise click.ClickException(
                f"cannot clone {source}: give a git directory or a reachable URL with --repository"
            )
        unfinished.rename(clone)
    return clone


def blob_hash(path: Path) -> str:
    """The id git gives to a file's content (SHA-1 over a header and the bytes)."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def wheel_sources() -> dict[str, str]:
    """Path below ``triton/`` to blob id, for each Python source of the installed wheel."""
    spec = importlib.util.find_spec("triton")
    if spec is None or spec.origin is None:
        raise click.ClickException("triton is not installed in this Python environment")
    root = Path(spec.origin).parent
    paths = (path.relative_to(root).as_posix() for path in sorted(root.rglob("*.py")))
    return {path: blob_hash(root / path) for path in paths if not path.startswith(PLACED_BY_BUILD)}


def blobs_at(repository: Path, commits: list[str], paths: Iterable[str]) -> Iterator[list[str]]:
    """For each commit the blob ids of ``paths`` below python/triton, "" for a file it lacks."""
    paths = list(paths)
    questions = "".join(f"{commit}:python/triton/{path}\n" for commit in commits for path in paths)
    answers = git(
        repository, "cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=questions
    ).splitlines()
    found = [line.split()[0] if line.endswith(" blob") else "" for line in answers]
    for start in range(0, len(found), len(paths)):
        yield found[start : start + len(paths)]


def score(repository: Path, commits: list[str], wanted: dict[str, str]) -> list[int]:
    """How many of the wanted blobs each commit holds at their paths."""
    return [
        sum(have == want for have, want in zip(blobs, wanted.values(), strict=True))
        for blobs in blobs_at(repository, commits, wanted)
    ]


def matching_commit(repository: Path) -> Checkout:
    """The newest commit among those that hold the most of the installed wheel's sources."""
    sources = wheel_sources()
    telltale = {path: sources[path] for path in TELLTALE_SOURCES if path in sources}
    commits = git(
        repository, "rev-list", "--all", "--date-order", "--since=2024-01-01", "--", "python"
    ).split()
    if not commits or not telltale:
        raise click.ClickException(f"{repository} holds no history of Triton's python folder")
    rough = score(repository, commits, telltale)
    best = max(rough)
    finalists = [commit for commit, points in zip(commits, rough, strict=True) if points == best]
    points = score(repository, finalists, sources)
    top = max(points)
    return Checkout(finalists[points.index(top)], top, len(sources))


def lay_out(repository: Path, commit: str, folder: Path) -> Path:
    """Write python/test of a commit into a folder of its own and return its path."""
    target = folder / f"tests-{commit[:12]}"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as unfinished:
            archive = Path(unfinished) / "tests.tar"
            git(repository, "archive", f"--output={archive}", commit, "python/test")
            with tarfile.open(archive) as tar:
                tar.extractall(unfinished, filter="data")
            (Path(unfinished) / "python").rename(target)
    return target / "test"


def run_file(
    tests: Path,
    name: str,
    *,
    workers: int,
    timeout: int,
    limit: int,
    select: str | None,
    log: Path,
    exceptions: list[UpstreamException],
) -> FileOutcome:
    """Run one test file in a process group of its own and read its JUnit report.

    ``timeout`` is the whole file's limit and ``limit`` one test's, both in seconds; a ``limit`` of
    0 is none. A test over its limit counts as failed and the next one runs.
    """
    log.mkdir(parents=True, exist_ok=True)
    stem = name.replace("/", ".").removesuffix(".py")
    report = log / f"{stem}.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", name, "--device", "cpu", "-q", "--tb=short"]
    command += ["-p", "no:cacheprovider", "-p", "no:forked", f"--junitxml={report}"]
    command += [f"--timeout={limit}", "--timeout-method=signal"] if limit else []
    command += ["-n", str(workers), "--max-worker-restart=50"] if workers else []
    command += ["-k", select] if select else []
    environment = {**os.environ, "TRITON_CPU": "1", "OMP_NUM_THREADS": "1"}
    ended_early = None
    with (log / f"{stem}.log").open("w") as out:
        process = subprocess.Popen(
            command, cwd=tests, env=environment, stdout=out, stderr=out, start_new_session=True
        )
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            ended_early = f"killed after {timeout} s"
        except BaseException:
            os.killpg(process.pid, 9)
            raise
    if not report.exists():
        last = (log / f"{stem}.log").read_text(errors="replace").strip().splitlines()
        return FileOutcome(name, 0, 0, 0, 0, Counter(), ended_early or (last or ["no output"])[-1])
    outcome = read_report(name, report, exceptions)
    if not outcome.collected:
        return replace(outcome, ended_early="no test was collected")
    return outcome


def read_report(name: str, report: Path, exceptions: list[UpstreamException]) -> FileOutcome:
    """Count a JUnit report's cases and its unexpected failures' causes."""
    passed = excepted = failed = skipped = 0
    causes: Counter[str] = Counter()
    for case in ElementTree.parse(report).iter("testcase"):
        problem = case.find("failure")
        problem = case.find("error") if problem is None else problem
        if problem is not None:
            text = f"{problem.get('message')}\n{problem.text}"
            if any(item.covers(name, case.get("name", ""), text) for item in exceptions):
                excepted += 1
                continue
            failed += 1
            causes[cause(problem)] += 1
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return FileOutcome(name, passed, excepted, failed, skipped, causes)


def cause(problem: ElementTree.Element) -> str:
    """One line for a failure, the same for each case that failed in the same way."""
    text = (problem.text or "").splitlines()
    raised = [line[1:].strip() for line in text if line.startswith("E  ")]
    named = [line for line in raised if re.match(r"[\w.]+(Error|Exception)\b", line)]
    message = (problem.get("message") or "no message").split("\n")
    return VARYING.sub("#", [*named[-1:], *raised, *message][0])[:150]


def table(outcomes: list[FileOutcome], top: int) -> str:
    """The outcomes as text, one line a file, then the commonest causes of failure of each."""
    width = max(len(outcome.path) for outcome in outcomes)
    columns = ("collected", "passed", "excepted", "failed", "skipped")
    lines = [f"{'file':<{width}}" + "".join(f" {name:>9}" for name in columns)]
    for outcome in outcomes:
        counts = "".join(f" {getattr(outcome, name):>9}" for name in columns)
        early = f"  ENDED EARLY: {outcome.ended_early}" if outcome.ended_early else ""
        lines.append(f"{outcome.path:<{width}}{counts}{early}")
    for outcome in outcomes:
        if outcome.causes:
            lines.append(f"\n{outcome.path}: causes of failure")
            lines += [f"{count:>7}  {text}" for text, count in outcome.causes.most_common(top)]
    return "\n".join(lines)


@click.command()
@click.argument("files", nargs=-1)
@click.option(
    "--repository",
    default=DEFAULT_REPOSITORY,
    show_default=True,
    help="A git directory with Triton's history, or a URL to clone it from.",
)
@click.option("--commit", help="Take the tests of this commit and search for none.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")) / "triton_cpu" / "upstream",
    show_default=True,
    help="Where the tests, the reports and the logs go.",
)
@click.option("-n", "--workers", type=int, default=os.cpu_count(), help="Worker processes.")
@click.option("-k", "select", help="pytest's -k expression.")
@click.option("--timeout", type=int, default=3600, show_default=True, help="Seconds a file.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seconds a test, 0 for none; needs pytest-timeout.",
)
@click.option("--top", type=int, default=15, show_default=True, help="Causes shown for a file.")
def main(
    files: tuple[str, ...],
    repository: str,
    commit: str | None,
    folder: Path,
    workers: int,
    select: str | None,
    timeout: int,
    limit: int,
    top: int,
) -> None:
    """Run upstream Triton's tests (FILES are relative to python/test) with --device cpu.

    Exits with 0 when no test failed but those in upstream_exceptions.toml, else with 1.
    """
    try:
        exceptions = read_exceptions()
    except BadTable as error:
        raise click.ClickException(str(error)) from None
    if limit and importlib.util.find_spec("pytest_timeout") is None:
        raise click.UsageError("--limit needs pytest-timeout: pip install pytest-timeout")
    folder = folder.expanduser().resolve()
    folder.mkdir(parents=True, exist_ok=True)
    source = history(repository, folder)
    version = importlib.metadata.version("triton")
    if commit is None:
        checkout = matching_commit(source)
        commit = checkout.commit
        click.echo(
            f"triton {version}: commit {commit[:12]} holds {checkout.matched} of the wheel's"
            f" {checkout.total} sources"
        )
    tests = lay_out(source, commit, folder)
    log = folder / f"reports-{version}"
    chosen = list(files) or [name for name in DEFAULT_FILES if (tests / name).exists()]
    for name in chosen:
        if not (tests / name.split("::")[0]).exists():
            raise click.UsageError(f"{name}: no such file in python/test of commit {commit[:12]}")
    outcomes = []
    for name in chosen:
        outcomes.append(
            run_file(
                tests,
                name,
                workers=workers,
                timeout=timeout,
                limit=limit,
                select=select,
                log=log,
                exceptions=exceptions,
            )
        )
        click.echo(table(outcomes[-1:], 0).splitlines()[1], err=True)
    click.echo(table(outcomes, top))
    click.echo(f"\nreports and logs: {log}")
    if any(outcome.failed or outcome.ended_early for outcome in outcomes):
        sys.exit(1)


if __name__ == "__main__":
    main()
