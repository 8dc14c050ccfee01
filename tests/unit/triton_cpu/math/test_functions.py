# SPDX-License-Identifier: Apache-2.0
"""Each function alone against exact values: dense, random, and at the edges of its type."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.triton_cpu.math.apply import compiled
from tests.unit.triton_cpu.math.bounds import BOUNDS
from triton_cpu.math import FUNCTIONS

TYPES = {"float": np.float32, "double": np.float64}
_made: dict[tuple[str, str, int], object] = {}


def run(name: str, scalar: str, *arrays: np.ndarray, lanes: int = 8) -> np.ndarray:
    key = (name, scalar, lanes)
    if key not in _made:
        _made[key] = compiled(FUNCTIONS[name], [scalar] * len(arrays), scalar, lanes)
    return _made[key](*arrays)


def edges(scalar: str) -> np.ndarray:
    kind = TYPES[scalar]
    info = np.finfo(kind)
    positive = [0.0, info.smallest_subnormal, info.tiny, info.eps, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    positive += [1 - info.epsneg, 1 + info.eps, 10.0, 100.0, 1e6, 1e9, 1e15, 1e30, info.max, np.inf]
    values = np.array(positive + [info.tiny / 2, np.sqrt(info.tiny), np.sqrt(info.max)], kind)
    return np.concatenate([values, -values, np.array([np.nan], kind)])


def ulps(got: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Distance in units in the last place of ``got``'s type; 0 where both are the same non-number,
    infinite where only one is."""
    kind = got.dtype.type
    with np.errstate(all="ignore"):
        rounded = exact.astype(kind)
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        unit = np.spacing(np.minimum(np.abs(rounded), np.finfo(kind).max)).astype(np.longdouble)
        distance = np.abs(got.astype(np.longdouble) - exact) / unit
        # Beyond the largest number by less than a place, infinity is one place off.
        over = np.isinf(got) != np.isinf(rounded)
        distance = np.where(over, np.where(np.abs(distance) < 2, 1.0, np.inf), distance)
        distance = np.where(np.isnan(got) != np.isnan(rounded), np.inf, distance)
        return np.where(same, np.where(np.isfinite(distance), distance, 0), distance)


def check(name: str, scalar: str, *arrays: np.ndarray, lanes: int = 8) -> None:
    bound = BOUNDS[name]
    limit = bound.single if scalar == "float" else bound.double
    got = run(symbol(name, scalar), scalar, *arrays, lanes=lanes)
    with np.errstate(all="ignore"):
        exact = bound.reference(*[array.astype(np.longdouble) for array in arrays])
    off = ulps(got, exact)
    worst = int(np.argmax(off))
    at = [array[worst] for array in arrays]
    assert off[worst] <= limit, f"{off[worst]} ulp at {at}: {got[worst]}, exact {exact[worst]}"


def symbol(name: str, scalar: str) -> str:
    return name + "f" if name.startswith("__nv_") and scalar == "float" else name


def dense(name: str, scalar: str, count: int) -> list[np.ndarray]:
    """Evenly over the span, and by magnitude within it."""
    bound = BOUNDS[name]
    random = np.random.default_rng(1)
    low, high = bound.span
    arrays = []
    for _ in range(bound.arguments):
        even = random.uniform(low, high, count // 2)
        tiny = np.exp(random.uniform(-25, np.log(max(abs(low), abs(high))), count - count // 2))
        if low < 0:
            tiny *= random.choice([-1, 1], tiny.size)
        arrays.append(np.clip(np.concatenate([even, tiny]), low, high).astype(TYPES[scalar]))
    return arrays


CASES = [(name, scalar) for name in BOUNDS for scalar in TYPES]


@pytest.mark.parametrize(("name", "scalar"), CASES)
def test_dense_arguments_stay_within_the_bound(name: str, scalar: str) -> None:
    count = 600 if BOUNDS[name].costly else 40_000
    check(name, scalar, *dense(name, scalar, count))


FAR_OUT = {
    # Domains that mpmath or longdouble answer differently from C99 at the edges.
    "__nv_lgamma",
    "__nv_tgamma",
    "__nv_erfcx",
}


@pytest.mark.parametrize(("name", "scalar"), [case for case in CASES if case[0] not in FAR_OUT])
def test_edge_values(name: str, scalar: str) -> None:
    values = edges(scalar)
    if BOUNDS[name].arguments == 2:
        left, right = np.meshgrid(values, values)
        check(name, scalar, left.reshape(-1), right.reshape(-1))
    else:
        if BOUNDS[name].costly:
            # mpmath sums series of as many terms as the argument is large.
            values = values[~(np.abs(values) > 50) | np.isinf(values)]
        check(name, scalar, values)


@pytest.mark.parametrize("name", ["math.exp", "math.log2", "math.sin", "math.atan2", "math.erf"])
@pytest.mark.parametrize("lanes", [0, 3, 32])
def test_any_number_of_lanes_gives_the_same(name: str, lanes: int) -> None:
    arguments = dense(name, "float", 96)
    expected = run(name, "float", *arguments)
    assert np.array_equal(run(name, "float", *arguments, lanes=lanes), expected)


ODD = ["math.sin", "math.tan", "math.asin", "math.atan", "math.sinh", "math.tanh", "math.erf"]
ODD += ["math.expm1", "math.log1p", "math.asinh", "math.atanh", "math.cbrt", "math.sqrt"]
ODD += ["math.roundeven", "math.floor", "math.trunc", "math.ceil", "math.round", "__nv_sinpi"]


@pytest.mark.parametrize("scalar", TYPES)
@pytest.mark.parametrize("name", ODD)
def test_zeros_keep_their_sign(name: str, scalar: str) -> None:
    zeros = np.array([0.0, -0.0], TYPES[scalar])
    assert np.signbit(run(symbol(name, scalar), scalar, zeros)).tolist() == [False, True]


ELEMENTARY = [name for name in BOUNDS if not BOUNDS[name].costly]


@pytest.mark.parametrize("scalar", TYPES)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_drawn_arguments(scalar: str, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(ELEMENTARY))
    width = 32 if scalar == "float" else 64
    numbers = st.lists(st.floats(width=width), min_size=1, max_size=20)
    arrays = [np.array(data.draw(numbers), TYPES[scalar])]
    if BOUNDS[name].arguments == 2:
        second = st.lists(st.floats(width=width), min_size=arrays[0].size, max_size=arrays[0].size)
        arrays.append(np.array(data.draw(second), TYPES[scalar]))
    check(name, scalar, *arrays)
