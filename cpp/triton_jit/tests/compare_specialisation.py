# SPDX-License-Identifier: Apache-2.0
"""Holds the run time's signatures against Triton's own binder, over thousands of argument lists.

compare_specialisation.py PROGRAM [COUNT]: exits with 1 and the first difference, if there is one.
"""

from __future__ import annotations

import random
import subprocess
import sys

import jit_kernels
import torch
from triton.compiler.compiler import make_backend
from triton.runtime.driver import driver
from triton.runtime.jit import create_function_from_signature

DTYPES = {
    "u1": torch.bool, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
    "u8": torch.uint8, "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64,
    "fp8e4nv": torch.float8_e4m3fn, "fp8e5": torch.float8_e5m2, "fp16": torch.float16,
    "bf16": torch.bfloat16, "fp32": torch.float32, "fp64": torch.float64,
}  # fmt: skip
KERNELS = ("plain", "restrained", "annotated", "pointed")
EDGES = [0, 1, 2, 15, 16, 17, 32, 2**31 - 1, 2**31, 2**31 + 16, 2**32]
EDGES += [2**63 - 1, 2**63, 2**64 - 16, 2**64 - 1]


class Pointer:
    """What Triton takes for a tensor: a dtype and an address."""

    def __init__(self, name: str, address: int) -> None:
        self.name, self.address, self.dtype = name, address, DTYPES[name]

    def data_ptr(self) -> int:
        return self.address


def draw(random: random.Random, constant: bool):
    kinds = ["none", "bool", "int", "edge", "float"] + ([] if constant else ["pointer"] * 3)
    kind = random.choice(kinds)
    if kind == "none":
        return None
    if kind == "bool":
        return random.random() < 0.5
    if kind == "int":
        return random.choice([1, random.randint(-40, 40), random.randint(-(2**34), 2**34)])
    if kind == "edge":
        value = random.choice(EDGES)
        return -value if value <= 2**63 and random.random() < 0.5 else value
    if kind == "float":
        return random.choice([0.0, 1.0, 16.0, random.uniform(-9, 9)])
    return Pointer(
        random.choice(list(DTYPES)), 2**20 + random.choice([0, 16, 4, 8, random.randint(0, 64)])
    )


def spelled(value) -> str:
    if value is None:
        return "none:"
    if isinstance(value, bool):
        return f"bool:{value}"
    if isinstance(value, int):
        return f"int:{value}"
    if isinstance(value, float):
        return f"float:{value!r}"
    return f"{value.name}:{value.address}"


def triton_says(binder, arguments) -> str:
    _, specialisation, _ = binder(*arguments)
    words = []
    for kind, attribute in specialisation:
        plain = isinstance(attribute, str) and kind != "constexpr"
        words.append(f"{kind}/{attribute if plain else '-'}")
    return "\t".join(words) + "\t"


def main(program: str, count: int = 6000) -> int:
    random_source = random.Random(20240229)
    backend = make_backend(driver.active.get_current_target())
    binders, lists = {}, []
    for name in KERNELS:
        kernel = getattr(jit_kernels, name)
        binders[name] = create_function_from_signature(kernel.signature, kernel.params, backend)
    for index in range(count):
        name = KERNELS[index % len(KERNELS)]
        params = getattr(jit_kernels, name).params
        lists.append((name, [draw(random_source, param.is_constexpr) for param in params]))
    text = "".join("\t".join([name, *map(spelled, values)]) + "\n" for name, values in lists)
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    answers = done.stdout.splitlines()
    assert len(answers) == count, (len(answers), done.stderr)
    seen = set()
    for (name, values), answer in zip(lists, answers, strict=True):
        expected = triton_says(binders[name], values)
        seen.add(expected)
        if answer != expected:
            print(
                f"{name}({', '.join(map(spelled, values))}):\n  {answer!r}\n  Triton: {expected!r}"
            )
            return 1
    print(f"{count} argument lists, {len(seen)} different signatures: all as Triton chooses them")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
