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
        found = queries.find_runs(view, operator, backend, status, q)
        rows = [asdict(row) for row in found[offset : offset + limit]]
        return {"total": len(found), "offset": offset, "runs": rows}

    @router.get("/runs/{run}")
    def one_run(run: str) -> dict[str, Any]:
        """What was planned, and every verdict there is."""
        found = find_run(view, run)
        verdicts = {
            job.id: job.verdict.model_dump(mode="json", exclude={"job"})
            for job in found.jobs()
            if job.verdict
        }
        return {
            "run": found.record.model_dump(mode="json"),
            "active": found.active,
            "verdicts": verdicts,
        }

    @router.get("/operators")
    def operators() -> list[str]:
        """Operators that have a job."""
        view.refresh()
        return queries.operators(view)

    @router.get("/operators/{operator}")
    def operator(operator: str) -> list[dict[str, Any]]:
        """The newest verdicts of an operator's candidates, best first within each backend."""
        view.refresh()
        return [asdict(rank) for rank in queries.leaderboard(view, operator)]

    @router.get("/operators/{operator}/candidates/{candidate}")
    def candidate(operator: str, candidate: str) -> list[dict[str, Any]]:
        """Every job of a candidate, newest run first; verdicts without the cases."""
        found = find_history(view, operator, candidate)
        return [
            {
                "run": job.run,
                "job": job.id,
                "mode": job.job.mode.value,
                "backend": job.job.environment.backend,
                "verdict": job.verdict.model_dump(mode="json", exclude={"job", "timings"})
                if job.verdict
                else None,
            }
            for job in found[:MOST_ROWS]
        ]

    @router.get("/compare")
    def compare_two(a: str, b: str) -> dict[str, Any]:
        """Two benchmarks, each named as RUN/JOB, case by case. `ratio`: B's speed over A's."""
        _, _, found = find_comparison(view, a, b)
        return {
            "a": a,
            "b": b,
            "differences": found.differences,
            "ratio": found.ratio,
            "compared": len(found.cases),
            "total": found.total,
            "cases": [
                {
                    "case_id": case.a.case_id,
                    "a_ms": case.a.candidate_ms,
                    "b_ms": case.b.candidate_ms,
                    "ratio": case.ratio,
                    "faster": case.faster,
                }
                for case in found.cases
            ],
            "only_a": [timing.case_id for timing in found.only_a],
            "only_b": [timing.case_id for timing in found.only_b],
        }

    return router
