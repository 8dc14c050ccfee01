# SPDX-License-Identifier: Apache-2.0
"""Reuses the template through a class transform, under the package's name."""

import os
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
from generator import with_patches
from hardware import GPU_TYPE, HAS_GPU

from unit.test_core import CommonTemplate, Failure, TestCase, check_model, copy_tests

failures = {
    "test_add_dynamic": Failure(("cpu",), is_skip=True),
    "test_mul_dynamic": Failure(("cpu", "cuda")),
    "test_long_dynamic": Failure(("cuda", "xpu")),
    "test_cast_dtype_f64_dynamic": Failure(("xpu",)),
    "test_gone_dynamic": Failure(("cpu",)),
}


def make_dynamic(cls, xfail_prop="_expected_failure_dynamic"):
    return with_patches(cls, "Dynamic", "_dynamic", xfail_prop=xfail_prop)


DynamicTemplate = make_dynamic(CommonTemplate)


class DynamicCpuTests(TestCase):
    common = check_model
    device = "cpu"


copy_tests(DynamicTemplate, DynamicCpuTests, "cpu", failures)

if HAS_GPU:

    class DynamicGPUTests(TestCase):
        common = check_model
        device = GPU_TYPE

    copy_tests(DynamicTemplate, DynamicGPUTests, GPU_TYPE, failures)
