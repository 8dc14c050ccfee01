# SPDX-License-Identifier: Apache-2.0
"""Labels that people decided, kept in a file beside the suite's source.

A decision holds for the body that was read. When the method changes, the decision is reported as
stale and the method is back in review: a label must not outlive its reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import yaml
from pydantic import ValidationError, model_validator

from bench_runner.contract.record import Record, explain
from bench_runner.errors import UsageFault
from bench_runner.inventory.shadow_records import LabelName, MethodLabel, StaleDecision


class Decision(Record):
    method: str
    target: str
    """Class; ``*`` for every target."""
    body: str
    """The hash that `inventory shadow` shows for the method."""
    label: LabelName
    capabilities: tuple[str, ...] = ()
    reason: str

    @model_validator(mode="after")
    def _decides(self) -> Decision:
        if self.label == "review":
            raise ValueError(f"{self.method}: review is no decision; leave the entry out")
        if not self.reason.strip():
            raise ValueError(f"{self.method}: a decision needs a reason")
        return self


class Decisions(Record):
    schema_version: Literal["bench-runner.inventory-decisions/v1"]
    decisions: tuple[Decision, ...] = ()

    @model_validator(mode="after")
    def _each_once(self) -> Decisions:
        seen = set()
        for item in self.decisions:
            if (item.method, item.target) in seen:
                raise ValueError(f"{item.method} in {item.target} is decided twice")
            seen.add((item.method, item.target))
        return self


def read_decisions(path: Path) -> Decisions:
    """Raises UsageFault for what is no file of decisions."""
    try:
        return Decisions.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError) as error:
        raise UsageFault(f"{path}: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        raise UsageFault(f"{path}: {explain(error)}") from error


def apply(
    labels: Iterable[MethodLabel], decisions: Decisions
) -> tuple[list[MethodLabel], list[StaleDecision]]:
    """The labels with people's decisions in place, and the decisions that no longer hold.

    A decision for one target comes before one for all. A stale one leaves the rules' label, or,
    where the rules have one that differs from it, review.
    """
    by_key = {(item.method, item.target): item for item in decisions.decisions}
    used: set[tuple[str, str]] = set()
    stale: dict[tuple[str, str], str] = {}
    result = []
    for label in labels:
        key = next(
            (k for k in ((label.method, label.target), (label.method, "*")) if k in by_key), None
        )
        if key is None:
            result.append(label)
            continue
        used.add(key)
        decision = by_key[key]
        if decision.body != label.body:
            stale[key] = f"the body is now {label.body}, it was {decision.body} when decided"
            why = f"decided as {decision.label} for another body: {decision.reason}"
            result.append(label.model_copy(update={"label": "review", "why": why}))
            continue
        update = {
            "label": decision.label,
            "capabilities": decision.capabilities or label.capabilities,
            "why": decision.reason,
            "decided_by": "person",
        }
        result.append(label.model_copy(update=update))
    for key in by_key.keys() - used:
        stale[key] = "no such method in this target"
    return result, [
        StaleDecision(method=method, target=target, why=why)
        for (method, target), why in sorted(stale.items())
    ]


def proposal(labels: Iterable[MethodLabel]) -> str:
    """A file of decisions to fill in, with one entry for each method in review."""
    open_ones = [item for item in labels if item.label == "review"]
    entries = [
        {
            "method": item.method,
            "target": item.target,
            "body": item.body,
            "label": "review",
            "reason": item.why,
        }
        for item in open_ones
    ]
    head = "# Replace each `review` by a label and the reason by yours; delete what stays open.\n"
    document = {"schema_version": "bench-runner.inventory-decisions/v1", "decisions": entries}
    return head + yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
