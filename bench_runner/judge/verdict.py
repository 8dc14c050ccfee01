# SPDX-License-Identifier: Apache-2.0
"""The judge: how the process ended, then what its mode's contract says, then one verdict."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

from bench_runner.contract.claims import Timeline
from bench_runner.contract.job import Job
from bench_runner.contract.outcome import Ending, Outcome
from bench_runner.contract.record import ContractError
from bench_runner.contract.status import Mode, Status
from bench_runner.contract.verdict import Check, Phases, Verdict
from bench_runner.judge import benchmark, correctness, preflight, profile, reference
from bench_runner.judge.evidence import Evidence, Finding, ReportMissing, first_line

CONTRACTS: dict[Mode, Callable[[Evidence], Finding]] = {
    Mode.PREFLIGHT: preflight.examine,
    Mode.CORRECTNESS: correctness.examine,
    Mode.BENCHMARK: benchmark.examine,
    Mode.PROFILE: profile.examine,
    Mode.REFERENCE: reference.examine,
}
PYTEST_NO_TESTS = 5


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def judge(evidence: Evidence, queue_s: float, attempts: int) -> Verdict:
    """Concludes one job. Never raises for anything that a candidate could have written."""
    try:
        return _judge(evidence, queue_s, attempts)
    except (ValueError, ArithmeticError, RecursionError) as error:
        # A report can be well formed and still hold what no verdict can: 1e-300 ms, say.
        text = first_line(str(error)) or type(error).__name__
        return without_a_process(evidence.job, Status.FAILED, f"report refused: {text}")


def _judge(evidence: Evidence, queue_s: float, attempts: int) -> Verdict:
    began = time.time()
    job, outcome = evidence.job, evidence.outcome
    timeline = evidence.timeline()
    status, reason, finding = _conclude(evidence, timeline)
    warnings = list(finding.warnings)
    warnings += [f"artifact refused: {text}" for text in evidence.collected.refused]
    if timeline.stragglers:
        warnings.append(f"{timeline.stragglers} processes outlived the session and were killed")
    benchmark_passed = job.mode is Mode.BENCHMARK and status is Status.PASSED
    return Verdict(
        key=job.key,
        job=job,
        status=status,
        reason=reason,
        checks=finding.checks,
        counts=finding.counts,
        timings=finding.timings,
        speedup=(
            benchmark.overall_speedup(finding.timings, job.environment.vendor, outcome)
            if benchmark_passed
            else None
        ),
        warnings=tuple(warnings),
        phases=phases(outcome, timeline, queue_s, began),
        attempts=attempts,
        exit_code=outcome.exit_code,
        foreign_cores=outcome.foreign_cores,
        privileges=outcome.privileges,
        artifacts=evidence.collected.names,
        log="job.log",
        finished_at=now(),
    )


def without_a_process(job: Job, status: Status, reason: str) -> Verdict:
    """A verdict on a job that was never started."""
    return Verdict(
        key=job.key, job=job, status=status, reason=reason, attempts=0, finished_at=now()
    )


def _conclude(evidence: Evidence, timeline: Timeline) -> tuple[Status, str, Finding]:
    nothing = Finding(())
    ended = _process_ending(evidence)
    if ended is not None:
        return *ended, nothing
    try:
        finding = CONTRACTS[evidence.job.mode](evidence)
    except ReportMissing as missing:
        return *_no_report(evidence, str(missing)), nothing
    except ContractError as error:
        return Status.FAILED, f"report refused: {error}", nothing
    if finding.status is Status.UNSUPPORTED:
        return finding.status, finding.reason, finding
    # Last, so that a failed case is named before the exit code that follows from it.
    finished = Check(
        name="session finished",
        ok=evidence.outcome.exit_code == 0 and timeline.pytest_end is not None,
        detail=_session_end(evidence, timeline),
    )
    finding = Finding(
        (*finding.checks, finished),
        finding.counts,
        finding.timings,
        finding.warnings,
        finding.status,
        finding.reason,
    )
    failed = [check for check in finding.checks if not check.ok]
    if failed:
        return Status.FAILED, f"{failed[0].name}: {failed[0].detail}", finding
    return finding.status or Status.PASSED, finding.reason, finding


def _process_ending(evidence: Evidence) -> tuple[Status, str] | None:
    """What the way the process ended decides on its own; None for an ordinary exit."""
    settings, outcome = evidence.job.settings, evidence.outcome
    if outcome.ending is Ending.INFRASTRUCTURE:
        return Status.INFRA_ERROR, outcome.detail or "the executor failed"
    if outcome.ending is Ending.CANCELLED:
        return Status.CANCELLED, "the run was interrupted"
    if outcome.ending is Ending.TIMEOUT:
        return Status.TIMEOUT, f"killed after {settings.timeout_s:g} s; raise it with --timeout"
    if outcome.ending is Ending.OOM:
        limit = f"{settings.memory_bytes / (1 << 30):.3g} GiB"
        return Status.OOM, f"killed for using more than {limit}; raise it with --memory"
    if outcome.ending is Ending.OUTPUT_LIMIT:
        limit = f"{settings.output_bytes >> 20} MiB"
        return Status.FAILED, f"killed for writing more than {limit} of artifacts"
    code = outcome.exit_code
    if code is not None and code < 0:
        code = 128 - code
    if code is not None and code > 128 and code - 128 in set(signal.Signals):
        name = signal.Signals(code - 128).name
        return Status.CRASHED, f"died of {name}; see the log"
    return None


def _no_report(evidence: Evidence, name: str) -> tuple[Status, str]:
    code = evidence.outcome.exit_code
    told = _last_error(evidence.log_tail)
    if code == 0:
        return Status.CRASHED, f"exited with 0 and left no {name}"
    if told:
        return Status.FAILED, told
    return Status.CRASHED, f"exited with {code} and left no {name}; see the log"


def _session_end(evidence: Evidence, timeline: Timeline) -> str:
    code = evidence.outcome.exit_code
    if code == PYTEST_NO_TESTS:
        return "no test ran"
    if code != 0:
        return _last_error(evidence.log_tail) or f"pytest exited with {code}; see the log"
    return "exit 0" if timeline.pytest_end else "exited with 0 before pytest ended"


def _last_error(log_tail: str) -> str:
    """pytest's own word for why it stopped: the last line that begins with ERROR."""
    for line in reversed(log_tail.splitlines()):
        if line.startswith(("ERROR: ", "ERROR ", "Error: ")):
            return first_line(line.split(" ", 1)[1])
    return ""


def phases(outcome: Outcome, timeline: Timeline, queue_s: float, judged_from: float) -> Phases:
    """Splits the wall time at the readings that are there and in order."""
    marks = [outcome.submitted_at]
    # A session that was killed spent the rest of its time in pytest.
    pytest_end = timeline.pytest_end or (outcome.ended_at if timeline.imported else None)
    for reading in (timeline.first_line, timeline.imported, pytest_end, timeline.counters_end):
        inside = reading is not None and marks[-1] <= reading <= outcome.ended_at
        marks.append(reading if inside and reading is not None else marks[-1])
    begin, started, imported, tested, ended = marks
    return Phases(
        queue_s=round(queue_s, 3),
        start_s=round(started - begin, 3),
        import_s=round(imported - started, 3),
        pytest_s=round(tested - imported, 3),
        counters_s=round(ended - tested, 3),
        collect_s=round(max(0.0, judged_from - ended), 3),
        # Some tenths of a millisecond for most reports.
        judge_s=round(max(0.0, time.time() - judged_from), 6),
    )
