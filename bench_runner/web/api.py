# SPDX-License-Identifier: Apache-2.0
"""The JSON API; /openapi.json describes it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Query

from bench_runner.store.view import StoreView
from bench_runner.web import queries
from bench_runner.web.lookups import find_comparison, find_history, find_run

MOST_ROWS = 500


def api_routes(view: StoreView) -> APIRouter:
    """Routes below /api/v1."""
    router = APIRouter(prefix="/api/v1", tags=["results"])

    @router.get("/runs")
    def runs(
        operator: str = "",
        backend: str = "",
        status: str = "",
        q: str = "",
        limit: int = Query(50, ge=1, le=MOST_ROWS),
        offset: int = Query(0, ge=0),
    ) -> dict[str, Any]:
        """Runs, newest first."""
        view.refresh()
        total, rows = view.find_runs(operator, backend, status, q, limit, offset)
        return {"total": total, "offset": offset, "runs": [asdict(row) for row in rows]}

    @router.get("/runs/{run}")
    def one_run(run: str) -> dict[str, Any]:
        """What was planned, and every verdict there is."""
        found = find_run(view, run)
        folder = view.open(run)
        verdicts = {
            job.id: verdict.model_dump(mode="json", exclude={"job"})
            for job, verdict in folder.verdicts()
            if verdict
        }
        return {
            "run": folder.record.model_dump(mode="json"),
            "active": found.active,
            "verdicts": verdicts,
        }

    @router.get("/operators")
    def operators() -> list[str]:
        """Operators that have a job."""
        view.refresh()
        return view.operators()

    @router.get("/operators/{operator}")
    def operator(operator: str) -> list[dict[str, Any]]:
        """The newest verdicts of an operator's candidates, best first within each backend."""
        view.refresh()
        return [asdict(rank) for rank in queries.leaderboard(view, operator)]

    @router.get("/operators/{operator}/candidates/{candidate}")
    def candidate(operator: str, candidate: str) -> list[dict[str, Any]]:
        """The newest jobs of a candidate, newest run first, with outlines of their verdicts."""
        return [asdict(job) for job in find_history(view, operator, candidate, MOST_ROWS)]

    @router.get("/compare")
    def compare_two(a: str, b: str) -> dict[str, Any]:
        """Two benchmarks, each named as RUN/JOB, case by case. `ratio`: B's speed over A's."""
        _, _, found = find_comparison(view, a, b)
        return {"a": a, "b": b, **found.document()}

    return router
