# SPDX-License-Identifier: Apache-2.0
"""The application: pages, JSON and metrics over one view of the store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import Response

from bench_runner.metrics.output import registry_over
from bench_runner.store.view import StoreView
from bench_runner.web.api import api_routes
from bench_runner.web.pages import page_routes
from bench_runner.web.security import guard


def create_app(runs_dir: Path, allowed_hosts: Iterable[str] = (), cases: bool = False) -> FastAPI:
    """The results server of the runs below `runs_dir`.

    Args:
        allowed_hosts: names beside localhost by which clients may call the server.
        cases: whether /metrics has a series for every benchmark case.
    """
    view = StoreView(runs_dir)
    view.fill_in_background()
    registry = registry_over(view, cases)
    app = FastAPI(title="bench-runner results", version="1", docs_url=None, redoc_url=None)
    app.add_middleware(BaseHTTPMiddleware, dispatch=guard(allowed_hosts))
    app.include_router(api_routes(view))
    app.include_router(page_routes(view))

    @app.get("/healthz", include_in_schema=False)
    def healthz() -> Response:
        """200 while the store can be read."""
        view.refresh()
        if not view.store.root.is_dir():
            return PlainTextResponse(f"{view.store.root} is not there\n", 503)
        return PlainTextResponse("ok\n")

    @app.get("/metrics", include_in_schema=False)
    def metrics() -> Response:
        if view.in_background:
            # Half a store would look like a great loss of jobs to whoever draws it.
            done, total = view.pending or (0, 0)
            return PlainTextResponse(f"{done} of {total} runs are indexed; ask again\n", 503)
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return app
