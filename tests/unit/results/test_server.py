# SPDX-License-Identifier: Apache-2.0
"""The results server as clients see it: a real process, real requests."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.unit.results.stored import make_run

RUN = "20260101-000000-aaaa"
WRONG = "20260102-000000-bbbb"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str

    def json(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True)
class Server:
    url: str
    runs: Path

    def __call__(self, path: str, method: str = "GET", **headers: str) -> Answer:
        request = urllib.request.Request(self.url + path, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return Answer(response.status, dict(response.headers), response.read().decode())
        except urllib.error.HTTPError as error:
            return Answer(error.code, dict(error.headers), error.read().decode())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    runs = tmp_path_factory.mktemp("runs")
    make_run(runs, RUN)
    make_run(runs, WRONG, path="/c/<img src=x>.py", sha256="c" * 64, candidate_ms=0.1, wrong=True)
    command = [sys.executable, "-m", "bench_runner", "serve", "--port", "0", "--runs-dir"]
    process = subprocess.Popen([*command, str(runs)], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    url = process.stderr.readline().strip().rstrip("/")
    assert url.startswith("http://127.0.0.1:"), process.stderr.read()
    yield Server(url, runs)
    process.terminate()
    process.wait(30)
    process.stderr.close()


def job_id(server: Server, run: str, mode: str) -> str:
    verdicts = server(f"/api/v1/runs/{run}").json()["verdicts"]
    return next(job for job in verdicts if f"-{mode}-" in job)


PAGES = ["/", "/operators", "/operators/softmax", f"/runs/{RUN}", f"/runs/{RUN}/report"]


@pytest.mark.parametrize("path", PAGES)
def test_pages_answer_and_run_no_script(server: Server, path: str) -> None:
    answer = server(path)
    assert answer.status == 200
    assert "<script" not in answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    # Nothing is loaded from elsewhere.
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", answer.text)


def test_what_a_candidate_wrote_is_text(server: Server) -> None:
    page = server(f"/runs/{WRONG}")
    assert "&lt;script&gt;alert" in page.text
    assert "<img src=x>" not in page.text
    job = server(f"/runs/{WRONG}/jobs/{job_id(server, WRONG, 'correctness')}").text
    assert "<script" not in job
    assert "printed &lt;b&gt;this&lt;/b&gt;" in job
    assert "alert(1)" in job


def test_a_wrong_candidate_is_not_ranked_by_speed(server: Server) -> None:
    ranks = server("/api/v1/operators/softmax").json()
    assert [rank["file"] for rank in ranks] == ["online.py", "<img src=x>.py"]
    assert ranks[0]["speedup"] == 2.0
    assert ranks[1]["speedup"] is None
    assert ranks[1]["note"] == "wrong in correctness"


def candidates(server: Server) -> tuple[str, str]:
    ranks = server("/api/v1/operators/softmax").json()
    return ranks[0]["candidate"], ranks[1]["candidate"]


def test_a_candidate_has_a_page_with_its_modes_and_source(server: Server) -> None:
    right, wrong = candidates(server)
    page = server(f"/operators/softmax/candidates/{right}")
    assert page.status == 200
    for mode in ("preflight", "correctness", "benchmark", "profile"):
        assert f">{mode}</a>" in page.text
    assert "alert(1)" in page.text
    assert "<script" not in page.text
    assert "<img" not in server(f"/operators/softmax/candidates/{wrong}").text
    jobs = server(f"/api/v1/operators/softmax/candidates/{right}").json()
    assert [job["status"] for job in jobs] == ["PASSED"] * 4
    assert server("/operators/softmax/candidates/nope").status == 404
    assert server(f"/operators/add/candidates/{right}").status == 404
    assert server("/api/v1/operators/softmax/candidates/nope").status == 404


def test_two_benchmarks_are_compared_and_a_wrong_one_is_named(server: Server) -> None:
    one, other = (f"{run}/{job_id(server, run, 'benchmark')}" for run in (RUN, WRONG))
    found = server(f"/api/v1/compare?a={one}&b={other}").json()
    assert found["ratio"] == pytest.approx(5.0)
    assert (found["compared"], found["total"]) == (1, 1)
    assert [(case["faster"], case["a_n"]) for case in found["cases"]] == [("B", 10)]
    assert found["cases"][0]["p"] == pytest.approx(2 / 184756)
    page = server(f"/compare?a={one}&b={other}").text
    assert "5.00× as fast" in page
    assert "n counts blocks" in page
    assert page.count("did not pass in correctness") == 1
    assert "<img" not in page
    assert f'value="{one}"' in server("/operators/softmax").text


def test_what_cannot_be_compared_is_said(server: Server) -> None:
    one = f"{RUN}/{job_id(server, RUN, 'benchmark')}"
    preflight = f"{RUN}/{job_id(server, RUN, 'preflight')}"
    for query in ("", f"?a={one}", f"?a={one}&b={preflight}", f"?a={one}&b=../x"):
        assert server(f"/compare{query}").status == 404
    assert "not a benchmark" in server(f"/api/v1/compare?a={one}&b={preflight}").text


def test_filters_of_the_list(server: Server) -> None:
    def ids(query: str) -> list[str]:
        return [run["id"] for run in server(f"/api/v1/runs?{query}").json()["runs"]]

    assert ids("") == [WRONG, RUN]
    assert ids("status=FAILED") == [WRONG]
    assert ids("operator=softmax&backend=cpu&q=ONLINE") == [RUN]
    assert ids("operator=add") == []
    assert ids("limit=1&offset=1") == [RUN]
    assert server("/api/v1/runs?limit=0").status == 422
    assert WRONG in server("/?status=FAILED").text
    assert RUN not in server("/?status=FAILED").text


def test_artifacts_are_saved_not_shown(server: Server) -> None:
    here = f"/runs/{RUN}/jobs/{job_id(server, RUN, 'benchmark')}"
    for path in (f"{here}/artifacts/report.json", f"{here}/log"):
        answer = server(path)
        assert answer.status == 200
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"


@pytest.mark.parametrize(
    "path",
    [
        "/runs/nope",
        "/runs/..%2f..",
        f"/runs/{RUN}/jobs/nope",
        "/operators/nope",
        "/api/v1/runs/nope",
        "/nope",
    ],
)
def test_what_is_not_there(server: Server, path: str) -> None:
    assert server(path).status == 404


@pytest.mark.parametrize("name", ["..%2fverdict.json", "verdict.json", "..", "nope", "%00"])
def test_only_artifacts_of_the_verdict_are_served(server: Server, name: str) -> None:
    here = f"/runs/{RUN}/jobs/{job_id(server, RUN, 'benchmark')}"
    assert server(f"{here}/artifacts/{name}").status == 404


def test_a_link_in_an_artifacts_place_is_not_followed(server: Server) -> None:
    job = job_id(server, RUN, "profile")
    file = server.runs / RUN / "jobs" / job / "artifacts" / "report.json"
    file.unlink()
    file.symlink_to("/etc/passwd")
    answer = server(f"/runs/{RUN}/jobs/{job}/artifacts/report.json")
    assert answer.status == 404
    assert "root:" not in answer.text


def test_another_sites_name_is_turned_away(server: Server) -> None:
    assert server("/", Host="rebound.example").status == 400
    assert server("/", Host="localhost:1").status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_changed(server: Server, method: str) -> None:
    assert server("/api/v1/runs", method=method).status == 405


def test_metrics_health_and_the_apis_description(server: Server) -> None:
    assert "bench_runner_runs 2.0" in server("/metrics").text
    assert server("/healthz").text == "ok\n"
    paths = server("/openapi.json").json()["paths"]
    assert "/api/v1/runs/{run}" in paths


def test_wrong_options_are_one_line(server: Server, tmp_path: Path) -> None:
    def fails(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "bench_runner", "serve", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stderr

    code, text = fails("--runs-dir", str(tmp_path / "none"))
    assert code == 2
    assert "is not a folder" in text
    port = server.url.rpartition(":")[2]
    code, text = fails("--runs-dir", str(tmp_path), "--port", port)
    assert code == 3
    assert "choose another --port" in text
