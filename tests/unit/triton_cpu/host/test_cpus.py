# SPDX-License-Identifier: Apache-2.0
"""Code for other CPUs than this one: its instructions are looked at, it is not run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import llvmlite.binding as llvm
import pytest
import torch

from triton_cpu import bench_kernels, host
from triton_cpu.binary.link import link
from triton_cpu.binary.optimise import compile_object
from triton_cpu.binary.python_call import PYTHON_CALL_IR
from triton_cpu.binary.runtime import RUNTIME_IR
from triton_cpu.host import CPU

AVX2 = CPU("x86_64", "x86-64-v3", "")
AVX512 = CPU("x86_64", "x86-64-v4", "")
ARM = CPU("aarch64", "generic", "")
ARM_WITH_BF16 = CPU("aarch64", "neoverse-v1", "+neon,+bf16,+fullfp16")

# Registers that only AVX-512 has: 512 bits wide, numbers from 16 on, and masks.
AVX512_REGISTERS = re.compile(r"%(zmm\d+|[xy]mm(1[6-9]|2\d|3[01])|k[0-7])\b")

x, row = torch.empty(64, 64), torch.empty(64)
half = torch.empty(64, 64, dtype=torch.bfloat16)
square = (*[64] * 3, *[64, 1] * 3)
tile = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32}
ATTENTION = {"BLOCK_M": 32, "BLOCK_N": 32, "DIM": 64}
KERNELS = {
    "add": (bench_kernels.add_kernel, (x, x, x, 4096), {"BLOCK": 1024}),
    "softmax": (bench_kernels.softmax_kernel, (x, x, 64), {"BLOCK": 64}),
    "layer_norm": (bench_kernels.layer_norm_kernel, (x, row, row, x, 64, 1e-5), {"BLOCK": 64}),
    "argmax": (bench_kernels.argmax_kernel, (x, row.long(), 64), {"BLOCK": 64}),
    "sum": (bench_kernels.partial_sum_kernel, (x, row, 4096), {"BLOCK": 1024}),
    "matmul": (bench_kernels.matmul_kernel, (x, x, x, *square), tile),
    "bf16_matmul": (bench_kernels.matmul_kernel, (half, half, half, *square), tile),
    "attention": (bench_kernels.attention_kernel, (x, x, x, x, 0.125, 64), ATTENTION),
}  # fmt: skip


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, CPU], bytes]:
    """Gives the shared object of a kernel for a CPU."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()

    def compile_for(name: str, cpu: CPU) -> bytes:
        kernel, arguments, constants = KERNELS[name]
        monkeypatch.setattr(host, "cpu", lambda: cpu)
        kernel.device_caches.clear()
        try:
            return bytes(kernel.warmup(*arguments, **constants, grid=(1,)).asm["so"])
        finally:
            kernel.device_caches.clear()

    return compile_for


def disassembly(binary: bytes, folder: Path) -> str:
    if shutil.which("objdump") is None:
        pytest.skip("no objdump on this machine")
    path = folder / "code.so"
    path.write_bytes(binary)
    command = ["objdump", "--disassemble", "--no-show-raw-insn", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", KERNELS)
def test_code_for_avx2_has_nothing_of_avx512(
    name: str, compiled: Callable[[str, CPU], bytes], tmp_path: Path
) -> None:
    code = disassembly(compiled(name, AVX2), tmp_path)
    assert "%ymm" in code
    assert not AVX512_REGISTERS.search(code)


def test_the_same_look_finds_avx512_where_it_is(
    compiled: Callable[[str, CPU], bytes], tmp_path: Path
) -> None:
    assert AVX512_REGISTERS.search(disassembly(compiled("add", AVX512), tmp_path))


@pytest.mark.parametrize("ir", [RUNTIME_IR, PYTHON_CALL_IR], ids=["runtime", "python_call"])
def test_what_launches_kernels_has_nothing_of_avx512(ir: str, tmp_path: Path) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    code = disassembly(link(compile_object(ir, AVX2)), tmp_path)
    assert "ret" in code
    assert not AVX512_REGISTERS.search(code)


@pytest.mark.parametrize(
    ("name", "cpu"), [*((name, ARM) for name in KERNELS), ("bf16_matmul", ARM_WITH_BF16)]
)
def test_kernels_compile_and_link_for_aarch64(
    name: str, cpu: CPU, compiled: Callable[[str, CPU], bytes]
) -> None:
    binary = compiled(name, cpu)
    assert binary[:4] == b"\x7fELF"
    # e_machine of aarch64 (ELF for the Arm 64-bit Architecture).
    assert int.from_bytes(binary[18:20], "little") == 183


def doctor(*before: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The doctor in a process of its own, after some lines of Python."""
    program = "\n".join([*before, "from triton_cpu.doctor import main", "main()"])
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables},
        capture_output=True,
        text=True,
    )


def test_doctor_finds_this_machine_fit() -> None:
    done = doctor()
    assert done.returncode == 0, done.stdout + done.stderr
    assert host.cpu().name in done.stdout
    assert "a first kernel is right" in done.stdout


@pytest.mark.skipif(host.cpu().machine != "x86_64", reason="names a level of x86-64")
def test_doctor_runs_a_kernel_with_avx512_hidden() -> None:
    done = doctor(TRITON_CPU_ARCH="x86-64-v3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "vectors of 256 bits (avx2 fma f16c)" in done.stdout
    assert "a first kernel is right" in done.stdout


ON_X86 = "import platform; platform.machine = lambda: 'x86_64'"
HIDE = "import llvmlite.binding as llvm; llvm.get_host_cpu_name = lambda: 'some-cpu'"
FEATURES = "llvm.get_host_cpu_features = lambda: type('', (), {'flatten': lambda self: '%s'})()"


@pytest.mark.parametrize(
    ("before", "variables", "says"),
    [
        (["import platform; platform.machine = lambda: 'riscv64'"], {}, "riscv64 is not supported"),
        ([ON_X86, HIDE, FEATURES % "+sse4.2,-avx2"], {}, "some-cpu lacks AVX2"),
        (
            [ON_X86, HIDE, FEATURES % "+avx,+avx2,+bmi,+bmi2,+f16c,+fma"],
            {"TRITON_CPU_ARCH": "x86-64-v4"},
            "this machine lacks avx512f",
        ),
        ([], {"TRITON_CPU_ARCH": "pentium"}, "TRITON_CPU_ARCH=pentium is not known"),
    ],
)  # fmt: skip
def test_doctor_is_clear_on_a_cpu_that_will_not_do(
    before: list[str], variables: dict[str, str], says: str
) -> None:
    done = doctor(*before, **variables)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("CPU"))
    assert "PROBLEM" in line
    assert says in line
    assert "kernel   not looked at" in done.stdout
