# SPDX-License-Identifier: Apache-2.0
"""Finding what a request names in the store as it is now; what is not there is an HTTP error."""

from __future__ import annotations

from fastapi import HTTPException

from bench_runner.judge.comparison import Comparison, compare
from bench_runner.store.view import JobRow, JobView, RunRow, StoreView
from bench_runner.web import queries


def find_run(view: StoreView, run: str) -> RunRow:
    """The run; HTTP 404 when there is none."""
    view.refresh()
    found = view.run(run)
    if found is None:
        raise HTTPException(404, f"no run {run}")
    return found


def find_history(view: StoreView, operator: str, candidate: str, most: int) -> list[JobRow]:
    """The newest jobs of a candidate, newest run first; HTTP 404 when there is none."""
    view.refresh()
    found = view.history(operator, candidate, most)
    if not found:
        raise HTTPException(404, f"no candidate {candidate} of {operator}")
    return found


def find_comparison(view: StoreView, a: str, b: str) -> tuple[JobView, JobView, Comparison]:
    """Two benchmarks, each named RUN/JOB; HTTP 404 for an absent one, 400 for an unfit pair."""
    view.refresh()
    try:
        one, other = queries.find_benchmark(view, a), queries.find_benchmark(view, b)
        assert one.verdict is not None
        assert other.verdict is not None
        return one, other, compare(one.verdict, other.verdict)
    except LookupError as error:
        raise HTTPException(404, str(error)) from error
    except ValueError as error:
        raise HTTPException(400, str(error)) from error
