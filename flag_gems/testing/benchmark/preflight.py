# SPDX-License-Identifier: Apache-2.0
"""--preflight-only: does the candidate run at all? One call a case, then a synchronise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import flag_gems
from flag_gems.testing.benchmark.operators import resolve_candidate

if TYPE_CHECKING:
    from flag_gems.testing.benchmark.benchmark import Benchmark
    from flag_gems.testing.benchmark.cases import Case
    from flag_gems.testing.plugin.session import BenchmarkSession


def run(benchmark: Benchmark, cases: list[Case], session: BenchmarkSession) -> None:
    """Try every case and record each; fail with the number of those that failed.

    `count` is 0 when the inputs could not be built, else 1: the candidate's entry was called.
    """
    if not cases:
        pytest.fail(f"--preflight-only: {session.nodeid} has no cases", pytrace=False)
    candidate = resolve_candidate(session, benchmark.op_name, benchmark.torch_op, benchmark.gems_op)
    first: BaseException | None = None
    failures = 0
    for case in cases:
        record: dict[str, Any] = {
            "operator": benchmark.op_name,
            "nodeid": session.nodeid,
            "case_id": case.case_id,
            "override": candidate.override,
            "count": 0,
            "status": "failed",
        }
        session.preflight.append(record)
        try:
            call = benchmark.inputs(case).call(candidate.call)
            record["count"] = 1
            call()
            flag_gems.runtime.torch_device_fn.synchronize()
        except (Exception, SystemExit, pytest.skip.Exception, pytest.xfail.Exception) as error:
            # A candidate that skips or exits has not run either.
            record["error"] = f"{type(error).__name__}: {error}"
            failures += 1
            first = first or error
        except BaseException as error:
            record["error"] = f"{type(error).__name__}: {error}"
            raise
        else:
            record["status"] = "passed"
            session.executed.add(case.case_id)
    if first is not None:
        raise PreflightError(
            f"{failures} of {len(cases)} cases failed, the first: {type(first).__name__}: {first}"
        ) from first


class PreflightError(RuntimeError):
    """Some cases failed; `__cause__` is the first failure."""
