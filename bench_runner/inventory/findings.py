# SPDX-License-Identifier: Apache-2.0
"""Findings: what differs between two manifests, or is wrong with one, in one vocabulary."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from bench_runner.contract.record import Record, canonical_sha256

KINDS: dict[str, str] = {
    "test-removed": "A test is gone and nothing took its place.",
    "test-added": "A test that was not there before.",
    "class-removed": "All tests of a class are gone.",
    "class-added": "A class with tests that was not there before.",
    "test-renamed": "The same body, parameters and class under another name.",
    "suffix-renamed": "All tests of a class changed the suffix of their names.",
    "class-renamed": "A class changed its name and kept its tests.",
    "test-moved": "The same test is found in another class.",
    "parameters-changed": "A source method has other variants or other parameter values.",
    "body-changed": "A source method does something else.",
    "mark-lost": "Skip, expected failure or slow mark is gone.",
    "mark-gained": "Skip, expected failure or slow mark is new.",
    "mark-changed": "A mark has another reason or condition.",
    "gate-lost": "A wrapper that may skip the test at run time is gone.",
    "gate-gained": "A wrapper that may skip the test at run time is new.",
    "gate-changed": "A wrapper that may skip the test has another condition or reason.",
    "layer-lost": "A wrapper around the test is gone.",
    "layer-gained": "A wrapper around the test is new.",
    "layer-changed": "A wrapper around the test does something else, or in another order.",
    "decorator-changed": "The source carries other decorators, which leave no layer here.",
    "custom-mark-changed": "A custom attribute or pytest mark of the test changed.",
    "device-changed": "A class or test has another device, or moves work to another.",
    "class-changed": "A class has other bases, attributes or helper methods.",
    "template-changed": "A test is copied from another template.",
    "alias-rediscovered": "Tests are found twice: a second name for one class.",
    "subclass-rediscovered": "Tests are found twice: a subclass inherits them.",
    "import-rediscovered": "Tests are found twice: a class was imported from another file.",
    "duplicate-id": "unittest lists one ID several times.",
    "discovery-differs": "unittest and pytest do not find the same tests.",
    "file-removed": "A file left the inventory with its tests.",
    "file-added": "A file joined the inventory with its tests.",
    "file-emptied": "A file has no test any more, without an error.",
    "import-broken": "A file cannot be imported any more; its tests are lost.",
    "import-fixed": "A file can be imported again.",
    "api-lost": "A name that others import is gone.",
    "api-changed": "A name that others import is called differently.",
    "helper-changed": "A function that others use does something else.",
    "failure-table-changed": "A failure table changed without effect on this platform.",
    "xfail-parity": "Expected failures do not carry over to another suffix.",
    "dead-key": "A key of a failure table matches no test.",
    "dead-slow-key": "A slow-test entry matches no test.",
    "string-suffix": "Suffixes are one string, so that membership tests for a substring.",
    "double-identity": "One file is loaded under two module names; its template exists twice.",
    "shadowed-definition": "A method is defined twice in one class; the first never runs.",
    "mapping-open": "A template's method did not arrive in a class that copies the others.",
    "device-mismatch": "A test's name claims one device and its class another.",
    "no-tests": "A file has no test, so nothing about it is proven.",
    "import-failure": "A file cannot be imported.",
    "fingerprint-changed": "Python, packages or the discovering code differ.",
}


class Finding(Record):
    kind: str
    file: str
    subject: str
    """What it is about: a source method, class, key or name."""
    detail: str = ""
    """From what to what, in one line."""
    tests: tuple[str, ...] = ()
    """IDs: as they were for what is gone, as they are for what is there."""
    renames: dict[str, str] = Field(default_factory=dict)
    """Old ID to new, where the two are known to be one test."""

    @model_validator(mode="after")
    def _kind_is_known(self) -> Finding:
        if self.kind not in KINDS:
            raise ValueError(f"no such kind of finding: {self.kind}")
        return self

    @property
    def key(self) -> str:
        """What an approval must name: it changes with any test that joins or leaves."""
        return canonical_sha256([self.kind, self.file, self.subject, self.detail, self.tests])[:16]

    @property
    def count(self) -> int:
        return max(1, len(self.tests))


class Difference(Record):
    """What ``inventory diff`` says of two manifests."""

    schema_version: Literal["bench-runner.inventory-diff/v1"] = "bench-runner.inventory-diff/v1"
    before: str
    after: str
    tests_before: int
    tests_after: int
    findings: tuple[Finding, ...]
    standing: tuple[Finding, ...] = ()
    """What was wrong before and still is."""
