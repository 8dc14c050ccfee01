# SPDX-License-Identifier: Apache-2.0
"""The published schemas are those of the models, and the models' records obey them."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from bench_runner.contract.schemas import PUBLISHED, text
from bench_runner.contract.status import Mode
from tests.unit.bench_runner.records import expectation, make_job
from tests.unit.bench_runner.test_judge import GOOD
from tests.unit.bench_runner.test_store_and_report import timed

SCHEMAS = Path(__file__).parents[3] / "docs" / "schemas"


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_schema_is_the_model_s(name: str) -> None:
    published = (SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8")
    assert published == text(PUBLISHED[name]), (
        "run: python -m bench_runner.contract.schemas docs/schemas"
    )


RECORDS = {
    "preflight": GOOD[Mode.PREFLIGHT]["report.json"],
    "correctness": GOOD[Mode.CORRECTNESS]["report.json"],
    "benchmark": GOOD[Mode.BENCHMARK]["report.json"],
    "reference": GOOD[Mode.REFERENCE]["report.json"],
    "profile": GOOD[Mode.PROFILE]["profile.json"],
    "expectation": expectation().model_dump(mode="json"),
    "verdict": timed(make_job(Mode.BENCHMARK)).model_dump(mode="json"),
}


@pytest.mark.parametrize("name", RECORDS)
def test_records_obey_the_published_schema(name: str) -> None:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(RECORDS[name])
    if "schema_version" in RECORDS[name]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**RECORDS[name], "schema_version": "v99"}, schema)
