# SPDX-License-Identifier: Apache-2.0
"""The corpus that the other files of the small suite reuse."""

import os
import sys
import unittest
from unittest.mock import patch

sys.path.append(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
from generator import Failure, copy_tests, instantiate_parametrized_tests, parametrize
from hardware import GPU_TYPE, HAS_GPU, RECENT, requires_gpu, skip_cuda_if, slow

DTYPES = ["f32", "f64", "i8"]
if RECENT:
    DTYPES.append("bf16")


class TestCase(unittest.TestCase):
    def setUp(self):
        self.seen = []


def check_model(self, fn, arguments):
    self.seen.append("cpu")
    self.assertEqual(fn(*arguments), fn(*arguments))


def check_model_gpu(self, fn, arguments):
    self.seen.append(GPU_TYPE)
    self.assertEqual(fn(*arguments), fn(*arguments))


def skip_if_strict(fn):
    def wrapper(self):
        if os.environ.get("SUITE_STRICT"):
            raise unittest.SkipTest("not strict")
        return fn(self)

    wrapper.__name__ = fn.__name__
    wrapper.__wrapped__ = fn
    return wrapper


def xfail_if_interpreted(fn):
    fn._expected_failure_interpreted = True
    return fn


class Sweep:
    kinds = ("dense", "strided")

    @classmethod
    def gen_template(cls, first, second):
        def test(self):
            self.assertNotEqual((first, second), (None, None))

        test.__name__ = f"test_{cls.place}_{first}_{second}"
        setattr(cls, test.__name__, test)

    @classmethod
    def populate(cls):
        for first in cls.kinds:
            for second in cls.kinds:
                cls.gen_template(first, second)


@instantiate_parametrized_tests
class CommonTemplate:
    def test_add(self):
        self.common(lambda a, b: a + b, (1, 2))

    def test_mul(self):
        self.common(lambda a, b: a * b, (3, 4))

    @skip_cuda_if(not RECENT, "needs 8.0")
    def test_recent(self):
        self.common(lambda a: a, (1,))

    @skip_cuda_if(True, "broken on cuda")
    @skip_if_strict
    def test_layers(self):
        self.common(lambda a: -a, (5,))

    @requires_gpu()
    def test_needs_gpu(self):
        self.assertEqual(self.device, GPU_TYPE)

    @unittest.skip("not yet")
    def test_skipped(self):
        self.fail("never")

    @unittest.expectedFailure
    def test_known_bad(self):
        self.assertEqual(1, 2)

    @slow
    def test_long(self):
        self.common(sum, ([1, 2, 3],))

    @xfail_if_interpreted
    def test_interpreted(self):
        self.common(max, ([1, 2, 3],))

    @patch.dict(os.environ, {"SUITE_MODE": "patched"})
    def test_patched(self):
        self.assertEqual(os.environ["SUITE_MODE"], "patched")

    def test_cuda_literal(self):
        device = "cuda" if self.device == "cuda" else "cpu"
        self.common(lambda a: (a, device), (1,))

    @parametrize("dtype", DTYPES)
    def test_cast(self, dtype):
        self.common(lambda a: (a, dtype), (1,))

    @parametrize("x, y", [(x, y) for x in (1, 2) for y in (3, 4)])
    def test_product(self, x, y):
        self.common(lambda a, b: a * b, (x, y))


class SweepCpuTest(Sweep, TestCase):
    place = "cpu"


SweepCpuTest.populate()


class CpuTests(TestCase):
    common = check_model
    device = "cpu"


copy_tests(CommonTemplate, CpuTests, "cpu")

if HAS_GPU:

    class GPUTests(TestCase):
        common = check_model_gpu
        device = GPU_TYPE

    copy_tests(CommonTemplate, GPUTests, GPU_TYPE, {"test_mul": Failure(("cuda", "xpu"))})


class PlainTest(TestCase):
    def test_full(self):
        self.assertTrue(all([True]))

    def test_half(self):
        self.assertFalse(any([False]))
