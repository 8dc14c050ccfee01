# SPDX-License-Identifier: Apache-2.0
"""--reference-only: can the baselines run here? Each is called once a case, untimed.

A baseline that lacks a capability is a finding, and the next case is tried. Any other failure may
have harmed the device, so it stops the test and the remaining cases are NOT_RUN.
"""

from __future__ import annotations

import re
import traceback
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

import flag_gems
from flag_gems.testing.benchmark.operators import resolve_baseline

if TYPE_CHECKING:
    from flag_gems.testing.benchmark.benchmark import Benchmark
    from flag_gems.testing.benchmark.cases import Case
    from flag_gems.testing.plugin.session import BenchmarkSession

_DTYPE = re.compile(r"not implemented for '\w+'")


def category(error: BaseException) -> str:
    """What kind of capability is missing; UNKNOWN unless torch says it beyond doubt."""
    if isinstance(error, AttributeError):
        owner = error.obj
        if isinstance(owner, ModuleType) and owner.__name__.split(".")[0] == "torch":
            return "API_MISSING"
    elif isinstance(error, RuntimeError) and _DTYPE.search(str(error)):
        # NotImplementedError is a RuntimeError, too.
        return "DTYPE_UNSUPPORTED"
    elif isinstance(error, NotImplementedError):
        return "NOT_IMPLEMENTED"
    return "UNKNOWN"


def describe(error: BaseException) -> dict[str, Any]:
    """A failure as its record shows it."""
    return {
        "category": category(error),
        "type": type(error).__name__,
        "message": str(error),
        "traceback": "".join(traceback.format_exception(error)),
    }


def run(benchmark: Benchmark, cases: list[Case], session: BenchmarkSession) -> None:
    """Call the baseline once a case and record how far each got."""
    records = [
        {
            "nodeid": session.nodeid,
            "operator": benchmark.op_name,
            **case.describe(),
            "status": "NOT_RUN",
            "stage": None,
            "count": 0,
        }
        for case in cases
    ]
    session.reference.extend(records)
    if session.skip_native is not None:
        for record in records:
            record.update(status="SKIP", reason=session.skip_native)
        session.executed.update(case.case_id for case in cases)
        pytest.skip(session.skip_native)
    failures = 0
    for case, record in zip(cases, records, strict=True):
        try:
            _invoke(benchmark, case, record)
        except pytest.skip.Exception as skip:
            record.update(status="SKIP", reason=str(skip))
            session.executed.add(case.case_id)
            raise
        except BaseException as error:
            record.update(status="FAILED", failure=describe(error))
            if record["failure"]["category"] == "UNKNOWN":
                raise
            failures += 1
            try:
                flag_gems.runtime.torch_device_fn.synchronize()
            except BaseException as second:
                record["recovery_failure"] = describe(second)
                raise
        else:
            record["status"] = "PASSED"
        session.executed.add(case.case_id)
    if failures:
        pytest.fail(f"the baseline failed in {failures} of {len(cases)} cases", pytrace=False)


def _invoke(benchmark: Benchmark, case: Case, record: dict[str, Any]) -> None:
    record["stage"] = "build_inputs"
    inputs = benchmark.inputs(case)
    record["stage"] = "prepare_reference"
    call = inputs.call(resolve_baseline(benchmark.torch_op))
    record["stage"] = "invoke"
    record["count"] = 1
    call()
    record["stage"] = "synchronize"
    flag_gems.runtime.torch_device_fn.synchronize()
