# SPDX-License-Identifier: Apache-2.0
"""What kernels become on a GPU, read from the code for one: none is needed to compile for it."""

from __future__ import annotations

import inspect
import re

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import flag_gems.ops.topk  # noqa: F401  its kernels, and those of sort
from flag_gems.ops import sort_kernels, topk_kernels
from flag_gems.runtime.reductions import kernels

pytestmark = pytest.mark.skipif(
    "nvidia" not in triton.backends.backends, reason="this Triton does not compile for CUDA"
)

FLAT = {"reduced_inner": 1, "reduced_inner_step": 0, "kept_inner": 1, "kept_inner_step": 0}
"""One dimension reduced, one kept."""
ROWS = FLAT | {"reduced_outer_step": 1, "BLOCK_KEPT": 1, "BLOCK_REDUCED": 4096}
COLUMNS = FLAT | {"kept_outer_step": 1, "BLOCK_KEPT": 128, "BLOCK_REDUCED": 32}
SUM = {
    "HOW": "sum",
    "TRUTH": False,
    "MEAN": False,
    "IDENTITY": 0,
    "ACCUMULATE": tl.float32,
}
ARGMAX = {
    "places": None,
    "values": None,
    "LARGEST": True,
    "COMPUTE": tl.float32,
    "LAST": float("-inf"),
}


TILE = {"BLOCK": 2048}
SORTED = TILE | {"DESCENDING": True}
SCATTERED = {
    "keys": "*i32",
    "order": "*i32",
    "offsets": "*i32",
    "out_keys": "*i32",
    "out_order": "*i32",
}
NARROWED = {"keys": "*i64", "known": "*i64", "counts": "*i32"}
COLLECTED = {
    "x": "*fp32",
    "keys": "*i32",
    "known": "*i32",
    "wanted": "*i32",
    "before": "*i32",
    "equal": "*i32",
    "values": "*fp32",
    "indices": "*i64",
}


def ptx(kernel, constants, pointers=None):
    """The kernel's code for compute capability 9.0, eight warps, sizes and addresses by 16."""
    names = list(inspect.signature(kernel.fn).parameters)
    types = pointers or {"x": "*fp32", "out": "*i64" if "places" in names else "*fp32"}
    signature = {
        name: "constexpr" if name in constants else types.get(name, "i32") for name in names
    }
    aligned = {
        (place,): [["tt.divisibility", 16]]
        for place, name in enumerate(names)
        if name not in constants
    }
    values = {(names.index(name),): value for name, value in constants.items()}
    source = ASTSource(kernel.jit, signature, values, aligned)
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 8}).asm[
        "ptx"
    ]


@pytest.mark.parametrize("tile", [ROWS, COLUMNS], ids=["rows", "columns"])
@pytest.mark.parametrize("kept_even", [True, False])
@pytest.mark.parametrize(
    ("kernel", "constants"),
    [(kernels.value_kernel, SUM), (kernels.place_kernel, ARGMAX)],
    ids=["sum", "argmax"],
)
def test_every_load_is_of_128_bits(kernel, constants, tile, kept_even):
    code = ptx(kernel, {**constants, **tile, "KEPT_EVEN": kept_even, "EVEN": True})
    loads = re.findall(r"ld\.global[.\w:]*", code)
    # A program of 256 threads holds 4096 elements of four bytes: four loads each.
    assert len(loads) == 4
    assert all(".v4." in load for load in loads)


@pytest.mark.parametrize(
    ("kernel", "pointers", "constants"),
    [
        (sort_kernels.tile_kernel, {"x": "*bf16", "values": "*bf16", "indices": "*i64"}, SORTED),
        (sort_kernels.encode_kernel, {"x": "*fp64", "keys": "*i64"}, SORTED),
        (sort_kernels.count_kernel, {"keys": "*i32", "counts": "*i32"}, TILE),
        (sort_kernels.scatter_kernel, SCATTERED, TILE | {"FIRST": False}),
        (topk_kernels.narrow_count_kernel, NARROWED, TILE | {"FIRST": False}),
        (topk_kernels.narrow_kernel, NARROWED | {"wanted": "*i32"}, {}),
        (topk_kernels.collect_kernel, COLLECTED, TILE),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_kernels_that_a_cpu_runs_otherwise_compile(kernel, pointers, constants):
    assert ".entry" in ptx(kernel, constants, pointers)
