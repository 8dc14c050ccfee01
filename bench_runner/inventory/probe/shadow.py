# SPDX-License-Identifier: Apache-2.0
"""Materialises shadow classes, one a label, and proves that together they are the target.

A shadow is a plain class that no module holds: neither unittest nor pytest can find it. It is
filled by the suite's own copier, so that what is compared is what the copier really does.
"""

from __future__ import annotations

import sys
import types
import unittest
from typing import Any

from bench_runner.inventory.probe.copies import Copy, executed, made
from bench_runner.inventory.probe.identities import Classes
from bench_runner.inventory.probe.loading import check_fit, load
from bench_runner.inventory.probe.sources import Sources
from bench_runner.inventory.probe.tests_of import Describer
from bench_runner.inventory.probe.with_unittest import _flatten

COMPARED = ("base_name", "source", "parameters", "layers", "marks", "templates")


def materialise(
    path: str, labels: dict[str, dict[str, str]], sources: Sources, devices: tuple[str, ...]
) -> dict[str, Any]:
    """Closure of each copy of the file, and what the loader saw before and after.

    Args:
        labels: for each class, by the name under which it is found, the label of each test.
    """
    full = sources.root / path
    check_fit(full, sources)
    module = load(full)
    classes = Classes(sources)
    classes.read_modules()
    describer = Describer(sources, classes, devices)
    before, held = _listed(module), _held(module)
    copies = executed(module, full.read_text())
    targets: dict[str, list[Copy]] = {}
    for copy in copies:
        targets.setdefault(copy.target_name, []).append(copy)
    closures = [
        _close(name, group, labels.get(name, {}), describer) for name, group in targets.items()
    ]
    after, held_after = _listed(module), _held(module)
    return {
        "closures": closures,
        "loader": {
            "before": len(before),
            "after": len(after),
            "equal": before == after,
            "classes_equal": held == held_after,
        },
    }


def _listed(module: types.ModuleType) -> list[str]:
    return sorted(test.id() for test in _flatten(unittest.TestLoader().loadTestsFromModule(module)))


def _held(module: types.ModuleType) -> list[str]:
    """Names of the module, and every test class of the process: a shadow must be neither."""
    found, queue = [], [unittest.TestCase]
    seen: set[type] = set()
    while queue:
        cls = queue.pop()
        if cls not in seen:
            seen.add(cls)
            found.append(f"{cls.__module__}:{cls.__qualname__}")
            queue += cls.__subclasses__()
    return sorted(vars(module)) + sorted(found)


def _close(
    name: str,
    copies: list[Copy],
    labels: dict[str, str],
    describer: Describer,
) -> dict[str, Any]:
    target = copies[0].target
    shadows: dict[str, type] = {}
    mapped: dict[str, list[str]] = {}
    """Test of the target to the labels whose shadow holds it."""
    unlabelled, unmapped, overwritten = [], [], []
    for copy in copies:
        names = made(copy)
        unmapped += [f"{copy.template.__qualname__}.{n}" for n in _uncopied(copy.template, names)]
        by_label: dict[str, list[str]] = {}
        for source, test in names.items():
            if test in labels:
                by_label.setdefault(labels[test], []).append(source)
            else:
                unlabelled.append(test)
        for label, chosen in by_label.items():
            shadow = shadows.setdefault(label, type(f"{name}_{label}", (), {}))
            own = set(vars(shadow))
            copy.into(chosen, shadow)
            for test in [names[source] for source in chosen]:
                mapped.setdefault(test, []).append(label)
                if test in own:
                    overwritten.append(test)
    own_tests = {n for n, v in vars(target).items() if n.startswith("test") and callable(v)}
    in_shadow = {
        n: label for label, cls in shadows.items() for n in vars(cls) if n.startswith("test")
    }
    unequal = _unequal(target, shadows, in_shadow, describer)
    sources_defined = 0
    twice: list[str] = []
    for copy in copies:
        number, missing, facts = _unreached(copy.template, target, describer)
        sources_defined += number
        unmapped += [f"{copy.template.__qualname__}.{item}" for item in missing]
        twice += facts.shadowed if facts else []
    return {
        "target": name,
        "line": copies[0].line,
        "templates": sorted({describer.classes.key(copy.template) for copy in copies}),
        "suffixes": sorted({copy.suffix for copy in copies}),
        "tests": len(own_tests),
        "copied": len(in_shadow),
        "source_methods": sources_defined,
        "labels": {
            label: sum(n.startswith("test") for n in vars(cls)) for label, cls in shadows.items()
        },
        "lost": sorted(own_tests - set(in_shadow)),
        "invented": sorted(set(in_shadow) - own_tests),
        "doubled": sorted(
            {*overwritten, *(test for test, where in mapped.items() if len(where) > 1)}
        ),
        "unlabelled": sorted(unlabelled),
        "unmapped": sorted(unmapped),
        "unequal": unequal,
        "shadowed": twice,
    }


def _uncopied(template: type, names: dict[str, str]) -> list[str]:
    """Test methods of the template that the copier did not copy exactly once."""
    return [name for name in vars(template) if name.startswith("test") and name not in names]


def _unreached(template: type, target: type, describer: Describer) -> tuple[int, list[str], Any]:
    """Number of methods that the template's source defines, those that became no test, facts."""
    written = describer.sources.inside(_file(template))
    facts = describer.sources.facts(written).classes.get(template.__qualname__) if written else None
    if facts is None:
        return 0, [], None
    tests = [name for name in vars(target) if name.startswith("test")]
    reached = {describer.function(vars(target)[n], n, target, {})["base_name"] for n in tests}
    defined = set(facts.defined)
    return len(defined), sorted(defined - reached), facts


def _file(cls: type) -> str:
    return str(getattr(sys.modules.get(cls.__module__), "__file__", ""))


def _unequal(
    target: type, shadows: dict[str, type], in_shadow: dict[str, str], describer: Describer
) -> dict[str, list[str]]:
    """Tests whose copy in the shadow differs from the target's, with the parts that differ."""
    found = {}
    for test, label in in_shadow.items():
        ours, theirs = vars(shadows[label])[test], vars(target).get(test)
        if theirs is None:
            continue
        mine = describer.function(ours, test, target, {})
        other = describer.function(theirs, test, target, {})
        differing = [part for part in COMPARED if mine[part] != other[part]]
        if ours is theirs:
            differing.append("the same object")
        if differing:
            found[test] = differing
    return found
