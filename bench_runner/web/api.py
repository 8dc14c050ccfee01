# SPDX-License-Identifier: Apache-2.0
"""The JSON API; /openapi.json describes it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, HTTPException, Query

from bench_runner.store.view import StoreView
from bench_runner.web import queries

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
        view.refresh()
        found = view.run(run)
        if found is None:
            raise HTTPException(404, f"no run {run}")
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

    return router
