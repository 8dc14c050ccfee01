# SPDX-License-Identifier: Apache-2.0
"""What `inventory plan` says of a file: which classes may be labelled, what may be edited, and why
the rest stays as it is."""

from __future__ import annotations

from typing import Literal

from pydantic import NonNegativeInt, model_validator

from bench_runner.contract.record import Record
from bench_runner.inventory.shadow_records import LabelName

SCHEMA: Literal["bench-runner.inventory-plan/v1"] = "bench-runner.inventory-plan/v1"


class ClassPlan(Record):
    """One runnable class: safe to label, or an exception with its reasons."""

    name: str
    line: NonNegativeInt
    tests: NonNegativeInt
    labels: dict[str, NonNegativeInt]
    capabilities: dict[str, NonNegativeInt]
    label: LabelName | None = None
    """The one label that is right for all its tests; None for an exception."""
    why: tuple[str, ...] = ()
    """Each reason for which the class stays as it is; for a safe one empty."""

    @model_validator(mode="after")
    def _either_or(self) -> ClassPlan:
        if (self.label is None) != bool(self.why):
            raise ValueError(f"{self.name}: a class is safe, or has reasons not to be")
        return self


class DeviceEdit(Record):
    """A hard-coded device that may become the suite's name of its accelerator."""

    method: str
    line: NonNegativeInt
    column: NonNegativeInt
    """In bytes, from 0, as syntax trees count."""
    old: str
    new: str


class KeptDevice(Record):
    """A hard-coded device that stays."""

    method: str
    line: NonNegativeInt
    text: str
    why: str


class Plan(Record):
    schema_version: Literal["bench-runner.inventory-plan/v1"] = SCHEMA
    file: str
    platform: str
    classes: tuple[ClassPlan, ...]
    edits: tuple[DeviceEdit, ...]
    kept: tuple[KeptDevice, ...]
    consumers: tuple[str, ...]
    """Files that import this one."""
