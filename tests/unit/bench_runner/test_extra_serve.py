# SPDX-License-Identifier: Apache-2.0
"""Without the packages of the extra ``serve``, what needs them says so in one line, at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from bench_runner.cli.metrics import metrics
from bench_runner.cli.run import run
from bench_runner.cli.serve import serve
from bench_runner.errors import InfrastructureFault


@pytest.mark.parametrize(
    ("command", "arguments", "module"),
    [
        (serve, [], "uvicorn"),
        (metrics, [], "prometheus_client"),
        (
            run,
            ["--op", "softmax", "--modes", "reference", "--textfile", "x.prom"],
            "prometheus_client",
        ),
    ],
)
def test_what_is_missing_is_told_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    command: object,
    arguments: list[str],
    module: str,
) -> None:
    monkeypatch.setattr("bench_runner.installed.find_spec", lambda name: None)
    result = CliRunner().invoke(command, [*arguments, "--runs-dir", str(tmp_path)])
    assert isinstance(result.exception, InfrastructureFault)
    assert "pip install 'flag-gems[serve]'" in str(result.exception)
    assert list(tmp_path.iterdir()) == []
