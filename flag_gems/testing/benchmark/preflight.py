# SPDX-License-Identifier: Apache-2.0
"""--preflight-only: does the candidate run at all? One call a case, then a synchronise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import flag_gems
from flag_gems.testing.benchmark.operators import (
    Candidate,
    OverrideNotInvokedError,
    resolve_candidate,
)

if TYPE_CHECKING:
    from flag_gems.testing.benchmark.benchmark import Benchmark
    from flag_gems.testing.benchmark.cases import Case
    from flag_gems.testing.plugin.session import BenchmarkSession


def run(benchmark: Benchmark, cases: list[Case], session: BenchmarkSession) -> None:
    """Try every case and record each; fail with the number of those that failed.

    `count` is how often the candidate's entry was called, by whomever: 0 when the inputs could not
    be built, more than 1 when the candidate enters itself again. `override` says that what was
    called is the session's candidate.
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
            "override": False,
            "count": 0,
            "status": "failed",
        }
        session.preflight.append(record)
        try:
            _try(benchmark, case, candidate, session, record)
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


def _try(
    benchmark: Benchmark,
    case: Case,
    candidate: Candidate,
    session: BenchmarkSession,
    record: dict[str, Any],
) -> None:
    entered = 0

    def entry(*args: Any, **kwargs: Any) -> Any:
        nonlocal entered
        entered += 1
        return candidate.call(*args, **kwargs)

    # The registry's own counter under an override: it also sees calls from elsewhere.
    call = benchmark.inputs(case).call(candidate.call if candidate.override else entry)
    before = session.override_calls(benchmark.op_name)
    try:
        call()
        flag_gems.runtime.torch_device_fn.synchronize()
    finally:
        if candidate.override:
            record["count"] = max(session.override_calls(benchmark.op_name) - before, 0)
            record["override"] = record["count"] > 0
        else:
            record["count"] = entered
    if candidate.override and not record["override"]:
        raise OverrideNotInvokedError(f"the call did not reach the override of {benchmark.op_name}")


class PreflightError(RuntimeError):
    """Some cases failed; `__cause__` is the first failure."""
