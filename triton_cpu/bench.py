# SPDX-License-Identifier: Apache-2.0
"""`python -m triton_cpu.bench`: compiled kernels against torch's own, in one run.

Both sides are timed in turn, so that a change of the machine's speed meets both; the best time of
each counts, because what else the machine does only adds. Every result is compared with torch's
before it is timed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import click
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

import triton_cpu
from triton_cpu import bench_kernels as kernels

_ROUND_SECONDS = 2e-3
"""A round repeats a call for so long, to make the clock's own cost small."""


@dataclass(frozen=True)
class Case:
    """One kernel at one size."""

    operator: str
    size: str
    shapes: tuple[tuple[int, ...], ...]
    dtype: torch.dtype
    native: Callable[..., Tensor]
    reference: Callable[..., Tensor]
    tolerance: float
    """Largest allowed difference, relative to the largest value of the reference: the sums of both
    sides are rounded in different orders."""
    quick: bool


@dataclass(frozen=True)
class Timing:
    """What was measured, in microseconds."""

    operator: str
    size: str
    threads: int
    compile_us: float
    native_us: float
    torch_us: float

    @property
    def ratio(self) -> float:
        """Torch's time over ours: above one we are faster."""
        return self.torch_us / self.native_us


def cases() -> Iterator[Case]:
    """The sizes of 1M and 16M elements, and matrices up to 2048."""
    f32 = torch.float32
    for side, label in ((1024, "1M"), (4096, "16M")):
        square, row, flat = (side, side), (side,), (side * side,)
        quick = side == 1024
        yield Case("add", label, (flat, flat), f32, kernels.add, torch.add, 0.0, quick)
        yield Case("softmax", label, (square,), f32, kernels.softmax, _softmax, 1e-5, quick)
        yield Case("rms_norm", label, (square, row), f32, kernels.rms_norm, _rms_norm, 1e-5, quick)
        yield Case(
            "layer_norm", label, (square, row, row), f32, kernels.layer_norm, _layer_norm, 1e-5,
            quick,
        )  # fmt: skip
        yield Case("argmax", label, (square,), f32, kernels.argmax, _argmax, 0.0, quick)
        # The terms nearly cancel; the bound is on their magnitude, so it is loose.
        yield Case("sum", label, (flat,), f32, kernels.total, torch.sum, 1e-2, quick)
    for side in (512, 1024, 2048):
        pair = ((side, side), (side, side))
        for dtype, tolerance in ((f32, 1e-5), (torch.bfloat16, 2e-2)):
            yield Case(
                f"matmul {str(dtype).removeprefix('torch.')}", str(side), pair, dtype,
                kernels.matmul, torch.matmul, tolerance, side == 512,
            )  # fmt: skip
    yield Case(
        "attention", "8x1024x64", ((1, 8, 1024, 64),) * 3, f32, kernels.attention,
        torch.nn.functional.scaled_dot_product_attention, 1e-4, True,
    )  # fmt: skip


def _softmax(x: Tensor) -> Tensor:
    return torch.softmax(x, -1)


def _argmax(x: Tensor) -> Tensor:
    return torch.argmax(x, -1)


def _rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    return torch.nn.functional.rms_norm(x, list(weight.shape), weight, 1e-6)


def _layer_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return torch.nn.functional.layer_norm(x, list(weight.shape), weight, bias)


class WrongResult(RuntimeError):
    """A compiled kernel disagrees with torch; no time of it is worth having."""


def check(case: Case, tensors: tuple[Tensor, ...]) -> None:
    """Raises WrongResult unless the kernel's result is torch's within the case's tolerance."""
    ours, theirs = case.native(*tensors).double(), case.reference(*tensors).double()
    error = (ours - theirs).abs().max().item()
    if not error <= case.tolerance * max(1.0, theirs.abs().max().item()):
        raise WrongResult(f"{case.operator} {case.size}: off by {error:g}")


def measure(case: Case, threads: int, seconds: float) -> Timing:
    """Times one case.

    Args:
        case: What to time.
        threads: For torch's threads and ours.
        seconds: How long to go on, for both sides together.

    Raises:
        WrongResult: the kernel disagrees with torch.
    """
    torch.set_num_threads(threads)
    tensors = tuple(torch.randn(shape).to(case.dtype) for shape in case.shapes)
    start = time.perf_counter()
    case.native(*tensors)
    first = time.perf_counter() - start
    check(case, tensors)
    sides = (case.native, case.reference)
    repeats = [max(1, int(_ROUND_SECONDS / _once(side, tensors))) for side in sides]
    best = [float("inf"), float("inf")]
    end = time.perf_counter() + seconds
    rounds = 0
    while time.perf_counter() < end or rounds < 3:
        rounds += 1
        for index, side in enumerate(sides):
            start = time.perf_counter()
            for _ in range(repeats[index]):
                side(*tensors)
            best[index] = min(best[index], (time.perf_counter() - start) / repeats[index])
    return Timing(
        case.operator, case.size, threads, max(first - best[0], 0.0) * 1e6, best[0] * 1e6,
        best[1] * 1e6,
    )  # fmt: skip


def _once(side: Callable[..., Tensor], tensors: tuple[Tensor, ...]) -> float:
    start = time.perf_counter()
    side(*tensors)
    return time.perf_counter() - start


@click.command()
@click.option("--only", default="", help="Operators whose name contains this.")
@click.option("--threads", default="1,2", show_default=True, help="Thread counts, by commas.")
@click.option("--seconds", default=1.0, show_default=True, help="Measuring time of each line.")
@click.option("--quick", is_flag=True, help="The small size of each operator.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
def main(only: str, threads: str, seconds: float, quick: bool, form: str) -> None:
    """Time compiled kernels against torch on this CPU."""
    counts = threads.split(",")
    if not all(count.isdecimal() and int(count) > 0 for count in counts):
        raise click.UsageError(f"--threads {threads}: give positive numbers, as in 1,2")
    chosen = [case for case in cases() if only in case.operator and (case.quick or not quick)]
    if not chosen:
        names = ", ".join(sorted({case.operator for case in cases()}))
        raise click.UsageError(f"--only {only}: no such operator; there are {names}")
    triton_cpu.enable()
    torch.manual_seed(0)
    console = Console(stderr=True)
    timings: list[Timing] = []
    wrong = 0
    for case in chosen:
        for count in counts:
            console.print(f"{case.operator} {case.size}, {count} thread(s)", style="dim")
            try:
                timings.append(measure(case, int(count), seconds))
            except Exception as error:
                # One kernel that fails must not hide the figures of the others.
                wrong += 1
                console.print(f"{case.operator} {case.size}: {type(error).__name__}: {error}")
    if form == "json":
        rows: list[dict[str, Any]] = [asdict(item) | {"ratio": item.ratio} for item in timings]
        click.echo(json.dumps(rows, indent=1))
    else:
        Console().print(_table(timings))
    if wrong:
        raise SystemExit(1)


def _table(timings: list[Timing]) -> Table:
    table = Table("operator", "size", title="Compiled by triton_cpu against torch")
    for heading in ("threads", "compile ms", "ours us", "torch us", "torch / ours"):
        table.add_column(heading, justify="right")
    for item in timings:
        table.add_row(
            item.operator, item.size, str(item.threads), f"{item.compile_us / 1e3:.0f}",
            f"{item.native_us:,.1f}", f"{item.torch_us:,.1f}", f"{item.ratio:.2f}",
        )  # fmt: skip
    return table


if __name__ == "__main__":
    main()
