# SPDX-License-Identifier: Apache-2.0
"""A difference as Markdown for a review, and as one HTML page that needs nothing beside it."""

from __future__ import annotations

from collections import Counter

from jinja2 import Environment, PackageLoader

from bench_runner.inventory.findings import KINDS, Difference, Finding

LISTED = 20
"""Tests named in full per finding; the JSON has them all."""


def summary(findings: tuple[Finding, ...]) -> list[tuple[str, int, int]]:
    """Kind, findings and tests, the kinds in the order of their table."""
    findings_of = Counter(item.kind for item in findings)
    tests_of: Counter[str] = Counter()
    for item in findings:
        tests_of[item.kind] += len(item.tests)
    return [(kind, findings_of[kind], tests_of[kind]) for kind in KINDS if findings_of[kind]]


def markdown(difference: Difference) -> str:
    """Summary first, then each finding with its tests folded away."""
    lines = [
        f"# {difference.before} -> {difference.after}",
        "",
        f"{difference.tests_before} tests before, {difference.tests_after} after, "
        f"{len(difference.findings)} findings.",
        "",
    ]
    if difference.findings:
        lines += ["| kind | findings | tests | meaning |", "|---|---|---|---|"]
        lines += [
            f"| {kind} | {count} | {tests} | {KINDS[kind]} |"
            for kind, count, tests in summary(difference.findings)
        ]
    for title, findings in (("Findings", difference.findings), ("Standing", difference.standing)):
        if findings:
            lines += ["", f"## {title}", ""]
            for item in findings:
                lines += _item(item)
    return "\n".join(lines) + "\n"


def _item(item: Finding) -> list[str]:
    detail = f": {_escape(item.detail)}" if item.detail else ""
    lines = [f"- **{item.kind}** `{item.file}` {_escape(item.subject)}{detail} (`{item.key}`)"]
    if item.tests:
        lines += ["", f"  <details><summary>{len(item.tests)} tests</summary>", ""]
        lines += [f"  - `{line}`" for line in _tests(item)]
        lines += ["", "  </details>", ""]
    return lines


def _tests(item: Finding) -> list[str]:
    shown = [
        f"{test} -> {item.renames[test]}" if test in item.renames else test
        for test in item.tests[:LISTED]
    ]
    more = len(item.tests) - len(shown)
    return shown + ([f"and {more} more"] if more else [])


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def html(difference: Difference) -> str:
    """The same as a page."""
    environment = Environment(
        loader=PackageLoader("bench_runner.inventory", "pages"), autoescape=True
    )
    return environment.get_template("diff.html.j2").render(
        difference=difference,
        summary=summary(difference.findings),
        kinds=KINDS,
        tests=_tests,
    )
