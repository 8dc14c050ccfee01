# SPDX-License-Identifier: Apache-2.0
"""The manifest: everything that can be said of a test suite without running a test.

A manifest belongs to one platform, because what a suite contains depends on the hardware that its
files see when they are imported. Lines are recorded for people and never compared.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, model_validator

from bench_runner.contract.record import Record

SCHEMA: Literal["bench-runner.inventory/v1"] = "bench-runner.inventory/v1"
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
MarkKind = Literal["skip", "skipif", "xfail", "expectedFailure", "slow", "gate", "custom"]


class Source(Record):
    """The innermost function behind a test: what remains when every wrapper is taken off."""

    file: str
    """Relative to the suite's root; absolute paths never enter a manifest."""
    line: NonNegativeInt
    qualname: str
    """As compiled, so that functools.wraps cannot rename it."""
    body: str
    """Hash of the normalised syntax tree: comments, layout and docstrings do not enter it."""
    decorators: tuple[str, ...] = ()
    """As written, outermost first: a decorator whose condition is false leaves no layer behind."""
    arguments: tuple[str, ...] = ()


class Layer(Record):
    """One wrapper around the source method."""

    name: str
    file: str
    line: NonNegativeInt
    body: str
    captures: dict[str, str] = Field(default_factory=dict)
    """What the wrapper closed over (conditions, reasons, devices), in a form without addresses."""
    hidden: bool = False
    """True where ``__wrapped__`` leads past it (a copy made through a default argument)."""


class Mark(Record):
    """What a runner or a wrapper will do with the test besides running it."""

    kind: MarkKind
    name: str = ""
    """Of the attribute or pytest mark, for custom marks."""
    reason: str = ""
    arguments: str = ""


class Device(Record):
    """Three facts that one global often decides together, kept apart."""

    runner: str = ""
    """The function or base class that moves work to a device."""
    runner_device: str = ""
    """What the runner's own globals name as the device; empty where it names none."""
    device: str = ""
    """What the test is given: class attribute, base class or parameter."""
    suffix: str = ""
    """What a copy appended to the template's name, whole."""
    named: str = ""
    """The device that the test's name claims; empty where it claims none."""


class DiscoveredTest(Record):
    """One test as one runner would list it."""

    id: str
    """``file::Class::method[params]``, the file relative to the root."""
    unittest_id: str | None = None
    file: str
    module: str
    class_key: str | None = None
    """Into ``FileInventory.classes``; None for a plain function."""
    found_as: str = ""
    """The name in the module under which the class was found; differs from its own for an alias."""
    name: str
    base_name: str
    """The source method's name: without suffix, parameters and what class transforms append."""
    found_by: tuple[Literal["unittest", "pytest"], ...]
    source: Source
    parameters: dict[str, str] = Field(default_factory=dict)
    layers: tuple[Layer, ...] = ()
    """Outermost first."""
    templates: tuple[str, ...] = ()
    """``class key::method`` of each template that the test was copied from, nearest first."""
    marks: tuple[Mark, ...] = ()
    device: Device = Device()


class ClassIdentity(Record):
    """One class object. Two objects of one module and name are two identities."""

    key: str
    """``module:qualname``, with ``#2`` for a second object of the same name."""
    module: str
    qualname: str
    file: str
    line: NonNegativeInt = 0
    bases: tuple[str, ...] = ()
    """Keys, in order; classes from outside the suite as ``module:qualname``."""
    found_as: tuple[str, ...] = ()
    """Names of this file's module that hold the object."""
    runnable: bool = False
    """Whether a runner would look for tests in it."""
    attributes: dict[str, str] = Field(default_factory=dict)
    """Non-callable attributes of its own body."""
    members: dict[str, str] = Field(default_factory=dict)
    """Own functions that are no tests (setUp, common, helpers) and their body hashes."""
    own_tests: tuple[str, ...] = ()
    """Test methods of its own body as it is after every decorator, runnable or not."""
    defined: tuple[str, ...] = ()
    """Test methods as its source defines them, before parametrisation."""
    shadowed: tuple[str, ...] = ()
    """Defined twice in its source: the first definition never runs, and no run time can see it."""


class FailureTable(Record):
    """A dictionary that decides expected failures by name and suffix."""

    name: str
    entries: dict[str, tuple[str, ...]]
    """Key to suffixes."""
    skips: tuple[str, ...] = ()
    """Keys that skip instead of expecting a failure."""
    string_suffixes: tuple[str, ...] = ()
    """Keys whose suffixes are one string: membership is then a substring test."""
    dead: tuple[str, ...] = ()
    """Keys that no template method and no test of this file carries."""


class ApiItem(Record):
    """A name that a module offers and others may import."""

    kind: Literal["class", "function", "value"]
    signature: str = ""
    body: str = ""


class ImportFailure(Record):
    """Why a file could not be imported."""

    type: str
    message: str
    missing: str = ""
    """The symbol or module that was not found, where the error says so."""
    at: str = ""
    """Innermost line of the suite, ``file:line``."""
    skipped: bool = False
    """The file raised SkipTest: it says of itself that it has no tests here."""


class ConsumedName(Record):
    """What a file takes from another file of the suite, by AST."""

    module: str
    """As written, relative imports with their dots."""
    target: str
    """The file meant, relative to the root."""
    names: tuple[str, ...]
    """Imported names and attributes read from the module; empty for the bare module."""


class FileInventory(Record):
    """What one file contributes."""

    path: str
    sha256: Sha256
    import_failure: ImportFailure | None = None
    tests: tuple[DiscoveredTest, ...] = ()
    duplicates: dict[str, NonNegativeInt] = Field(default_factory=dict)
    """IDs that unittest lists more than once, with the number."""
    classes: dict[str, ClassIdentity] = Field(default_factory=dict)
    failure_tables: tuple[FailureTable, ...] = ()
    api: dict[str, ApiItem] = Field(default_factory=dict)
    """Public names of the module defined in this file."""
    consumes: tuple[ConsumedName, ...] = ()
    double_identities: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Files loaded under several module names in one process, with those names."""
    doubled_templates: tuple[str, ...] = ()
    """Templates of which two identities were loaded, one of them by copying tests of this file."""
    loader_only: tuple[str, ...] = ()
    """IDs that unittest finds and pytest does not."""
    pytest_only: tuple[str, ...] = ()
    """IDs that pytest finds in a unittest class and unittest's loader does not."""
    pytest_compared: bool = False
    dead_slow_keys: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()
    """Files of the suite that were imported."""


class Patch(Record):
    """One thing that a platform profile changed before discovery."""

    step: str
    applied: bool
    """False where an optional target does not exist in this version."""


class Platform(Record):
    """Where, or as what, the suite was discovered."""

    name: str
    device: str
    simulated: bool
    patches: tuple[Patch, ...] = ()
    probes: dict[str, str] = Field(default_factory=dict)
    """What the process saw: accelerators, compute capability, registered PrivateUse1 name."""


class Fingerprints(Record):
    """Two manifests with equal fingerprints were made of the same thing."""

    sources: Sha256
    """Of all files of the suite that were loaded."""
    packages: Sha256
    """Of the installed distributions' own records."""
    versions: dict[str, str]
    """Distributions named by --package, and those that the fit of source and wheel depends on."""
    python: str
    probe: Sha256
    """Of the code that discovers, and of the profile."""


class Manifest(Record):
    schema_version: Literal["bench-runner.inventory/v1"] = SCHEMA
    platform: Platform
    fingerprints: Fingerprints
    framework: Literal["auto", "unittest", "pytest"]
    files: dict[str, FileInventory]
    settings: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _ids_belong_to_their_file(self) -> Manifest:
        for path, inventory in self.files.items():
            if inventory.path != path:
                raise ValueError(f"{path} holds the inventory of {inventory.path}")
            seen: set[str] = set()
            for test in inventory.tests:
                if test.id in seen:
                    raise ValueError(f"{test.id} is listed twice; repeats belong in duplicates")
                seen.add(test.id)
                if test.class_key is not None and test.class_key not in inventory.classes:
                    raise ValueError(f"{test.id} belongs to no class of {path}")
        return self

    @property
    def tests(self) -> list[DiscoveredTest]:
        return [test for inventory in self.files.values() for test in inventory.tests]
