# SPDX-License-Identifier: Apache-2.0
"""JSON Schemas of the records that others read: ``python -m bench_runner.contract.schemas DIR``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pydantic import BaseModel

from bench_runner.contract import claims
from bench_runner.contract.verdict import RunRecord, Verdict

PUBLISHED: dict[str, type[BaseModel]] = {
    "run": RunRecord,
    "verdict": Verdict,
    "expectation": claims.Expectation,
    "case-list": claims.CaseList,
    "preflight": claims.PreflightReport,
    "correctness": claims.CorrectnessReport,
    "benchmark": claims.BenchmarkReport,
    "reference": claims.ReferenceReport,
    "profile": claims.ProfileClaim,
    "counters": claims.CountersClaim,
}


def text(model: type[BaseModel]) -> str:
    """The schema's file content."""
    return json.dumps(model.model_json_schema(), indent=2, sort_keys=True) + "\n"


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in PUBLISHED.items():
        (folder / f"{name}.schema.json").write_text(text(model), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
