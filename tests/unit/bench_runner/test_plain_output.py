# SPDX-License-Identifier: Apache-2.0
"""What verbs print where no person looks: no escapes, nothing cut, and JSON alone where asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench_runner.store.runs import RunStore
from tests.unit.results.stored import make_run

RUN = "20260101-000000-aaaa"
LONG = "/candidates/" + "a_rather_long_name_" * 12 + ".py"

PRINTING = {
    "list": ("list",),
    "show": ("show", RUN),
    "show a job": ("show", RUN, "preflight"),
    "compare": ("compare", RUN, "20260102-000000-aaaa"),
    "prune": ("prune", "--older-than", "1d", "--dry-run"),
    "images plan": ("images", "plan", "cpu"),
    "doctor": ("doctor",),
}
"""Verbs with a result, on a store of two runs."""
WITH_JSON = ("list", "show", "show a job", "compare", "prune", "images plan", "doctor")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    RunStore(root)
    make_run(root, RUN, path=LONG)
    make_run(root, "20260102-000000-aaaa", path=LONG, sha256="b" * 64)
    return root


def printed(
    store: Path, arguments: tuple[str, ...], **variables: str
) -> subprocess.CompletedProcess[str]:
    where = () if arguments[0] in ("images", "doctor") else ("--runs-dir", str(store))
    return subprocess.run(
        [sys.executable, "-m", "bench_runner", *arguments, *where],
        env={**os.environ, "COLUMNS": "40", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("verb", PRINTING)
@pytest.mark.parametrize("variables", [{}, {"NO_COLOR": "1"}])
def test_a_pipe_gets_no_escapes_and_whole_cells(
    store: Path, verb: str, variables: dict[str, str]
) -> None:
    done = printed(store, PRINTING[verb], **variables)
    assert done.returncode in (0, 1, 3), done.stderr
    assert done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert "…" not in done.stdout


@pytest.mark.parametrize("verb", WITH_JSON)
def test_json_is_alone_on_stdout(store: Path, verb: str) -> None:
    done = printed(store, (*PRINTING[verb], "--format", "json"))
    assert isinstance(json.loads(done.stdout), dict | list)
