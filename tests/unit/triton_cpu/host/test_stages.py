# SPDX-License-Identifier: Apache-2.0
"""Each stage can be looked at, and what cannot be compiled is refused by kernel and line."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl

from triton_cpu.codegen import CodegenError
from triton_cpu.compiler import FOLDED, CPUBackend, CPUOptions


@triton.jit
def increment(x):
    tl.store(x, tl.load(x) + 1)


@triton.jit
def with_assembly(x):
    number = tl.load(x)
    copy = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [number], tl.int32, True, 1)
    tl.store(x, copy)


def test_dumps_hold_each_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "dump"
    monkeypatch.setenv("TRITON_CPU_DUMP", str(folder))
    increment.device_caches.clear()
    x = torch.zeros(1, dtype=torch.int32)
    increment[(1,)](x)
    names = {"ttir", "generic.mlir", "ll", "opt.ll", "s", "so"}
    assert {path.name for path in folder.iterdir()} == {f"increment.{name}" for name in names}
    assert '"tt.store"' in (folder / "increment.generic.mlir").read_text()
    assert "define void @increment(" in (folder / "increment.opt.ll").read_text()
    assert (folder / "increment.so").read_bytes().startswith(b"\x7fELF")


def test_machine_code_of_another_machine_is_refused_with_kernel_and_line() -> None:
    with pytest.raises(CodegenError) as caught:
        with_assembly[(1,)](torch.zeros(1, dtype=torch.int32))
    assert caught.value.kernel == "with_assembly"
    line = with_assembly.fn.__code__.co_firstlineno + 3
    assert f"{Path(__file__).name}:{line}" in caught.value.location
    assert "with_assembly" in str(caught.value)


def test_options_without_meaning_are_folded() -> None:
    from triton.backends.compiler import GPUTarget

    backend = CPUBackend(GPUTarget("cpu", "", 1))
    plain = backend.parse_options({})
    assert backend.parse_options({"num_warps": 8, "num_stages": 4, "num_ctas": 2}) == plain
    assert plain.hash() == backend.parse_options({"num_warps": 8}).hash()
    assert plain.hash() != backend.parse_options({"debug": True}).hash()
    assert CPUOptions.__dataclass_fields__.keys() >= FOLDED
