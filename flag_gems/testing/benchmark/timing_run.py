# SPDX-License-Identifier: Apache-2.0
"""Timing a benchmark's cases: baseline against candidate, one metric record a case."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from flag_gems.testing.benchmark.operators import (
    Candidate,
    OverrideNotInvokedError,
    resolve_baseline,
    resolve_candidate,
)
from flag_gems.testing.benchmark.sampling import Side, sample, summarize
from flag_gems.testing.benchmark.timers import Timer, make_timer

if TYPE_CHECKING:
    from flag_gems.testing.benchmark.benchmark import Benchmark
    from flag_gems.testing.benchmark.cases import Case
    from flag_gems.testing.plugin.session import BenchmarkSession


def run(benchmark: Benchmark, cases: list[Case], session: BenchmarkSession) -> None:
    """Measure every case; one that fails is recorded as failed and fails the test at the end."""
    settings = session.settings
    timer = make_timer(settings.mode)
    candidate = resolve_candidate(session, benchmark.op_name, benchmark.torch_op, benchmark.gems_op)
    entry = session.measured.setdefault(
        benchmark.op_name, {"result": "skipped", "reason": None, "details": []}
    )
    details: dict[str, dict[str, Any]] = {}
    failures: list[str] = []
    for case in cases:
        if case.dtype not in details:
            details[case.dtype] = {
                "op_name": benchmark.op_name,
                "dtype": case.dtype,
                "mode": settings.mode,
                "level": settings.level,
                "result": [],
            }
            entry["details"].append(details[case.dtype])
        record = _empty_record(case, candidate)
        details[case.dtype]["result"].append(record)
        try:
            _measure(benchmark, case, candidate, timer, session, record)
        except (Exception, SystemExit, pytest.skip.Exception, pytest.xfail.Exception) as error:
            record["error"] = f"{type(error).__name__}: {error}"
            failures.append(f"{case.case_id}: {record['error']}")
        else:
            record["status"] = "passed"
            session.executed.add(case.case_id)
        _keep(record, settings.metrics)
        print(_line(record))
    if failures:
        pytest.fail(
            f"{len(failures)} of {len(cases)} cases failed:\n" + "\n".join(failures), pytrace=False
        )


def _empty_record(case: Case, candidate: Candidate) -> dict[str, Any]:
    return {
        **case.describe(),
        "status": "failed",
        "error": None,
        "latency_base": None,
        "latency": None,
        "speedup": None,
        # Until the candidate has been seen to run, nothing is claimed for it.
        "candidate_source": None if candidate.override else "gems",
        "samples_base": 0,
        "samples": 0,
        "spread_base": None,
        "spread": None,
        "blocks_base": [],
        "blocks": [],
        "warnings": [],
    }


def _measure(
    benchmark: Benchmark,
    case: Case,
    candidate: Candidate,
    timer: Timer,
    session: BenchmarkSession,
    record: dict[str, Any],
) -> None:
    settings = session.settings
    measured = Side(candidate.call, benchmark.inputs(case))
    sides = [measured]
    if session.skip_native is None:
        sides.insert(0, Side(resolve_baseline(benchmark.torch_op), benchmark.inputs(case)))
    before = session.override_calls(benchmark.op_name)
    sample(sides, timer, settings.warmup_ms, settings.iter_ms)
    if candidate.override:
        if session.override_calls(benchmark.op_name) == before:
            raise OverrideNotInvokedError(
                f"the timing did not invoke the override of {benchmark.op_name}"
            )
        record["candidate_source"] = "override"
    summary = summarize(measured)
    record.update(latency=summary.median_ms, samples=summary.samples, spread=summary.spread)
    record["blocks"] = measured.blocks
    record["calls_per_sample"] = summary.calls_per_sample
    record["warnings"] += summary.warnings("candidate")
    if session.skip_native is not None:
        record["warnings"].append(f"no baseline on this vendor: {session.skip_native}")
        return
    base = summarize(sides[0])
    record.update(latency_base=base.median_ms, samples_base=base.samples, spread_base=base.spread)
    record["blocks_base"] = sides[0].blocks
    record["calls_per_sample_base"] = base.calls_per_sample
    record["warnings"] += base.warnings("baseline")
    speedup = base.median_ms / summary.median_ms
    if not math.isfinite(speedup):
        raise ArithmeticError(f"speedup of {base.median_ms} ms over {summary.median_ms} ms")
    record["speedup"] = speedup


def _keep(record: dict[str, Any], metrics: tuple[str, ...]) -> None:
    for name in ("latency_base", "latency", "speedup"):
        if name not in metrics:
            del record[name]


def _line(record: dict[str, Any]) -> str:
    values = " ".join(
        f"{name}={record[name]:.4g}"
        for name in ("latency_base", "latency", "speedup")
        if record.get(name) is not None
    )
    return f"{record['dtype']} {record['shape']} {record['error'] or values}"
