# SPDX-License-Identifier: Apache-2.0
"""The one table of operators. Every other list of operators in this repository is made from it.

Only the standard library is imported, and the file also runs on its own, so that a program without
torch can read the table: ``python flag_gems/catalog.py --json``.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from typing import Any

SCHEMA_VERSION = "flaggems.catalog/v1"


@dataclass(frozen=True)
class Operator:
    """One public operator, ``flag_gems.<name>``; the name is also its pytest mark."""

    name: str
    module: str
    """Module that holds the kernel and its wrappers."""
    test: str
    """Accuracy test file, relative to the repository root."""
    benchmark: str
    """Benchmark file, relative to the repository root."""
    aten: tuple[tuple[str, str], ...] = ()
    """(ATen key without namespace, function of ``module`` that is registered for it)."""
    extra: tuple[str, ...] = ()
    """Functions of ``module`` that ``flag_gems`` exposes without an ATen key of their own."""
    cpp: str | None = None
    """Name in the C++ layer, ``torch.ops.flag_gems.<cpp>``; None where there is none."""
    capabilities: tuple[str, ...] = field(default=())
    """What the public function offers beyond its forward pass: ``autograd``, ``inplace``."""

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of all functions that ``flag_gems`` exposes for it, the public one first."""
        bound = (function for _, function in self.aten)
        return tuple(dict.fromkeys((self.name, *bound, *self.extra)))

    def record(self) -> dict[str, Any]:
        """The operator as a JSON object."""
        return {
            "name": self.name,
            "module": self.module,
            "aten": [key for key, _ in self.aten],
            "functions": list(self.functions),
            "cpp": self.cpp,
            "capabilities": list(self.capabilities),
            "test": self.test,
            "benchmark": self.benchmark,
        }


OPERATORS: tuple[Operator, ...] = (
    Operator(
        name="add",
        module="flag_gems.ops.add",
        aten=(("add.Tensor", "add"), ("add_.Tensor", "add_"), ("add.out", "add_out")),
        cpp="add_tensor",
        test="tests/test_add.py",
        benchmark="benchmark/test_add.py",
    ),
    Operator(
        name="sub",
        module="flag_gems.ops.add",
        aten=(
            ("sub.Tensor", "sub"),
            ("sub_.Tensor", "sub_"),
            ("sub.out", "sub_out"),
            ("rsub.Tensor", "rsub"),
        ),
        test="tests/test_add.py",
        benchmark="benchmark/test_add.py",
    ),
    Operator(
        name="mul",
        module="flag_gems.ops.mul",
        aten=(("mul.Tensor", "mul"), ("mul_.Tensor", "mul_"), ("mul.out", "mul_out")),
        test="tests/test_mul.py",
        benchmark="benchmark/test_mul.py",
    ),
    Operator(
        name="div",
        module="flag_gems.ops.div",
        aten=(
            ("div.Tensor", "div"),
            ("div_.Tensor", "div_"),
            ("div.out", "div_out"),
            ("div.Tensor_mode", "div_mode"),
            ("div_.Tensor_mode", "div_mode_"),
            ("div.out_mode", "div_mode_out"),
        ),
        extra=("true_divide", "true_divide_", "trunc_divide"),
        cpp="div_mode",
        test="tests/test_div.py",
        benchmark="benchmark/test_div.py",
    ),
    Operator(
        name="floor_divide",
        module="flag_gems.ops.div",
        aten=(
            ("floor_divide", "floor_divide"),
            ("floor_divide_.Tensor", "floor_divide_"),
            ("floor_divide.out", "floor_divide_out"),
        ),
        cpp="floor_div",
        test="tests/test_div.py",
        benchmark="benchmark/test_div.py",
    ),
    Operator(
        name="remainder",
        module="flag_gems.ops.div",
        aten=(
            ("remainder.Tensor", "remainder"),
            ("remainder_.Tensor", "remainder_"),
            ("remainder.Scalar_Tensor", "remainder_scalar_tensor"),
            ("remainder.Tensor_out", "remainder_out"),
        ),
        cpp="remainder",
        test="tests/test_div.py",
        benchmark="benchmark/test_div.py",
    ),
    *(
        Operator(
            name=name,
            module="flag_gems.ops.unary",
            aten=((name, name), (f"{name}_", f"{name}_"), (f"{name}.out", f"{name}_out")),
            test=f"tests/test_{name}.py" if name in ("abs", "neg") else "tests/test_unary.py",
            benchmark="benchmark/test_unary.py",
        )
        for name in (
            "abs",
            "neg",
            "exp",
            "log",
            "sqrt",
            "rsqrt",
            "reciprocal",
            "sin",
            "cos",
            "tanh",
            "sigmoid",
            "silu",
            "bitwise_not",
        )
    ),
    Operator(
        name="relu",
        module="flag_gems.ops.unary",
        aten=(("relu", "relu"), ("relu_", "relu_")),
        test="tests/test_unary.py",
        benchmark="benchmark/test_unary.py",
    ),
    Operator(
        name="gelu",
        module="flag_gems.ops.unary",
        aten=(("gelu", "gelu"),),
        test="tests/test_unary.py",
        benchmark="benchmark/test_unary.py",
    ),
    *(
        Operator(
            name=name,
            module="flag_gems.ops.compare",
            aten=((f"{name}.Tensor", name), (f"{name}.Scalar", f"{name}_scalar")),
            test="tests/test_compare.py",
            benchmark="benchmark/test_compare.py",
        )
        for name in ("eq", "ne", "lt", "le", "gt", "ge")
    ),
    *(
        Operator(
            name=name,
            module="flag_gems.ops.compare",
            aten=((name, name),),
            test="tests/test_compare.py",
            benchmark="benchmark/test_compare.py",
        )
        for name in ("maximum", "minimum")
    ),
    Operator(
        name="fill",
        module="flag_gems.ops.fill",
        aten=(
            ("fill.Scalar", "fill_scalar"),
            ("fill.Tensor", "fill_tensor"),
            ("fill_.Scalar", "fill_scalar_"),
            ("fill_.Tensor", "fill_tensor_"),
            ("zero_", "zero_"),
        ),
        extra=("fill_",),
        cpp="fill_scalar",
        test="tests/test_fill.py",
        benchmark="benchmark/test_fill.py",
    ),
    Operator(
        name="copy_",
        module="flag_gems.ops.copy",
        aten=(("copy_", "copy_"),),
        cpp="copy_",
        capabilities=("inplace",),
        test="tests/test_copy.py",
        benchmark="benchmark/test_copy.py",
    ),
    Operator(
        name="to_copy",
        module="flag_gems.ops.copy",
        aten=(("_to_copy", "to_copy"),),
        cpp="to_copy",
        test="tests/test_copy.py",
        benchmark="benchmark/test_copy.py",
    ),
    Operator(
        name="contiguous",
        module="flag_gems.ops.copy",
        aten=(("clone", "clone"),),
        cpp="contiguous",
        test="tests/test_copy.py",
        benchmark="benchmark/test_copy.py",
    ),
    Operator(
        name="softmax",
        module="flag_gems.ops.softmax",
        aten=(("_softmax", "softmax"), ("_softmax.out", "softmax_out")),
        cpp="softmax",
        capabilities=("autograd",),
        test="tests/test_softmax.py",
        benchmark="benchmark/test_softmax.py",
    ),
    Operator(
        name="softmax_backward",
        module="flag_gems.ops.softmax",
        aten=(("_softmax_backward_data", "softmax_backward"),),
        cpp="softmax_backward",
        test="tests/test_softmax.py",
        benchmark="benchmark/test_softmax.py",
    ),
    Operator(
        name="layer_norm",
        module="flag_gems.ops.layer_norm",
        aten=(("native_layer_norm", "native_layer_norm"),),
        capabilities=("autograd",),
        test="tests/test_layer_norm.py",
        benchmark="benchmark/test_layer_norm.py",
    ),
    Operator(
        name="rms_norm",
        module="flag_gems.fused.rms_norm",
        cpp="rms_norm",
        capabilities=("autograd",),
        test="tests/test_rms_norm.py",
        benchmark="benchmark/test_rms_norm.py",
    ),
    Operator(
        name="fused_add_rms_norm",
        module="flag_gems.fused.fused_add_rms_norm",
        cpp="fused_add_rms_norm",
        capabilities=("inplace",),
        test="tests/test_fused_add_rms_norm.py",
        benchmark="benchmark/test_fused_add_rms_norm.py",
    ),
    Operator(
        name="silu_and_mul",
        module="flag_gems.fused.silu_and_mul",
        capabilities=("autograd",),
        test="tests/test_silu_and_mul.py",
        benchmark="benchmark/test_silu_and_mul.py",
    ),
    Operator(
        name="silu_and_mul_out",
        module="flag_gems.fused.silu_and_mul",
        test="tests/test_silu_and_mul.py",
        benchmark="benchmark/test_silu_and_mul.py",
    ),
    Operator(
        name="apply_rotary_pos_emb",
        module="flag_gems.fused.rotary_embedding",
        cpp="rotary_embedding",
        capabilities=(
            "autograd",
            "inplace",
        ),
        test="tests/test_apply_rotary_pos_emb.py",
        benchmark="benchmark/test_apply_rotary_pos_emb.py",
    ),
    Operator(
        name="flash_attn_varlen_func",
        module="flag_gems.fused.flash_attention",
        cpp="flash_attn_varlen_func",
        test="tests/test_flash_attn_varlen_func.py",
        benchmark="benchmark/test_flash_attn_varlen_func.py",
    ),
    Operator(
        name="flash_attn_varlen_opt_func",
        module="flag_gems.fused.flash_attention",
        test="tests/test_flash_attn_varlen_func.py",
        benchmark="benchmark/test_flash_attn_varlen_func.py",
    ),
    Operator(
        name="reshape_and_cache_flash",
        module="flag_gems.fused.reshape_and_cache_flash",
        cpp="reshape_and_cache_flash",
        capabilities=("inplace",),
        test="tests/test_reshape_and_cache_flash.py",
        benchmark="benchmark/test_reshape_and_cache_flash.py",
    ),
    Operator(
        name="rwkv_mm_sparsity",
        module="flag_gems.fused.rwkv_mm_sparsity",
        cpp="rwkv_mm_sparsity",
        test="tests/test_rwkv_mm_sparsity.py",
        benchmark="benchmark/test_rwkv_mm_sparsity.py",
    ),
    Operator(
        name="rwkv_ka_fusion",
        module="flag_gems.fused.rwkv_ka_fusion",
        cpp="rwkv_ka_fusion",
        test="tests/test_rwkv_ka_fusion.py",
        benchmark="benchmark/test_rwkv_ka_fusion.py",
    ),
    Operator(
        name="mm",
        module="flag_gems.ops.mm",
        aten=(("mm", "mm"), ("mm.out", "mm_out")),
        cpp="mm",
        capabilities=("autograd",),
        test="tests/test_mm.py",
        benchmark="benchmark/test_mm.py",
    ),
    Operator(
        name="addmm",
        module="flag_gems.ops.addmm",
        aten=(("addmm", "addmm"), ("addmm.out", "addmm_out")),
        cpp="addmm",
        capabilities=("autograd",),
        test="tests/test_addmm.py",
        benchmark="benchmark/test_addmm.py",
    ),
    Operator(
        name="bmm",
        module="flag_gems.ops.bmm",
        aten=(("bmm", "bmm"), ("bmm.out", "bmm_out")),
        cpp="bmm",
        capabilities=("autograd",),
        test="tests/test_bmm.py",
        benchmark="benchmark/test_bmm.py",
    ),
    Operator(
        name="baddbmm",
        module="flag_gems.ops.addmm",
        aten=(
            ("baddbmm", "baddbmm"),
            ("baddbmm.out", "baddbmm_out"),
            ("baddbmm_", "baddbmm_"),
        ),
        capabilities=("autograd", "inplace"),
        test="tests/test_baddbmm.py",
        benchmark="benchmark/test_bmm.py",
    ),
    Operator(
        name="addmm_",
        module="flag_gems.ops.addmm",
        aten=(("addmm_", "addmm_"),),
        capabilities=("inplace",),
        test="tests/test_addmm_.py",
        benchmark="benchmark/test_addmm_.py",
    ),
    *(
        Operator(
            name=name,
            module="flag_gems.ops.zeros",
            aten=((name, name), (f"{name}_like", f"{name}_like")),
            cpp="zeros" if name == "zeros" else None,
            test="tests/test_zeros.py",
            benchmark="benchmark/test_zeros.py",
        )
        for name in ("zeros", "ones", "full")
    ),
    Operator(
        name="cat",
        module="flag_gems.ops.cat",
        aten=(("cat", "cat"), ("cat.out", "cat_out")),
        cpp="cat",
        test="tests/test_cat.py",
        benchmark="benchmark/test_cat.py",
    ),
    Operator(
        name="embedding",
        module="flag_gems.ops.embedding",
        aten=(
            ("embedding", "embedding"),
            ("embedding_dense_backward", "embedding_dense_backward"),
        ),
        cpp="embedding",
        test="tests/test_embedding.py",
        benchmark="benchmark/test_embedding.py",
    ),
    Operator(
        name="exponential_",
        module="flag_gems.ops.exponential_",
        aten=(("exponential_", "exponential_"),),
        cpp="exponential_",
        capabilities=("inplace",),
        test="tests/test_exponential_.py",
        benchmark="benchmark/test_exponential_.py",
    ),
    Operator(
        name="sum",
        module="flag_gems.ops.sum",
        aten=(("sum", "sum"), ("sum.dim_IntList", "sum_dim"), ("sum.IntList_out", "sum_out")),
        cpp="sum",
        test="tests/test_sum.py",
        benchmark="benchmark/test_reduction_perf.py",
    ),
    Operator(
        name="mean",
        module="flag_gems.ops.sum",
        aten=(("mean", "mean"), ("mean.dim", "mean_dim")),
        test="tests/test_sum.py",
        benchmark="benchmark/test_reduction_perf.py",
    ),
    Operator(
        name="prod",
        module="flag_gems.ops.sum",
        aten=(("prod", "prod"), ("prod.dim_int", "prod_dim")),
        test="tests/test_sum.py",
        benchmark="benchmark/test_reduction_perf.py",
    ),
    Operator(
        name="max",
        module="flag_gems.ops.max",
        aten=(("max", "max"), ("max.dim", "max_dim")),
        cpp="max",
        test="tests/test_max.py",
        benchmark="benchmark/test_reduction_perf.py",
    ),
    Operator(
        name="min",
        module="flag_gems.ops.max",
        aten=(("min", "min"), ("min.dim", "min_dim")),
        test="tests/test_max.py",
        benchmark="benchmark/test_reduction_perf.py",
    ),
    Operator(
        name="amax",
        module="flag_gems.ops.max",
        aten=(("amax", "amax"), ("amax.out", "amax_out")),
        test="tests/test_max.py",
        benchmark="benchmark/test_reduction_perf.py",
    ),
    Operator(
        name="amin",
        module="flag_gems.ops.max",
        aten=(("amin", "amin"), ("amin.out", "amin_out")),
        test="tests/test_max.py",
        benchmark="benchmark/test_reduction_perf.py",
    ),
    Operator(
        name="argmax",
        module="flag_gems.ops.max",
        aten=(("argmax", "argmax"),),
        cpp="argmax",
        test="tests/test_argmax.py",
        benchmark="benchmark/test_reduction_perf.py",
    ),
    Operator(
        name="argmin",
        module="flag_gems.ops.max",
        aten=(("argmin", "argmin"),),
        test="tests/test_argmax.py",
        benchmark="benchmark/test_reduction_perf.py",
    ),
    Operator(
        name="any",
        module="flag_gems.ops.any",
        aten=(("any", "any"), ("any.dim", "any_dim"), ("any.dims", "any_dim")),
        test="tests/test_any.py",
        benchmark="benchmark/test_reduction_perf.py",
    ),
    Operator(
        name="all",
        module="flag_gems.ops.any",
        aten=(("all", "all"), ("all.dim", "all_dim"), ("all.dims", "all_dim")),
        test="tests/test_any.py",
        benchmark="benchmark/test_reduction_perf.py",
    ),
    Operator(
        name="sort",
        module="flag_gems.ops.sort",
        aten=(
            ("sort", "sort"),
            ("sort.stable", "sort_stable"),
            ("sort.values_stable", "sort_out"),
        ),
        extra=("argsort",),
        cpp="sort",
        test="tests/test_sort.py",
        benchmark="benchmark/test_sort.py",
    ),
    Operator(
        name="topk",
        module="flag_gems.ops.topk",
        aten=(("topk", "topk"), ("topk.values", "topk_out")),
        cpp="topk",
        test="tests/test_topk.py",
        benchmark="benchmark/test_topk.py",
    ),
    Operator(
        name="nonzero",
        module="flag_gems.ops.nonzero",
        aten=(
            ("nonzero", "nonzero"),
            ("nonzero.out", "nonzero_out"),
            ("nonzero_static", "nonzero_static"),
        ),
        cpp="nonzero",
        test="tests/test_nonzero.py",
        benchmark="benchmark/test_nonzero.py",
    ),
)

BY_NAME: dict[str, Operator] = {operator.name: operator for operator in OPERATORS}


def document() -> dict[str, Any]:
    """The whole table as one JSON document of schema ``flaggems.catalog/v1``."""
    return {
        "schema_version": SCHEMA_VERSION,
        "operators": [operator.record() for operator in OPERATORS],
    }


def markdown() -> str:
    """The table as docs/operators.md shows it."""
    rows = ["| operator | ATen keys | further functions | C++ | offers |", "|---|---|---|---|---|"]
    for operator in OPERATORS:
        bound = {function for _, function in operator.aten} | {operator.name}
        rows.append(
            f"| `{operator.name}` "
            f"| {', '.join(f'`{key}`' for key, _ in operator.aten)} "
            f"| {', '.join(f'`{name}`' for name in operator.functions if name not in bound)} "
            f"| {f'`{operator.cpp}`' if operator.cpp else ''} "
            f"| {', '.join(operator.capabilities)} |"
        )
    return "\n".join(rows) + "\n"


def main() -> None:
    """Prints the table: one name a line, a JSON document, or Markdown."""
    parser = argparse.ArgumentParser(description="Lists the operators of flag_gems.")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON document")
    form.add_argument("--markdown", action="store_true", help="print the table of the documents")
    chosen = parser.parse_args()
    if chosen.json:
        print(json.dumps(document(), indent=2))
    elif chosen.markdown:
        print(markdown(), end="")
    else:
        print("\n".join(BY_NAME))


if __name__ == "__main__":
    main()
