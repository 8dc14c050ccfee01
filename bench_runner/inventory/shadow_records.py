# SPDX-License-Identifier: Apache-2.0
"""What `inventory shadow` finds: a label for each test method and target, and proof of closure."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, model_validator

from bench_runner.contract.record import Record
from bench_runner.inventory.labels.rules import RULES

SCHEMA: Literal["bench-runner.inventory-shadow/v1"] = "bench-runner.inventory-shadow/v1"
LabelName = Literal["GENERIC", "ACCELERATOR", "CPU", "CUDA", "MPS", "XPU", "review"]


class EvidenceRecord(Record):
    rule: str
    file: str
    line: NonNegativeInt
    about: str = ""
    text: str = ""
    via: str = ""
    """The helper in which the line stands; empty for the method itself."""

    @model_validator(mode="after")
    def _rule_exists(self) -> EvidenceRecord:
        if self.rule not in RULES:
            raise ValueError(f"no rule {self.rule}")
        return self


class MethodLabel(Record):
    """One source method in one target class, with all tests that it became there."""

    method: str
    """``Template.method``, or ``Class.method`` where nothing was copied."""
    file: str
    line: NonNegativeInt
    body: str
    """Hash of the source's body; a decision about it holds for this body alone."""
    target: str
    tests: Annotated[tuple[str, ...], Field(min_length=1)]
    label: LabelName
    capabilities: tuple[str, ...] = ()
    evidence: Annotated[tuple[EvidenceRecord, ...], Field(min_length=1)]
    why: str = ""
    """For ``review`` what does not fit together; for a person's decision their reason."""
    decided_by: Literal["rules", "person"] = "rules"

    @model_validator(mode="after")
    def _review_says_why(self) -> MethodLabel:
        if not self.why and (self.label == "review" or self.decided_by == "person"):
            raise ValueError(f"{self.method} in {self.target}: {self.label} without a reason")
        return self


class Closure(Record):
    """One target class against its shadows. All lists are empty where the copy closes."""

    target: str
    line: NonNegativeInt
    templates: tuple[str, ...]
    suffixes: tuple[str, ...]
    tests: NonNegativeInt
    copied: NonNegativeInt
    source_methods: NonNegativeInt
    """Methods that the templates' source defines, before parametrisation."""
    labels: dict[str, NonNegativeInt]
    """Tests in the shadow of each label."""
    lost: tuple[str, ...] = ()
    """Tests of the target that no shadow holds: the suite wrote or added them otherwise."""
    invented: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()
    """Tests that the copier makes and that nobody finds in the target: taken out afterwards."""
    unmapped: tuple[str, ...] = ()
    """Methods of a template that the copier did not copy exactly once, and source methods that
    became no test."""
    unequal: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Tests of which source, parameters, layers or marks differ from the target's."""
    shadowed: tuple[str, ...] = ()
    """Methods that the template's source defines twice; the first definition never runs."""

    @property
    def closes(self) -> bool:
        return self.tests == self.copied == sum(self.labels.values()) and not (
            self.lost
            or self.invented
            or self.doubled
            or self.unlabelled
            or self.unmapped
            or self.unequal
        )


class LoaderResult(Record):
    before: NonNegativeInt
    after: NonNegativeInt
    equal: bool
    """Whether unittest's loader lists the same tests before and after materialisation."""
    classes_equal: bool
    """Whether the module's names and the process's test classes are the same as before."""


class StaleDecision(Record):
    method: str
    target: str
    why: str


class Shadow(Record):
    schema_version: Literal["bench-runner.inventory-shadow/v1"] = SCHEMA
    file: str
    platform: str
    source_methods: NonNegativeInt
    """Different source methods among those of ``labels``."""
    labels: tuple[MethodLabel, ...]
    closures: tuple[Closure, ...]
    loader: LoaderResult
    stale: tuple[StaleDecision, ...] = ()

    @property
    def closes(self) -> bool:
        return (
            all(closure.closes for closure in self.closures)
            and self.loader.equal
            and self.loader.classes_equal
        )
