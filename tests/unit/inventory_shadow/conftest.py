# SPDX-License-Identifier: Apache-2.0
"""A suite of one file with a copier of its own, in a folder of its own, and how to look at it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench_runner.inventory.discovery import Discovery
from bench_runner.inventory.profile import Profile

HARDWARE = """
import functools, unittest
GPU_TYPE = "{device}"
HAS_GPU = {present}
HAS_CPU = True
requires_gpu = functools.partial(unittest.skipIf, not HAS_GPU, "requires gpu")
"""

SUITE = """
import copy, functools, unittest
from hardware import GPU_TYPE, HAS_CPU, HAS_GPU, requires_gpu

def copy_tests(my_cls, other_cls, suffix, test_failures=None, xfail_prop=None):
    for name, value in my_cls.__dict__.items():
        if name.startswith("test_"):
            @functools.wraps(value)
            def new_test(self, value=value):
                return value(self)
            new_test.__dict__ = copy.deepcopy(value.__dict__)
            if test_failures and suffix in test_failures.get(name, ()):
                new_test = unittest.expectedFailure(new_test)
            setattr(other_cls, f"{name}_{suffix}", new_test)

def check(self, fn): fn(self.device)
def check_gpu(self, fn): fn(GPU_TYPE)
def helper(x): return x.to("cuda")

def parametrized(cls):
    for name, method in list(vars(cls).items()):
        for n in getattr(method, "numbers", ()):
            def add(method, n):
                @functools.wraps(method)
                def variant(self, param_kwargs={"n": n}):
                    return method(self, **param_kwargs)
                del variant.numbers
                setattr(cls, f"{name}_n_{n}", variant)
            add(method, n)
        if hasattr(method, "numbers"):
            delattr(cls, name)
    return cls

def numbers(*values):
    def mark(fn):
        fn.numbers = values
        return fn
    return mark

@parametrized
class Template:
    def test_plain(self):
        self.common(lambda d: d)

    @numbers(1, 2, 3)
    def test_many(self, n):
        self.common(lambda d: (d, n))

    def test_only_cuda(self):
        if self.device != "cuda":
            raise unittest.SkipTest("cuda only")
        self.assertEqual("cuda", self.device)

    def test_not_on_the_accelerator(self):
        if self.device == GPU_TYPE:
            raise unittest.SkipTest("cpu only")

    @requires_gpu()
    def test_needs_gpu(self):
        self.common(lambda d: GPU_TYPE)

    def test_literal(self):
        self.common(lambda d: "cuda:0")

    def test_through_a_helper(self):
        self.common(lambda d: helper(d))

    def test_triton(self):
        import triton
        self.assertTrue(triton)

    def test_attention(self):
        if self.device == "cuda" and not PLATFORM_SUPPORTS_FLASH_ATTENTION:
            raise unittest.SkipTest("attention")

    def test_method(self):
        self.common(lambda d: d.cuda())

if HAS_CPU:
    class CpuTests(unittest.TestCase):
        common = check
        device = "cpu"
    copy_tests(Template, CpuTests, "cpu", {"test_plain": ("cpu",)})

if HAS_GPU:
    class GpuTests(unittest.TestCase):
        common = check_gpu
        device = GPU_TYPE
    copy_tests(Template, GpuTests, GPU_TYPE)

    class TestOnGpu(unittest.TestCase):
        def test_it(self):
            self.assertEqual(GPU_TYPE, GPU_TYPE)

class TestNoDevice(unittest.TestCase):
    def test_arithmetic(self):
        self.assertEqual(1 + 1, 2)
"""


class Small:
    """The suite in a folder, which a test may edit before it looks."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.file = folder / "test_small.py"
        self.cache = cache
        self.file.write_text(SUITE)
        self.device("cuda")

    def device(self, name: str, present: bool = True) -> None:
        (self.folder / "hardware.py").write_text(HARDWARE.format(device=name, present=present))

    def edit(self, old: str, new: str) -> None:
        text = self.file.read_text()
        assert text.count(old) == 1, old
        self.file.write_text(text.replace(old, new))

    def discovery(self) -> Discovery:
        profile = Profile(
            schema_version="bench-runner.inventory-profile/v1",
            name="here",
            device="cuda",
            simulated=False,
        )
        return Discovery(self.folder, sys.executable, profile, self.cache)


@pytest.fixture
def small(tmp_path: Path) -> Small:
    folder = tmp_path / "suite"
    folder.mkdir()
    return Small(folder, tmp_path / "cache")
