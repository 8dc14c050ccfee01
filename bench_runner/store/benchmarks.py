# SPDX-License-Identifier: Apache-2.0
"""From what a person calls two sides of a comparison to pairs of benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench_runner.contract.status import Mode, Status
from bench_runner.contract.verdict import Verdict
from bench_runner.errors import UsageFault
from bench_runner.store.runs import RunNotFound
from bench_runner.store.view import JobRow, StoreView

MOST_RUNS = 30
"""Runs of a candidate that are read for a comparison, newest first."""


class SideNotFound(UsageFault, LookupError):
    """A name stands for no benchmark, or two names for none of one kind."""


@dataclass(frozen=True)
class Side:
    """What a name stands for."""

    name: str
    benchmarks: list[JobRow]
    is_candidate: bool


def find_side(view: StoreView, name: str, operator: str = "") -> Side:
    """The benchmarks that a name stands for.

    Args:
        name: ``RUN/JOB``, a run as `RunStore.open` takes it, or a candidate: its file, its label,
            its identity or the beginning of that.
        operator: counts alone, where given.

    Raises:
        SideNotFound: there are none.
    """
    run, separator, job = name.rpartition("/")
    if separator and view.run(run) is not None:
        return Side(name, _timed(view.jobs_of(run), operator, job), False)
    try:
        found = view.store.open(name).record.id
    except RunNotFound as error:
        if "fits" in str(error):
            raise
    else:
        return Side(name, _timed(view.jobs_of(found), operator), False)
    path = str(Path(name).absolute())

    def is_called_so(row: JobRow) -> bool:
        called = (row.candidate, row.file, row.label, f"{row.file}:{_function(row)}", row.path)
        full = (row.path, f"{row.path}:{_function(row)}")
        return name in called or path in full or (len(name) >= 4 and row.candidate.startswith(name))

    rows = [row for row in view.newest(operator) if row.path and is_called_so(row)]
    if not rows:
        raise SideNotFound(
            f"{name!r} is no run, no RUN/JOB and no candidate in {view.store.root}; "
            "see: bench-runner list"
        )
    return Side(name, _timed(rows, operator), True)


def pairs(a: Side, b: Side) -> list[tuple[JobRow, JobRow]]:
    """Benchmarks of the two sides that belong together.

    Two runs share candidates of one name; else it is the operator and the device that are shared.

    Raises:
        SideNotFound: none do, or it is not clear which.
    """
    for side in (a, b):
        if not side.benchmarks:
            raise SideNotFound(f"{side.name!r} has no benchmark that passed")
    by = _place if a.is_candidate or b.is_candidate else _label
    of_a, of_b = _keyed(a, by), _keyed(b, by)
    shared = [key for key in of_a if key in of_b]
    if shared:
        return [(of_a[key], of_b[key]) for key in shared]
    if len(of_a) == len(of_b) == 1:
        return [(*of_a.values(), *of_b.values())]  # type: ignore[list-item]
    raise SideNotFound(
        f"{a.name!r} has benchmarks of {_listed(of_a)}, {b.name!r} of {_listed(of_b)}: "
        "nothing in common"
    )


def verdicts_of(view: StoreView, side: Side, row: JobRow) -> tuple[Verdict, list[Verdict]]:
    """A benchmark's verdict, and those of the candidate's other runs where the side is one."""
    rows = [row]
    if side.is_candidate:
        rows += [
            other
            for other in view.history(row.operator, row.candidate)
            if other.cases
            and other.status is Status.PASSED
            and (other.run, other.id) != (row.run, row.id)
        ][: MOST_RUNS - 1]
    found = [view.load(other.run, other.id) for other in rows]
    own, *others = [job.verdict for job in found if job and job.verdict]
    return own, others


def _timed(rows: list[JobRow], operator: str, job: str = "") -> list[JobRow]:
    return [
        row
        for row in rows
        if row.mode is Mode.BENCHMARK
        and row.cases
        and row.status is Status.PASSED
        and (not operator or row.operator == operator)
        and (not job or row.id == job)
    ]


def _function(row: JobRow) -> str:
    return row.candidate.partition(":")[2]


def _place(row: JobRow) -> tuple[str, ...]:
    return row.operator, row.backend, row.device


def _label(row: JobRow) -> tuple[str, ...]:
    return row.operator, row.label, row.backend


def _keyed(side: Side, by: Callable[[JobRow], tuple[str, ...]]) -> dict[tuple[str, ...], JobRow]:
    found: dict[tuple[str, ...], JobRow] = {}
    for row in side.benchmarks:
        other = found.setdefault(by(row), row)
        if other is not row:
            raise SideNotFound(
                f"{side.name!r} stands for several benchmarks of {row.operator}; name one: "
                f"{other.run}/{other.id} or {row.run}/{row.id}"
            )
    return found


def _listed(keyed: dict[tuple[str, ...], JobRow]) -> str:
    return ", ".join(sorted(" ".join(key) for key in keyed))
