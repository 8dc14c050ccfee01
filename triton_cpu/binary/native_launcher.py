# SPDX-License-Identifier: Apache-2.0
"""The launcher that torch's AOTInductor packages beside a kernel: ``run_from_nativert``.

A packaged model runs without Python. Its generated C++ opens the kernel's shared object and this
one, and passes the kernel's arguments by the signature that the Python function had
(torch/csrc/inductor/aoti_runtime/cpu_triton_runtime_wrappers.h, torch 2.13). This library makes
slots of them and runs the grid: with the run time of binary/runtime.py where the process has it,
else with its own copy.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from triton_cpu.binary.link import link
from triton_cpu.binary.optimise import compile_object
from triton_cpu.binary.runtime import RUNTIME_IR
from triton_cpu.host import CPU
from triton_cpu.slots import Slot, slots

ENTRY = "run_from_nativert"

_FLOATS = {"fp16": "i16", "bf16": "i16", "fp32": "i32", "f32": "i32", "fp64": "i64"}
"""A float's bits go into the low bytes of its slot."""

_FRAME = """
@openmp = private constant [14 x i8] c"GOMP_parallel\\00"
@shared_launch = private constant [18 x i8] c"triton_cpu_launch\\00"
@started = internal global i32 0
declare ptr @dlsym(ptr, ptr)
declare i32 @sched_yield()

; Once a process, whichever thread is first; the others wait until it is done.
define internal void @start_once() {{
entry:
  %pair = cmpxchg ptr @started, i32 0, i32 1 seq_cst seq_cst
  %first = extractvalue {{ i32, i1 }} %pair, 1
  br i1 %first, label %start, label %wait
start:
  %parallel = call ptr @dlsym(ptr null, ptr @openmp)
  call void @triton_cpu_start(ptr %parallel)
  store atomic i32 2, ptr @started release, align 4
  ret void
wait:
  %state = load atomic i32, ptr @started acquire, align 4
  %ready = icmp eq i32 %state, 2
  br i1 %ready, label %end, label %again
again:
  %yielded = call i32 @sched_yield()
  br label %wait
end:
  ret void
}}

define void @{entry}(i32 %gx, i32 %gy, i32 %gz, i32 %threads, ptr %arguments, ptr %kernel) {{
entry:
  %slots = alloca [{count} x i64], align 64
{packing}
  %shared = call ptr @dlsym(ptr null, ptr @shared_launch)
  %alone = icmp eq ptr %shared, null
  br i1 %alone, label %own, label %run
own:
  call void @start_once()
  br label %run
run:
  %launch = phi ptr [ %shared, %entry ], [ @triton_cpu_launch, %own ]
  %failed = call i32 %launch(ptr %kernel, ptr %slots, i32 %gx, i32 %gy, i32 %gz, i32 %threads,
                             i64 {scratch_bytes})
  %broken = icmp ne i32 %failed, 0
  br i1 %broken, label %stop, label %end
stop:
  ; The entry answers nothing, and results after a failed assertion are of no use.
  call void @abort()
  unreachable
end:
  ret void
}}
"""


class NoNativeLauncher(TypeError):
    """A kernel's arguments cannot be passed the way AOTInductor passes them."""


def launcher_ir(signature: Sequence[Any], scratch_bytes: int) -> str:
    """LLVM IR of the launcher of one kernel, from Triton's types of its arguments in order.

    ``args[i]`` is argument i of the signature: a pointer as it is, a number by its address, null
    for a constant expression.

    Raises:
        NoNativeLauncher: tuples and tensor descriptors, which that interface does not know.
        UnknownArgument: a type that no kernel can be passed.
    """
    lines = [line for place, slot in enumerate(slots(signature)) for line in _pack(place, slot)]
    frame = _FRAME.format(
        entry=ENTRY,
        count=max(1, len(slots(signature))),
        packing="\n".join(f"  {line}" for line in lines),
        scratch_bytes=scratch_bytes,
    )
    return RUNTIME_IR + frame


def _pack(place: int, slot: Slot) -> list[str]:
    if len(slot.path) != 1 or slot.kind.startswith("tensordesc"):
        raise NoNativeLauncher(
            f"argument {slot.path[0]} is a tuple or a tensor descriptor, which AOTInductor's"
            " launchers do not take"
        )
    value, at = f"%value.{place}", f"%at.{place}"
    lines = [
        f"{at} = getelementptr ptr, ptr %arguments, i64 {slot.path[0]}",
        f"{value} = load ptr, ptr {at}",
        f"%slot.{place} = getelementptr i64, ptr %slots, i64 {place}",
    ]
    if slot.kind == "*":
        return [*lines, f"store ptr {value}, ptr %slot.{place}"]
    held = _FLOATS.get(slot.kind) or f"i{max(8, int(slot.kind[1:]))}"
    lines.append(f"%number.{place} = load {held}, ptr {value}")
    number = f"%number.{place}"
    if held != "i64":
        widen = "sext" if slot.kind in ("i8", "i16", "i32") else "zext"
        lines.append(f"%wide.{place} = {widen} {held} {number} to i64")
        number = f"%wide.{place}"
    return [*lines, f"store i64 {number}, ptr %slot.{place}"]


@functools.lru_cache(maxsize=256)
def native_launcher(signature: tuple[Any, ...], scratch_bytes: int, cpu: CPU) -> bytes:
    """The launcher's shared object; for what it raises see launcher_ir."""
    return link(compile_object(launcher_ir(signature, scratch_bytes), cpu))
