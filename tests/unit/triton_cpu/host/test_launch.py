# SPDX-License-Identifier: Apache-2.0
"""Launches through Triton's own front: every kind of argument, grids, hooks, failures, threads."""

from __future__ import annotations

import gc
import struct
import sys
import threading

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton import knobs

import triton_cpu
from triton_cpu.launcher import BadThreadCount, KernelFailed, Launcher, thread_count
from triton_cpu.packing import BadArgument


@triton.jit
def scale(x, out, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


@triton.jit
def program_ids(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny = tl.num_programs(0), tl.num_programs(1)
    tl.store(out + (z * ny + y) * nx + x, x + 10 * y + 100 * z + 1000 * tl.num_programs(2))


@triton.jit
def store_scalar(out, value):
    tl.store(out, value)


@triton.jit
def add_where_present(x, y, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    if y is not None:
        value += tl.load(y + i)
    tl.store(out + i, value)


@triton.jit
def from_tuple(pointers, numbers, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(pointers[1] + i, tl.load(pointers[0] + i) * numbers[0] + numbers[1])


@triton.jit
def positive_only(x):
    program = tl.program_id(0)
    tl.device_assert(tl.load(x + program) > 0, "all must be positive")


@triton.jit
def reduce_rows(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    tl.store(out + row, tl.sum(values * values, axis=0))


@triton.jit
def copy_block(source, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    out.store([0, 0], source.load([2, 0]))


def test_a_kernel_runs_on_torch_tensors() -> None:
    x = torch.randn(1000)
    out = torch.full((1000,), 7.0)
    scale[(triton.cdiv(1000, 64),)](x, out, 1000, 3.0, BLOCK=64)
    torch.testing.assert_close(out, x * 3, rtol=0, atol=0)


def test_every_program_of_a_grid_runs_once() -> None:
    out = torch.full((2, 3, 5), -1, dtype=torch.int32)
    program_ids[(5, 3, 2)](out)
    z, y, x = torch.meshgrid(torch.arange(2), torch.arange(3), torch.arange(5), indexing="ij")
    assert torch.equal(out, (x + 10 * y + 100 * z + 2000).int())


def test_a_grid_may_be_a_function_of_the_arguments_or_empty() -> None:
    x, out = torch.ones(100), torch.zeros(100)
    scale[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, out, 100, 2.0, BLOCK=32)
    assert out.sum() == 200
    scale[(0,)](x, out, 100, 5.0, BLOCK=32)
    assert out.sum() == 200


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (torch.int32, -5), (torch.int32, 1), (torch.int64, 1 << 40), (torch.int64, -(1 << 62)),
        (torch.float32, 0.1), (torch.float64, 0.1), (torch.bool, True), (torch.float32, 1e300),
        (torch.float32, float("nan")), (torch.float32, float("-inf")),
    ],
)  # fmt: skip
def test_scalars_arrive(dtype: torch.dtype, value: float) -> None:
    out = torch.zeros(1, dtype=dtype)
    store_scalar[(1,)](out, value)
    # Triton types a Python float as f32, whatever it is stored to.
    with np.errstate(over="ignore"):
        given = np.float32(value) if isinstance(value, float) else value
    expected = torch.tensor([given]).to(dtype)
    assert torch.equal(out, expected) or (torch.isnan(out) & torch.isnan(expected)).all()


def test_a_pointer_may_be_absent() -> None:
    x, y, out = torch.randn(16), torch.randn(16), torch.empty(16)
    add_where_present[(1,)](x, None, out, BLOCK=16)
    assert torch.equal(out, x)
    add_where_present[(1,)](x, y, out, BLOCK=16)
    assert torch.equal(out, x + y)


def test_tuples_of_arguments() -> None:
    x, out = torch.randn(16), torch.empty(16)
    from_tuple[(1,)]((x, out), (3, 0.5), BLOCK=16)
    torch.testing.assert_close(out, x * 3 + 0.5)


def test_a_descriptor_made_on_the_host() -> None:
    descriptors = pytest.importorskip("triton.tools.tensor_descriptor")
    x = torch.arange(64, dtype=torch.float32).reshape(8, 8)
    out = torch.zeros(4, 8)
    make = descriptors.TensorDescriptor.from_tensor
    copy_block[(1,)](make(x, [4, 8]), make(out, [4, 8]), ROWS=4, COLUMNS=8)
    assert torch.equal(out, x[2:6])


def test_a_compiled_kernel_takes_addresses_and_arrays() -> None:
    x, out = torch.randn(64), torch.empty(64)
    kernel = scale.warmup(x, out, 64, 2.0, BLOCK=64, grid=(1,))
    kernel[(1, 1, 1)](x.data_ptr(), out.data_ptr(), 64, 2.0, 64)
    assert torch.equal(out, x * 2)
    array, result = x.numpy(), np.empty(64, np.float32)
    kernel[(1, 1, 1)](array, result, 64, 3.0, 64)
    assert np.array_equal(result, array * np.float32(3))


@triton.jit
def store_all(
    out, a: tl.int8, b: tl.uint32, c: tl.int64, d: tl.uint64, e: tl.float32, f: tl.float64
):  # fmt: skip
    tl.store(out, a.to(tl.float64))
    tl.store(out + 1, b.to(tl.float64))
    tl.store(out + 2, c.to(tl.float64))
    tl.store(out + 3, (d // 2).to(tl.int64).to(tl.float64))
    tl.store(out + 4, e.to(tl.float64))
    tl.store(out + 5, f)


def test_the_built_in_launch_and_the_one_in_python_agree() -> None:
    values = (-3, 0xFFFFFFFE, -(1 << 50), (1 << 64) - 2, 0.1, 0.1)
    expected = [-3, 0xFFFFFFFE, -(1 << 50), float((1 << 63) - 1), float(np.float32(0.1)), 0.1]
    out = torch.zeros(6, dtype=torch.float64)
    kernel = store_all.warmup(out, *values, grid=(1,))
    assert type(kernel.run).__name__ == "builtin_function_or_method"
    kernel[(1, 1, 1)](out, *values)
    assert out.tolist() == expected
    again = torch.zeros(6, dtype=torch.float64)
    slow = Launcher(kernel.src, kernel.metadata)
    slow(1, 1, 1, 0, kernel.function, None, None, None, None, again, *values)
    assert torch.equal(again, out)


def test_a_launch_with_an_argument_of_a_wrong_type_says_which() -> None:
    kernel = scale.warmup(torch.zeros(64), torch.zeros(64), 64, 2.0, BLOCK=64, grid=(1,))
    with pytest.raises(BadArgument, match="Argument 2 must be of type i32"):
        kernel[(1, 1, 1)](torch.zeros(64), torch.zeros(64), "many", 2.0, 64)


def test_hooks_see_each_launch_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, object]] = []
    out = torch.zeros(1)

    def enter(metadata: object) -> None:
        seen.append(("enter", metadata.get()["name"], out.item()))

    def leave(metadata: object) -> None:
        seen.append(("exit", metadata.get()["name"], out.item()))

    for name, hook in (("launch_enter_hook", enter), ("launch_exit_hook", leave)):
        place = getattr(knobs.runtime, name)
        if hasattr(place, "add"):
            place.add(hook)
        else:
            monkeypatch.setattr(knobs.runtime, name, hook)
    try:
        store_scalar[(1,)](out, 4.0)
    finally:
        for name, hook in (("launch_enter_hook", enter), ("launch_exit_hook", leave)):
            place = getattr(knobs.runtime, name)
            if hasattr(place, "remove"):
                place.remove(hook)
    assert seen == [("enter", "store_scalar", 0.0), ("exit", "store_scalar", 4.0)]


def test_a_failed_assertion_raises_and_the_next_launch_is_clean(
    capfd: pytest.CaptureFixture[str],
) -> None:
    bad, good = torch.tensor([1.0, -1.0, 1.0]), torch.ones(3)
    with pytest.raises(KernelFailed, match="all must be positive"):
        positive_only[(3,)](bad, debug=True)
    assert "all must be positive" in capfd.readouterr().err
    positive_only[(3,)](good, debug=True)
    positive_only[(3,)](bad, debug=False)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    rows, columns = 300, 1500
    x = torch.randn(rows, columns)
    results = []
    before = torch.get_num_threads()
    try:
        for threads in (1, 2, 5):
            torch.set_num_threads(threads)
            out = torch.empty(rows)
            reduce_rows[(rows,)](x, out, columns, BLOCK=2048)
            results.append(out)
    finally:
        torch.set_num_threads(before)
    assert torch.equal(results[0], results[1])
    assert torch.equal(results[0], results[2])
    torch.testing.assert_close(results[0].double(), (x.double() ** 2).sum(1), rtol=1e-5, atol=0)


def test_several_python_threads_may_launch_at_once() -> None:
    x = torch.randn(64, 1024)
    expected = torch.empty(64)
    reduce_rows[(64,)](x, expected, 1024, BLOCK=1024)
    outputs = [torch.empty(64) for _ in range(4)]

    def launch(out: torch.Tensor) -> None:
        for _ in range(50):
            reduce_rows[(64,)](x, out, 1024, BLOCK=1024)

    threads = [threading.Thread(target=launch, args=(out,)) for out in outputs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(out, expected) for out in outputs)


def test_the_variable_sets_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CPU_THREADS", "3")
    assert thread_count()() == 3
    monkeypatch.delenv("TRITON_CPU_THREADS")
    assert thread_count()() == torch.get_num_threads()
    monkeypatch.setenv("TRITON_CPU_THREADS", "many")
    with pytest.raises(BadThreadCount, match="many"):
        thread_count()


def test_metadata_says_what_a_foreign_launcher_needs() -> None:
    kernel = scale.warmup(torch.zeros(64), torch.zeros(64), 64, 2.0, BLOCK=64, grid=(1,))
    metadata = kernel.metadata
    assert metadata.slots == ["ptr", "ptr", "i32", "f32"]
    assert metadata.name == "scale"
    assert metadata.abi_version == 1
    assert metadata.scratch_bytes >= 0
    assert metadata.cpu_name
    assert struct.unpack_from("<4sB", kernel.asm["so"]) == (b"\x7fELF", 2)


def test_the_driver_is_ours() -> None:
    assert triton_cpu.is_enabled()
    assert triton.runtime.driver.active.get_active_torch_device() == torch.device("cpu")


def test_a_kernel_that_is_given_back_raises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    complaints: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)
    out = torch.zeros(1)
    store_scalar[(1,)](out, 4.0)
    store_scalar.device_caches.clear()
    gc.collect()
    assert not complaints
    store_scalar[(1,)](out, 5.0)
    assert out.item() == 5.0
