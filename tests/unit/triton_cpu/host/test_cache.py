# SPDX-License-Identifier: Apache-2.0
"""Triton's cache with CPU kernels in it: hits, damage, many processes, and what keys an entry."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from triton import knobs

from triton_cpu import host
from triton_cpu.cache import is_sound

PROGRAM = """
import torch, triton, triton.language as tl
import triton_cpu
triton_cpu.enable()

@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

x = torch.arange(100.0)
double[(4,)](x, 100, BLOCK=32)
assert torch.equal(x, torch.arange(100.0) * 2)
"""


@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@pytest.fixture
def hits(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each look into the cache on disk found its entry."""
    seen: list[bool] = []
    monkeypatch.setattr(
        knobs.compilation, "listener", lambda **what: seen.append(what["cache_hit"])
    )
    return seen


def launch() -> None:
    """As a new process would: nothing is remembered but what is on disk."""
    double.device_caches.clear()
    x = torch.arange(100.0)
    double[(4,)](x, 100, BLOCK=32)
    assert torch.equal(x, torch.arange(100.0) * 2)


def only(cache: Path, pattern: str) -> Path:
    (path,) = cache.glob(f"*/{pattern}")
    return path


@pytest.mark.parametrize("damage", ["double.so", "double.json", "__grp__double.json", "no .so"])
def test_a_damaged_entry_is_built_again(own_cache: Path, hits: list[bool], damage: str) -> None:
    launch()
    if damage == "no .so":
        only(own_cache, "double.so").unlink()
    else:
        path = only(own_cache, damage)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    launch()
    launch()
    assert hits == [False, False, True]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names a level of x86-64")
def test_another_cpu_has_another_entry(
    own_cache: Path, hits: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    launch()
    monkeypatch.setenv("TRITON_CPU_ARCH", "x86-64-v3")
    host.cpu.cache_clear()
    try:
        launch()
    finally:
        host.cpu.cache_clear()
    assert hits == [False, False]
    assert len(list(own_cache.glob("*/double.so"))) == 2


def test_many_processes_may_compile_the_same_kernel_at_once(
    tmp_path: Path, own_cache: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    processes = [
        subprocess.Popen(
            [sys.executable, str(program)],
            env={**os.environ, "TRITON_CACHE_DIR": str(own_cache)},
            text=True,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert only(own_cache, "double.so").read_bytes().startswith(b"\x7fELF")
    assert not list(own_cache.glob("*.so")), "a file that was loaded stayed behind"


def test_soundness_is_the_hash_of_the_binary_and_only_for_our_kernels(tmp_path: Path) -> None:
    binary, metadata = tmp_path / "k.so", tmp_path / "k.json"
    binary.write_bytes(b"code")
    seal = hashlib.sha256(b"code").hexdigest()
    metadata.write_text(json.dumps({"target": {"backend": "cpu"}, "so_sha256": seal}))
    group = {"k.json": str(metadata), "k.so": str(binary)}
    assert is_sound("k.json", group)
    binary.write_bytes(b"cod")
    assert not is_sound("k.json", group)
    metadata.write_text(json.dumps({"target": {"backend": "cuda"}}))
    assert is_sound("k.json", group)
    metadata.write_text("{")
    assert not is_sound("k.json", group)
