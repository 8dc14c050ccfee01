# SPDX-License-Identifier: Apache-2.0
"""Compares what is attached to one test before and after, and says it as one change.

A dropped decorator takes a line of source, a layer and a mark with it. That is one change with
several traces, so the one that matters most names it and the others are its evidence.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from bench_runner.inventory.audit import OUTCOME_MARKS
from bench_runner.inventory.records import DiscoveredTest, Layer, Mark

PARAMETRISING = re.compile(
    r"^(pytest\.mark\.)?(parametrize|reparametrize|subtest|dtypes\w*|ops|modules|optims|largeTensorTest)\b"
)


@dataclass(frozen=True)
class Change:
    kind: str
    detail: str


def compare(before: DiscoveredTest, after: DiscoveredTest, variants_changed: bool) -> list[Change]:
    """Changes of one test that is there on both sides.

    Args:
        variants_changed: the source method's variants changed; the text of the decorator that
            makes them then changed for that reason.
    """
    changes = []
    attached = _attached(before, after, variants_changed)
    if attached is not None:
        changes.append(attached)
    if before.source.body != after.source.body:
        changes.append(Change("body-changed", "the body differs"))
    if before.parameters != after.parameters:
        changes.append(Change("parameters-changed", _values(before.parameters, after.parameters)))
    if _family(before) != _family(after):
        changes.append(
            Change("template-changed", f"{_shown(before.templates)} -> {_shown(after.templates)}")
        )
    return changes


def _family(test: DiscoveredTest) -> list[str]:
    return [item.rpartition("::")[0] for item in test.templates]


def _shown(items: tuple[str, ...]) -> str:
    return ", ".join(items) or "none"


def _values(before: dict[str, str], after: dict[str, str]) -> str:
    names = [n for n in sorted({*before, *after}) if before.get(n) != after.get(n)]
    return "; ".join(f"{n}: {before.get(n, 'absent')} -> {after.get(n, 'absent')}" for n in names)


def _attached(
    before: DiscoveredTest, after: DiscoveredTest, variants_changed: bool
) -> Change | None:
    traces: list[tuple[str, str]] = []
    for group, kinds in (("mark", OUTCOME_MARKS), ("gate", ("gate",))):
        change = _marks(_of(before, kinds), _of(after, kinds))
        if change:
            traces.append((f"{group}-{change[0]}", change[1]))
    layers = _layers(before.layers, after.layers)
    if layers:
        traces.append((f"layer-{layers[0]}", layers[1]))
    decorators = _decorators(before, after, variants_changed)
    if decorators:
        traces.append(("decorator-changed", decorators))
    custom = _marks(_of(before, ("custom",)), _of(after, ("custom",)))
    if custom and not (variants_changed and _only_parametrising(before, after)):
        traces.append(("custom-mark-changed", custom[1]))
    if not traces:
        return None
    return Change(traces[0][0], "; ".join(dict.fromkeys(text for _, text in traces)))


def _of(test: DiscoveredTest, kinds: tuple[str, ...]) -> list[Mark]:
    return [mark for mark in test.marks if mark.kind in kinds]


def _mark(mark: Mark) -> str:
    shown = mark.kind if mark.kind != "custom" else ""
    name = " ".join(part for part in (shown, mark.name) if part)
    return name + (f" ({mark.reason})" if mark.reason else "")


def _marks(before: list[Mark], after: list[Mark]) -> tuple[str, str] | None:
    lost = [mark for mark in before if mark not in after]
    gained = [mark for mark in after if mark not in before]
    if not lost and not gained:
        return None
    word = "changed" if lost and gained else "lost" if lost else "gained"
    text = [f"{_mark(mark)} lost" for mark in lost] + [f"{_mark(mark)} gained" for mark in gained]
    return word, "; ".join(text)


def _layer(layer: Layer) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    return layer.name, layer.body, tuple(sorted(layer.captures.items()))


def _layers(before: tuple[Layer, ...], after: tuple[Layer, ...]) -> tuple[str, str] | None:
    old, new = list(map(_layer, before)), list(map(_layer, after))
    if old == new:
        return None
    lost, gained = Counter(old) - Counter(new), Counter(new) - Counter(old)
    if not lost and not gained:
        return "changed", "layers in another order"
    names_lost = Counter(name for name, *_ in lost.elements())
    names_gained = Counter(name for name, *_ in gained.elements())
    only_lost = names_lost - names_gained
    only_gained = names_gained - names_lost
    both = names_lost & names_gained
    text = [f"layer {name} lost" for name in only_lost]
    text += [f"layer {name} gained" for name in only_gained]
    text += [f"layer {name} differs" for name in both]
    if both or (only_lost and only_gained):
        return "changed", "; ".join(text)
    return ("lost" if only_lost else "gained"), "; ".join(text)


def _decorators(
    before: DiscoveredTest, after: DiscoveredTest, variants_changed: bool
) -> str | None:
    old, new = list(before.source.decorators), list(after.source.decorators)
    if variants_changed:
        old = [item for item in old if not PARAMETRISING.match(item)]
        new = [item for item in new if not PARAMETRISING.match(item)]
    if old == new:
        return None
    lost = [f"@{item} lost" for item in (Counter(old) - Counter(new)).elements()]
    gained = [f"@{item} gained" for item in (Counter(new) - Counter(old)).elements()]
    return "; ".join(lost + gained) or "decorators in another order"


def _only_parametrising(before: DiscoveredTest, after: DiscoveredTest) -> bool:
    names = {mark.name for test in (before, after) for mark in _of(test, ("custom",))}
    return names <= {"parametrize_fn", "dtypes", "parametrize"}
