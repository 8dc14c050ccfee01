# SPDX-License-Identifier: Apache-2.0
"""What reductions become on a GPU, read from the code for one: none is needed to compile for it."""

from __future__ import annotations

import inspect
import re

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

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


def ptx(kernel, constants):
    """The kernel's code for compute capability 9.0, eight warps, sizes and addresses by 16."""
    names = list(inspect.signature(kernel.fn).parameters)
    types = {"x": "*fp32", "out": "*i64" if "places" in names else "*fp32"}
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
