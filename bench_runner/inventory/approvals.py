# SPDX-License-Identifier: Apache-2.0
"""The reviewed file of wanted changes: what it names must happen, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, PositiveInt, ValidationError, model_validator

from bench_runner.contract.record import Record, explain, write_atomically
from bench_runner.errors import UsageFault
from bench_runner.inventory.findings import KINDS, Finding

SCHEMA: Literal["bench-runner.inventory-approval/v1"] = "bench-runner.inventory-approval/v1"
Reason = Annotated[str, Field(min_length=1)]


class Approval(Record):
    """One finding that is wanted."""

    kind: str
    file: str
    subject: str
    detail: str | None = None
    """The finding's detail, whole; None accepts any."""
    tests: tuple[str, ...] | None = None
    """Exactly these IDs."""
    count: PositiveInt | None = None
    """Exactly so many IDs, for changes that touch hundreds alike."""
    reason: Reason
    stage: str | None = None

    @model_validator(mode="after")
    def _is_sound(self) -> Approval:
        if self.kind not in KINDS:
            raise ValueError(f"no such kind of finding: {self.kind}")
        if self.tests is not None and self.count is not None:
            raise ValueError(f"{self.kind} {self.subject}: give tests or count, not both")
        return self

    def covers(self, finding: Finding) -> bool:
        """Whether this approval is for ``finding`` and for all of it."""
        if (self.kind, self.file, self.subject) != (finding.kind, finding.file, finding.subject):
            return False
        if self.detail is not None and self.detail != finding.detail:
            return False
        if self.tests is not None:
            return set(self.tests) == set(finding.tests)
        if self.count is not None:
            return self.count == len(finding.tests)
        return not finding.tests


class Allowance(Record):
    """A kind of finding that is wanted wherever it occurs, such as new tests."""

    kind: str
    reason: Reason

    @model_validator(mode="after")
    def _kind_is_known(self) -> Allowance:
        if self.kind not in KINDS:
            raise ValueError(f"no such kind of finding: {self.kind}")
        return self


class Approvals(Record):
    schema_version: Literal["bench-runner.inventory-approval/v1"]
    baseline: str | None = None
    """Fingerprint of the baseline's sources; approvals for another baseline are refused."""
    stages: tuple[str, ...] = ()
    """In the order in which they are carried out."""
    protocol: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Per file, names that others rely on, besides those that consumers in the inventory take."""
    generation: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Per file, what makes tests; a change of one of these asks for evidence of runs."""
    allow: tuple[Allowance, ...] = ()
    changes: tuple[Approval, ...] = ()

    @model_validator(mode="after")
    def _stages_are_named(self) -> Approvals:
        for change in self.changes:
            if change.stage is not None and change.stage not in self.stages:
                raise ValueError(f"stage {change.stage} of {change.subject} is not among stages")
        return self

    def until(self, stage: str | None) -> tuple[Approval, ...]:
        """Changes that must have happened when ``stage`` is done.

        Raises:
            UsageFault: there is no such stage.
        """
        if stage is None:
            return self.changes
        if stage not in self.stages:
            known = ", ".join(self.stages) or "none"
            raise UsageFault(f"no stage {stage} in the approvals; known are {known}")
        reached = self.stages[: self.stages.index(stage) + 1]
        return tuple(c for c in self.changes if c.stage is None or c.stage in reached)


def load_approvals(path: Path | None) -> Approvals:
    """Reads approvals; without a file nothing is approved.

    Raises:
        UsageFault: the file is not what it should be.
    """
    if path is None:
        return Approvals(schema_version=SCHEMA)
    try:
        return Approvals.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except yaml.YAMLError as error:
        raise UsageFault(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        raise UsageFault(f"{path}: {explain(error)}") from error


def write_draft(path: Path, baseline: str, findings: list[Finding]) -> None:
    """Writes approvals of ``findings`` whose reasons a person has yet to give.

    The empty reasons make the file invalid: a draft approves nothing.
    """
    changes: list[dict[str, Any]] = []
    for item in findings:
        change: dict[str, Any] = {"kind": item.kind, "file": item.file, "subject": item.subject}
        if item.detail:
            change["detail"] = item.detail
        if item.tests:
            change["tests"] = list(item.tests)
        changes.append({**change, "reason": ""})
    held = {"schema_version": SCHEMA, "baseline": baseline, "changes": changes}
    text = yaml.safe_dump(held, sort_keys=False, allow_unicode=True, width=100)
    try:
        write_atomically(path.absolute(), text)
    except OSError as error:
        raise UsageFault(f"cannot write {path}: {error.strerror}") from error
