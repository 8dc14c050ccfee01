# SPDX-License-Identifier: Apache-2.0
"""The pages. Everything that a candidate could have written passes through Jinja's autoescape."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Query
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from starlette.responses import HTMLResponse, Response

from bench_runner.contract.status import Mode, Status
from bench_runner.report.html import HERE as REPORT
from bench_runner.report.html import render
from bench_runner.store.runs import RunFolder
from bench_runner.store.view import JobView, RunView, StoreView, identity
from bench_runner.units import milliseconds, ratio
from bench_runner.web import queries

HERE = Path(__file__).parent
PAGE_ROWS = 50
LOG_TAIL = 64 << 10
LARGEST_SOURCE = 1 << 20


def page_routes(view: StoreView) -> APIRouter:
    """Routes of the pages, the stylesheet and the files of a job."""
    router = APIRouter(include_in_schema=False)
    templates = _templates()
    formatter = HtmlFormatter(nowrap=False, cssclass="source")
    style = "\n".join(
        (
            (REPORT / "style.css").read_text(encoding="utf-8"),
            (HERE / "templates" / "server.css").read_text(encoding="utf-8"),
            _highlighting(),
        )
    )

    def page(name: str, **values: Any) -> HTMLResponse:
        return HTMLResponse(templates.get_template(name).render(**values))

    def find_run(run: str) -> RunView:
        view.refresh()
        found = view.run(run)
        if found is None:
            raise HTTPException(404, f"no run {run}")
        return found

    def find_job(run: str, job: str) -> tuple[RunView, JobView, Path]:
        found = find_run(run)
        view_of_job = next((j for j in found.jobs() if j.id == job), None)
        if view_of_job is None:
            raise HTTPException(404, f"no job {job} in run {run}")
        return (
            found,
            view_of_job,
            RunFolder(view.folder(run), found.record).job_folder(view_of_job.job),
        )

    @router.get("/style.css")
    def stylesheet() -> Response:
        return Response(style, media_type="text/css")

    @router.get("/")
    def runs(
        operator: str = "",
        backend: str = "",
        status: str = "",
        q: str = "",
        number: int = Query(1, alias="page"),
    ) -> HTMLResponse:
        view.refresh()
        found = queries.find_runs(view, operator, backend, status, q)
        pages = max(1, -(-len(found) // PAGE_ROWS))
        number = min(max(1, number), pages)
        asked = {"operator": operator, "backend": backend, "status": status, "q": q}
        kept = {name: value for name, value in asked.items() if value}
        return page(
            "runs.html.j2",
            rows=found[(number - 1) * PAGE_ROWS : number * PAGE_ROWS],
            total=len(found),
            number=number,
            pages=pages,
            link=lambda n: "/?" + urlencode({**kept, "page": n}),
            asked=asked,
            operators=queries.operators(view),
            backends=queries.backends(view),
            statuses=[*(s.value for s in Status), "not run"],
            unreadable=sorted(view.unreadable.items()),
        )

    @router.get("/runs/{run}")
    def one_run(run: str) -> HTMLResponse:
        found = find_run(run)
        return page("run.html.j2", run=found, row=queries.row_of(found), jobs=found.jobs())

    @router.get("/runs/{run}/report")
    def report(run: str) -> HTMLResponse:
        found = find_run(run)
        return HTMLResponse(render(RunFolder(view.folder(run), found.record)))

    @router.get("/runs/{run}/jobs/{job}")
    def one_job(run: str, job: str) -> HTMLResponse:
        found, chosen, folder = find_job(run, job)
        source = _source(folder, chosen)
        return page(
            "job.html.j2",
            run=found,
            view=chosen,
            who=identity(chosen.job.candidate),
            source=Markup(highlight(source, PythonLexer(), formatter)) if source else "",
            log=_tail(folder / "job.log"),
        )

    @router.get("/runs/{run}/jobs/{job}/log")
    def log(run: str, job: str) -> Response:
        _, _, folder = find_job(run, job)
        return _download(folder, "job.log")

    @router.get("/runs/{run}/jobs/{job}/artifacts/{name}")
    def artifact(run: str, job: str, name: str) -> Response:
        _, chosen, folder = find_job(run, job)
        if chosen.verdict is None or name not in chosen.verdict.artifacts:
            raise HTTPException(404, f"job {job} has no artifact {name}")
        return _download(folder / "artifacts", name)

    @router.get("/operators")
    def operators() -> HTMLResponse:
        view.refresh()
        ranks = {name: queries.leaderboard(view, name) for name in queries.operators(view)}
        rows = [(name, len(found), queries.best(found)) for name, found in ranks.items()]
        return page("operators.html.j2", operators=rows)

    @router.get("/operators/{operator}")
    def operator(operator: str) -> HTMLResponse:
        view.refresh()
        if operator not in queries.operators(view):
            raise HTTPException(404, f"no operator {operator} has been run")
        return page(
            "operator.html.j2", operator=operator, ranks=queries.leaderboard(view, operator),
            modes=[mode.value for mode in Mode if mode.needs_candidate],
        )  # fmt: skip

    return router


def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["ms"] = milliseconds
    environment.filters["ratio"] = ratio
    return environment


def _highlighting() -> str:
    """Colours of source code for both themes."""
    light = HtmlFormatter(style="friendly").get_style_defs(".source")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".source")
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}"


def _source(folder: Path, view: JobView) -> str:
    """The candidate as the job read it; empty where the inputs are gone or too long to show."""
    if view.job.candidate is None:
        return ""
    file = folder / "in" / "candidate" / view.job.candidate.path.rsplit("/", 1)[-1]
    try:
        content = _open(file, LARGEST_SOURCE + 1)
    except OSError:
        return ""
    return content.decode(errors="replace") if len(content) <= LARGEST_SOURCE else ""


def _tail(file: Path) -> str:
    try:
        size = file.stat(follow_symlinks=False).st_size
        return _open(file, LOG_TAIL, max(0, size - LOG_TAIL)).decode(errors="replace")
    except OSError:
        return ""


def _open(file: Path, most: int, offset: int = 0) -> bytes:
    """Content of a regular file; a link in its place is an OSError."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{file} is not a regular file")
        stream.seek(offset)
        return stream.read(most)


def _download(folder: Path, name: str) -> Response:
    """A file as an attachment of no type that a browser would run."""
    if "/" in name or name in ("", ".", ".."):
        raise HTTPException(404, "no such file")
    try:
        content = _open(folder / name, -1)
    except OSError as error:
        raise HTTPException(404, f"{name} is gone") from error
    return Response(
        content,
        media_type="application/octet-stream",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Content-Security-Policy": "default-src 'none'; sandbox",
        },
    )
