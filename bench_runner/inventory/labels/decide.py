# SPDX-License-Identifier: Apache-2.0
"""From evidence to one label, or to the statement that the evidence does not decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench_runner.inventory.labels.evidence import Evidence
from bench_runner.inventory.labels.rules import (
    ACCELERATOR,
    BRANDED,
    CPU,
    GENERIC,
    REVIEW,
    RULES,
)


@dataclass(frozen=True)
class Label:
    """A label and everything that led to it."""

    label: str
    capabilities: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    why: str = ""
    """For ``review``: what does not fit together."""


def decide(base: str, base_evidence: Evidence, found: Sequence[Evidence]) -> Label:
    """The label of a method that is run with a device of the label ``base``.

    ``base`` is GENERIC for a class that is given no device. A requirement narrows ACCELERATOR down
    to one device; one that contradicts another, and any doubt about a label that is not the
    outcome, is for a person to resolve.
    """
    evidence = (base_evidence, *found)
    capabilities = tuple(
        sorted({item.about for item in found if RULES[item.rule].effect == "capability"})
    )
    required = {item.about for item in found if RULES[item.rule].effect == "requires"}
    if not base and not required:
        return Label(REVIEW, capabilities, evidence, "the class is given a device of no known kind")
    if required & set(BRANDED):
        required.discard(ACCELERATOR)
    if "" in required or len(required) > 1:
        names = " and ".join(sorted(item or "several devices" for item in required))
        return Label(REVIEW, capabilities, evidence, f"requires {names}")
    label = required.pop() if required else base
    if label == GENERIC:
        label = _without_a_device(found)
    for item in found:
        doubts = RULES[item.rule].effect == "doubt" and item.about != label
        # A class that is only ever given the CPU has one answer to such a question.
        if doubts and not (item.rule == "device.branch.one" and label == base == CPU):
            why = f"{RULES[item.rule].text}: {item.text} (line {item.line})"
            return Label(REVIEW, capabilities, evidence, why)
    return Label(label, capabilities, evidence)


def _without_a_device(found: Sequence[Evidence]) -> str:
    """A class without a device: its methods may still take the suite's accelerator by its name."""
    if any(item.rule == "device.global" for item in found):
        return ACCELERATOR
    return GENERIC
