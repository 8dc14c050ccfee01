# SPDX-License-Identifier: Apache-2.0
"""The gates: a stage passes when the difference is exactly what was approved, gate by gate.

Each kind of finding belongs to one gate, so that "closed" has one meaning. A gate is open while a
finding of it is not approved, or an approved change of it did not happen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from bench_runner.contract.record import Record
from bench_runner.errors import UsageFault
from bench_runner.inventory.approvals import Approval, Approvals
from bench_runner.inventory.diff import diff, label
from bench_runner.inventory.discovery import file_sha256
from bench_runner.inventory.evidence import Evidence, missing_evidence
from bench_runner.inventory.findings import Finding
from bench_runner.inventory.records import Manifest

GATES: dict[str, tuple[str, tuple[str, ...]]] = {
    "ids": (
        "The set of test IDs differs only by what was approved.",
        (
            "test-removed", "test-added", "class-removed", "class-added", "test-renamed",
            "suffix-renamed", "class-renamed", "test-moved", "file-removed", "file-added",
            "file-emptied", "duplicate-id", "discovery-differs", "no-tests", "fingerprint-changed",
        ),
    ),
    "mapping": (
        "Each source method arrives in each target class, once.",
        ("mapping-open", "template-changed", "shadowed-definition"),
    ),
    "variants": (
        "Products of parameters and the decorators of each variant are equal.",
        (
            "parameters-changed", "mark-lost", "mark-gained", "mark-changed", "layer-lost",
            "layer-gained", "layer-changed", "decorator-changed", "custom-mark-changed",
            "failure-table-changed", "xfail-parity", "dead-key", "dead-slow-key", "string-suffix",
        ),
    ),
    "consumers": (
        "Every direct consumer is in the inventory and is discovered as before.",
        ("import-broken", "import-fixed", "import-failure"),
    ),
    "protocol": (
        "Names that others import are there and are called as before.",
        ("api-lost", "api-changed", "helper-changed"),
    ),
    "exceptions": (
        "Exceptions keep their bodies, their gates and the device that they prove.",
        (
            "body-changed", "gate-lost", "gate-gained", "gate-changed", "device-changed",
            "device-mismatch",
        ),
    ),
    "identities": (
        "No class gained a second identity, a second name or another nature.",
        (
            "class-changed", "alias-rediscovered", "subclass-rediscovered",
            "import-rediscovered", "double-identity",
        ),
    ),
    "evidence": (
        "A changed generation chain was run: CPU control, accelerator, all consumers.",
        (),
    ),
}  # fmt: skip
"""Gate to its meaning and the kinds that it stops. Order and content follow seed 002, section 8."""


class GateResult(Record):
    gate: str
    closed: bool
    unapproved: tuple[Finding, ...] = ()
    unhappened: tuple[Approval, ...] = ()
    problems: tuple[str, ...] = ()
    """What keeps the gate open besides findings."""
    approved: int = 0


class Report(Record):
    schema_version: Literal["bench-runner.inventory-gate/v1"] = "bench-runner.inventory-gate/v1"
    before: str
    after: str
    stage: str | None
    passed: bool
    gates: tuple[GateResult, ...]


def gate_of(kind: str) -> str:
    return next(name for name, (_, kinds) in GATES.items() if kind in kinds)


def judge(
    baseline: Manifest,
    candidate: Manifest,
    approvals: Approvals,
    gates: tuple[str, ...] = (),
    stage: str | None = None,
    evidence: tuple[Evidence, ...] = (),
    root: Path | None = None,
) -> Report:
    """Judges a change set.

    Args:
        gates: those to run; none means all.
        stage: the last stage that was carried out; later approvals do not count yet.
        root: the suite as it is now; a candidate that was made of something else is refused.

    Raises:
        UsageFault: the two cannot be compared, or the approvals are for another baseline.
    """
    _refuse_strangers(baseline, candidate, approvals, root)
    findings = [*diff(baseline, candidate).findings, *_fingerprints(baseline, candidate)]
    wanted = approvals.until(stage)
    allowed = {item.kind for item in approvals.allow}
    open_findings, happened = [], []
    approved: dict[str, int] = {}
    for finding in findings:
        by = next((item for item in wanted if item.covers(finding)), None)
        if by is None and finding.kind not in allowed:
            open_findings.append(finding)
            continue
        approved[gate_of(finding.kind)] = approved.get(gate_of(finding.kind), 0) + 1
        if by is not None:
            happened.append(by)
    problems = {
        "consumers": _unlisted_consumers(baseline, candidate),
        "protocol": _protocol(candidate, approvals),
        "evidence": missing_evidence(candidate, _chain_changes(findings, approvals), evidence),
    }
    results = []
    for name in gates or GATES:
        unapproved = tuple(item for item in open_findings if gate_of(item.kind) == name)
        unhappened = tuple(
            item for item in wanted if gate_of(item.kind) == name and item not in happened
        )
        trouble = tuple(problems.get(name, ()))
        results.append(
            GateResult(
                gate=name,
                closed=not (unapproved or unhappened or trouble),
                unapproved=unapproved,
                unhappened=unhappened,
                problems=trouble,
                approved=approved.get(name, 0),
            )
        )
    return Report(
        before=label(baseline),
        after=label(candidate),
        stage=stage,
        passed=all(result.closed for result in results),
        gates=tuple(results),
    )


def _refuse_strangers(
    baseline: Manifest, candidate: Manifest, approvals: Approvals, root: Path | None
) -> None:
    if baseline.platform.name != candidate.platform.name:
        raise UsageFault(
            f"baseline is of {baseline.platform.name}, candidate of {candidate.platform.name}: "
            "what a suite contains depends on its platform; compare them with inventory diff"
        )
    made_of = baseline.fingerprints.sources
    if approvals.baseline is not None and not made_of.startswith(approvals.baseline):
        raise UsageFault(
            f"the approvals are for baseline {approvals.baseline[:12]}, not for {made_of[:12]}"
        )
    if root is None:
        return
    for path, inventory in candidate.files.items():
        full = root / path
        if not full.is_file() or file_sha256(full) != inventory.sha256:
            raise UsageFault(
                f"{path} is not what the candidate was made of: make its manifest again"
            )


def _fingerprints(baseline: Manifest, candidate: Manifest) -> list[Finding]:
    before, after = baseline.fingerprints, candidate.fingerprints
    found = []
    for name in ("python", "packages", "probe"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            versions = {
                key: f"{before.versions.get(key)} -> {after.versions.get(key)}"
                for key in sorted({*before.versions, *after.versions})
                if before.versions.get(key) != after.versions.get(key)
            }
            told = ", ".join(f"{k} {v}" for k, v in versions.items()) if name == "packages" else ""
            found.append(
                Finding(
                    kind="fingerprint-changed",
                    file="",
                    subject=name,
                    detail=told or f"{old[:12]} -> {new[:12]}",
                )
            )
    return found


def _unlisted_consumers(baseline: Manifest, candidate: Manifest) -> list[str]:
    """Consumers must have been looked for, or their silence proves nothing."""
    problems = []
    for name, manifest in (("baseline", baseline), ("candidate", candidate)):
        if not manifest.settings.get("consumers"):
            problems.append(
                f"the {name} was made without --consumers: what it does not list may have broken"
            )
    return problems


def _protocol(candidate: Manifest, approvals: Approvals) -> list[str]:
    problems = []
    for path, names in approvals.protocol.items():
        inventory = candidate.files.get(path)
        for name in names:
            if inventory is None or name not in inventory.api:
                problems.append(f"{path} no longer offers {name}, which the protocol promises")
    return problems


def _chain_changes(findings: list[Finding], approvals: Approvals) -> list[str]:
    """Findings that say that what makes the tests is not what it was."""
    changed = []
    for finding in findings:
        names = approvals.generation.get(finding.file, ())
        told = f"{finding.subject} {finding.detail}"
        if any(name in told.replace(".", " ").replace("(", " ").split() for name in names):
            changed.append(f"{finding.kind} {finding.subject}")
    return changed
