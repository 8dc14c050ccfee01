# SPDX-License-Identifier: Apache-2.0
"""AOTInductor's launcher runs kernels without Python's launcher, and in a packaged model."""

from __future__ import annotations

import ctypes
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from triton_cpu.binary.native_launcher import NoNativeLauncher, launcher_ir


@triton.jit
def scaled(x, out, n, scale, BLOCK: tl.constexpr, wide, flag):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.sort(tl.load(x + at, mask=at < n, other=float("inf")))
    value = tl.where(flag, value * scale, value) + wide.to(tl.float32)
    tl.store(out + at, value, mask=at < n)


@triton.jit
def checked(x, limit, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at)
    tl.device_assert(value < limit, "too large")
    tl.store(x + at, value + 1)


def _arrays(*arguments: Any) -> Any:
    """``void**`` as torch's generated code fills it: addresses, numbers by address, null."""
    held = [
        None
        if argument is None
        else argument.data_ptr()
        if isinstance(argument, torch.Tensor)
        else ctypes.addressof(argument)
        for argument in arguments
    ]
    return (ctypes.c_void_p * len(held))(*held)


def _open(compiled: Any, folder: Path) -> tuple[Any, Any]:
    """run_from_nativert and the kernel's address, each out of a file as in a packaged model."""
    (folder / "kernel.so").write_bytes(compiled.asm["so"])
    (folder / "launcher.so").write_bytes(compiled.asm.get("launcher.so"))
    kernel = ctypes.CDLL(str(folder / "kernel.so"))
    launcher = ctypes.CDLL(str(folder / "launcher.so"))
    return launcher.run_from_nativert, ctypes.cast(
        getattr(kernel, compiled.metadata.name), ctypes.c_void_p
    )


@pytest.mark.parametrize("threads", [1, 2])
def test_the_launcher_runs_a_grid_by_the_original_signature(tmp_path: Path, threads: int) -> None:
    n, block = 1000, 64
    x = torch.randn(n)
    out = torch.zeros(n)
    grid = triton.cdiv(n, block)
    compiled = scaled.warmup(x, out, n, 1.5, block, -(1 << 40), True, grid=(grid,))
    run, kernel = _open(compiled, tmp_path)
    numbers = [ctypes.c_int64(n), ctypes.c_float(1.5), ctypes.c_int64(-(1 << 40))]
    arguments = [x, out, *numbers[:2], None, numbers[2], ctypes.c_bool(True)]
    run(grid, 1, 1, threads, _arrays(*arguments), kernel)
    padded = torch.cat([x, torch.full((grid * block - n,), torch.inf)]).view(grid, block)
    expected = padded.sort(dim=1).values.flatten()[:n] * 1.5 - float(1 << 40)
    assert torch.equal(out, expected)


def test_a_failed_assertion_ends_a_process_without_python_launches(tmp_path: Path) -> None:
    x = torch.arange(4.0)
    compiled = checked.warmup(x, 2.0, 4, debug=True, grid=(1,))
    _open(compiled, tmp_path)
    program = """
import ctypes, sys
folder, name = sys.argv[1:]
kernel = ctypes.CDLL(folder + "/kernel.so")
run = ctypes.CDLL(folder + "/launcher.so").run_from_nativert
for limit in (9.0, 2.0):
    x, bound = (ctypes.c_float * 4)(0, 1, 2, 3), ctypes.c_float(limit)
    arguments = (ctypes.c_void_p * 3)(ctypes.addressof(x), ctypes.addressof(bound), None)
    run(1, 1, 1, 1, arguments, ctypes.cast(getattr(kernel, name), ctypes.c_void_p))
    print(list(x), flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), compiled.metadata.name],
        capture_output=True,
        text=True,
    )
    assert done.stdout == "[1.0, 2.0, 3.0, 4.0]\n"
    assert "too large" in done.stderr
    assert done.returncode == -signal.SIGABRT


def test_what_that_interface_cannot_pass_is_refused() -> None:
    with pytest.raises(NoNativeLauncher, match="argument 1"):
        launcher_ir(["*fp32", ("i32", "i32")], 0)


@triton.jit
def softmax_rows(x, out, columns, scale, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.load(x + tl.program_id(0) * columns + at, mask=inside, other=-float("inf"))
    grown = tl.exp(row - tl.max(row, 0))
    result = grown / tl.sum(grown, 0) * scale
    tl.store(out + tl.program_id(0) * columns + at, result, mask=inside)


class Model(torch.nn.Module):
    """A product, which stays torch's own, into a kernel of ours.

    Kernels that Inductor writes itself cannot be packaged for a CPU by torch 2.13: it counts their
    block sizes among the arguments that its wrapper is given (_resolve_arg_names).
    """

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        product = x @ x.T
        out = torch.empty_like(product)
        softmax_rows[(product.shape[0],)](product, out, product.shape[1], 2, BLOCK=64)
        return out


@pytest.mark.skipif(shutil.which("g++") is None, reason="AOTInductor itself compiles C++")
def test_a_packaged_model_runs_these_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--quick", default=False):
        pytest.skip("half a minute of a C++ compiler; the launcher itself is tested above")
    from torch._inductor import aoti_compile_and_package, aoti_load_package, codecache, config

    if not hasattr(codecache, "CpuTritonKernelCache"):
        pytest.skip("this torch packages no CPU kernels of Triton")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "inductor"))
    x = torch.randn(33, 70)
    # The wrapper's optimisation is most of the time and none of what is tested.
    choices = {"cpu_backend": "triton", "aot_inductor.compile_wrapper_opt_level": "O0"}
    with config.patch(choices):
        program = torch.export.export(Model(), (x,), strict=True)
        package = aoti_compile_and_package(program, package_path=str(tmp_path / "m.pt2"))
    with zipfile.ZipFile(package) as archive:
        held = [archive.read(name) for name in archive.namelist() if name.endswith(".so")]
    assert any(b"run_from_nativert\0" in binary and b"GOMP_parallel" in binary for binary in held)
    assert any(b"softmax_rows\0" in binary for binary in held)
    expected = torch.softmax(x.double() @ x.double().T, dim=1) * 2
    # Products of 70 terms of f32 go into exp: its relative error is their absolute one.
    tolerance = 70 * float((x.double() @ x.double().T).abs().max()) * torch.finfo(torch.float32).eps
    found = aoti_load_package(package)(x)
    torch.testing.assert_close(found.double(), expected, rtol=tolerance, atol=1e-6)
