# SPDX-License-Identifier: Apache-2.0
"""The pages. Everything that a candidate could have written passes through Jinja's autoescape."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote, urlencode

from fastapi import APIRouter, HTTPException, Query
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from starlette.responses import HTMLResponse, Response, StreamingResponse

from bench_runner.contract.status import Mode, Status
from bench_runner.report.html import HERE as REPORT
from bench_runner.report.html import render
from bench_runner.store.view import JobView, RunRow, StoreView, identity
from bench_runner.units import milliseconds, ratio
from bench_runner.web import queries
from bench_runner.web.lookups import find_comparison, find_history, find_run

HERE = Path(__file__).parent
PAGE_ROWS = 50
HISTORY_ROWS = 400
LOG_TAIL = 64 << 10
LARGEST_SOURCE = 1 << 20
PIECE = 256 << 10


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

    def highlighted(source: str) -> Markup:
        return Markup(highlight(source, PythonLexer(), formatter) if source else "")

    def page(name: str, **values: Any) -> HTMLResponse:
        return HTMLResponse(templates.get_template(name).render(**values))

    def find_job(run: str, job: str) -> tuple[JobView, Path]:
        find_run(view, run)
        found = view.load(run, job)
        if found is None:
            raise HTTPException(404, f"no job {job} in run {run}")
        return found, job_folder(run, job)

    def job_folder(run: str, job: str) -> Path:
        return view.folder(run) / "jobs" / job

    @router.get("/style.css")
    def stylesheet() -> Response:
        return Response(style, media_type="text/css")

    @router.get("/icon.svg")
    def icon() -> Response:
        return Response((HERE / "templates" / "icon.svg").read_bytes(), media_type="image/svg+xml")

    @router.get("/")
    def runs(
        operator: str = "",
        backend: str = "",
        status: str = "",
        q: str = "",
        number: int = Query(1, alias="page"),
    ) -> HTMLResponse:
        view.refresh()
        asked = {"operator": operator, "backend": backend, "status": status, "q": q}
        kept = {name: value for name, value in asked.items() if value}

        def find(number: int) -> tuple[int, list[RunRow]]:
            return view.find_runs(operator, backend, status, q, PAGE_ROWS, (number - 1) * PAGE_ROWS)

        total, rows = find(max(1, number))
        pages = max(1, -(-total // PAGE_ROWS))
        if number > pages:
            total, rows = find(pages)
        return page(
            "runs.html.j2",
            rows=rows,
            total=total,
            number=min(max(1, number), pages),
            pages=pages,
            link=lambda n: "/?" + urlencode({**kept, "page": n}),
            asked=asked,
            operators=view.operators(),
            backends=view.backends(),
            statuses=[*(s.value for s in Status), "not run"],
            unreadable=sorted(view.unreadable.items()),
            pending=view.pending,
        )

    @router.get("/runs/{run}")
    def one_run(run: str) -> HTMLResponse:
        row, jobs = find_run(view, run), view.jobs_of(run)
        begun = {job.id for job in jobs if row.active and job_folder(run, job.id).is_dir()}
        return page("run.html.j2", row=row, record=view.open(run).record, jobs=jobs, begun=begun)

    @router.get("/runs/{run}/report")
    def report(run: str) -> HTMLResponse:
        find_run(view, run)
        return HTMLResponse(render(view.open(run)))

    @router.get("/runs/{run}/jobs/{job}")
    def one_job(run: str, job: str) -> HTMLResponse:
        chosen, folder = find_job(run, job)
        source = _source(folder, chosen.job.candidate.path if chosen.job.candidate else "")
        return page(
            "job.html.j2",
            view=chosen,
            who=identity(chosen.job.candidate),
            source=highlighted(source),
            log=_tail(folder / "job.log"),
        )

    @router.get("/runs/{run}/jobs/{job}/log")
    def log(run: str, job: str) -> Response:
        _, folder = find_job(run, job)
        return _download(folder, "job.log")

    @router.get("/runs/{run}/jobs/{job}/artifacts/{name}")
    def artifact(run: str, job: str, name: str) -> Response:
        chosen, folder = find_job(run, job)
        if chosen.verdict is None or name not in chosen.verdict.artifacts:
            raise HTTPException(404, f"job {job} has no artifact {name}")
        return _download(folder / "artifacts", name)

    @router.get("/operators")
    def operators() -> HTMLResponse:
        view.refresh()
        ranks = queries.leaderboards(view)
        rows = [(name, len(found), queries.best(found)) for name, found in ranks.items()]
        return page("operators.html.j2", operators=rows)

    @router.get("/operators/{operator}")
    def operator(operator: str) -> HTMLResponse:
        view.refresh()
        if operator not in view.operators():
            raise HTTPException(404, f"no operator {operator} has been run")
        return page(
            "operator.html.j2", operator=operator, ranks=queries.leaderboard(view, operator),
            modes=[mode.value for mode in Mode if mode.needs_candidate],
        )  # fmt: skip

    @router.get("/operators/{operator}/candidates/{candidate}")
    def one_candidate(operator: str, candidate: str) -> HTMLResponse:
        jobs = find_history(view, operator, candidate, HISTORY_ROWS)
        source = next(
            filter(None, (_source(job_folder(job.run, job.id), job.path) for job in jobs[:4])), ""
        )
        newest = [
            (job, view.load(job.run, job.id))
            for job in view.newest(operator)
            if job.candidate == candidate
        ]
        return page(
            "candidate.html.j2",
            operator=operator,
            who=candidate,
            label=jobs[0].label,
            newest=newest,
            benchmarks=[job for job in jobs if job.cases][:PAGE_ROWS],
            runs=view.count_history(operator, candidate),
            source=highlighted(source),
        )

    @router.get("/compare")
    def compare_two(a: str = "", b: str = "") -> HTMLResponse:
        one, other, found = find_comparison(view, a, b)
        newest = view.newest(one.job.op)
        wrong = {side: queries.wrong_modes(newest, job) for side, job in (("A", one), ("B", other))}
        return page(
            "compare.html.j2", sides=(("A", one), ("B", other)), found=found, wrong=wrong,
            link="/api/v1/compare?" + urlencode({"a": a, "b": b}),
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
    environment.filters["identity"] = identity
    environment.filters["shell"] = shlex.join
    environment.filters["ms"] = milliseconds
    environment.filters["ratio"] = ratio
    return environment


def _highlighting() -> str:
    """Colours of source code for both themes."""
    light = HtmlFormatter(style="friendly").get_style_defs(".source")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".source")
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}"


def _source(folder: Path, path: str) -> str:
    """The candidate as the job read it; empty where the inputs are gone or too long to show."""
    if not path:
        return ""
    try:
        with _open(folder / "in" / "candidate" / path.rsplit("/", 1)[-1]) as stream:
            content = stream.read(LARGEST_SOURCE + 1)
    except OSError:
        return ""
    return content.decode(errors="replace") if len(content) <= LARGEST_SOURCE else ""


def _tail(file: Path) -> str:
    try:
        with _open(file) as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - LOG_TAIL))
            return stream.read(LOG_TAIL).decode(errors="replace")
    except OSError:
        return ""


def _open(file: Path) -> BinaryIO:
    """A regular file; a link in its place is an OSError."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{file} is not a regular file")
    return os.fdopen(descriptor, "rb")


def _download(folder: Path, name: str) -> Response:
    """A file in pieces, as an attachment of no type that a browser would run."""
    if "/" in name or name in ("", ".", ".."):
        raise HTTPException(404, "no such file")
    try:
        stream = _open(folder / name)
    except OSError as error:
        raise HTTPException(404, f"{name} is gone") from error
    return StreamingResponse(
        _pieces(stream),
        media_type="application/octet-stream",
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
            "Content-Security-Policy": "default-src 'none'; sandbox",
        },
    )


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    with stream:
        while piece := stream.read(PIECE):
            yield piece
