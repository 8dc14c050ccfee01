# SPDX-License-Identifier: Apache-2.0
"""What comes out of a process that a candidate shared: reports of pytest and of the harness.

These are claims. They are parsed strictly and believed only as far as the judge can check them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, RootModel, field_validator

from bench_runner.contract.record import Claim, Record

MOST_BLOCKS = 64
"""The suite makes ten."""
Text = Annotated[str, Field(max_length=100_000)]


class Case(Claim):
    """One benchmark case as the suite enumerates it, without a tensor being made."""

    case_id: Text
    ordinal: NonNegativeInt
    dtype: Text
    shape: Any
    params: Any = None


class BenchmarkCases(Claim):
    op_name: Text
    phase: Literal["timing"]
    level: Text
    cases: list[Case]


class CaseList(Claim):
    """``--list-cases``."""

    schema_version: Literal["flaggems.benchmark-case-list/v2"]
    benchmarks: list[BenchmarkCases]

    @field_validator("benchmarks")
    @classmethod
    def _ids_are_unique(cls, benchmarks: list[BenchmarkCases]) -> list[BenchmarkCases]:
        ids = [case.case_id for benchmark in benchmarks for case in benchmark.cases]
        if len(ids) != len(set(ids)):
            raise ValueError("a case id occurs twice")
        return benchmarks

    @property
    def case_ids(self) -> list[str]:
        return [case.case_id for benchmark in self.benchmarks for case in benchmark.cases]


class Expectation(Record):
    """What a candidate will be held against, listed in a process that it never shared."""

    schema_version: Literal["bench-runner.expectation/v1"] = "bench-runner.expectation/v1"
    op: str
    level: str
    cases: CaseList
    tests: tuple[str, ...]
    """Node ids of the accuracy tests."""


class BaselineSkips(Record):
    """Accuracy tests that are skipped without a candidate."""

    schema_version: Literal["bench-runner.baseline-skips/v1"] = "bench-runner.baseline-skips/v1"
    op: str
    tests: tuple[str, ...]


class PreflightRecord(Claim):
    operator: Text
    nodeid: Text
    case_id: Text
    override: bool
    count: NonNegativeInt
    status: Literal["passed", "failed"]
    error: Text | None = None


class PreflightReport(Claim):
    """``--preflight-only``."""

    schema_version: Literal["flaggems.preflight/v1"]
    records: list[PreflightRecord]


class CorrectnessCase(Claim):
    result: Text
    params: Any = None
    opname: list[Text] = Field(default_factory=list)
    reason: Text | None = None
    candidate_calls: NonNegativeInt | None = None


class CorrectnessReport(RootModel[dict[str, CorrectnessCase]]):
    """``tests/ --record json``: node id to outcome."""


class Measurement(Claim):
    case_id: Text
    dtype: Text | None = None
    shape: Any = None
    params: dict[str, Any] | None = None
    latency_base: float | None = None
    latency: float | None = None
    candidate_source: Text | None = None
    spread_base: NonNegativeFloat | None = None
    spread: NonNegativeFloat | None = None
    samples: NonNegativeInt | None = None
    blocks_base: Annotated[list[float], Field(max_length=MOST_BLOCKS)] = Field(default_factory=list)
    blocks: Annotated[list[float], Field(max_length=MOST_BLOCKS)] = Field(default_factory=list)
    status: Text | None = None
    error: Text | None = None
    warnings: list[Text] = Field(default_factory=list)


class BenchmarkDetail(Claim):
    op_name: Text
    dtype: Text
    mode: Text
    level: Text
    result: list[Measurement]


class BenchmarkOutcome(Claim):
    result: Text
    reason: Text | None = None
    details: list[BenchmarkDetail] = Field(default_factory=list)


class BenchmarkReport(RootModel[dict[str, BenchmarkOutcome]]):
    """``benchmark/ --record json``: operator to measurements."""


class ReferenceFailure(Claim):
    category: Text
    type: Text | None = None
    message: Text | None = None


class ReferenceRecord(Claim):
    case_id: Text | None = None
    status: Literal["PASSED", "FAILED", "SKIP", "NOT_RUN", "UNSUPPORTED"]
    stage: Text | None = None
    reason: Text | None = None
    failure: ReferenceFailure | None = None


class ReferenceReport(Claim):
    """``--reference-only``."""

    schema_version: Literal["flaggems.reference/v2"]
    status: Literal["PASSED", "FAILED", "ALL_SKIP", "NO_CASES", "UNSUPPORTED", "NOT_RUN"]
    records: list[ReferenceRecord]


class ProfileClaim(Claim):
    """What the profile plug-in saw: how often its scope was entered and left."""

    profiler: Text
    backend: Text
    case_id: Text
    entered: NonNegativeInt
    exited: NonNegativeInt


class CountersClaim(Claim):
    """Whether profile mode has hardware counters, and why not."""

    profiler: Text
    collected: bool
    reason: Text


class Timeline(Claim):
    """Clock readings of the harness, seconds since the epoch."""

    first_line: float | None = None
    imported: float | None = None
    pytest_end: float | None = None
    counters_end: float | None = None
    stragglers: NonNegativeInt = 0
    """Processes that were still alive when the session had ended; the supervisor killed them."""
