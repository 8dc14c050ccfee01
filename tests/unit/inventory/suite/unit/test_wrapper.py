# SPDX-License-Identifier: Apache-2.0
"""Takes single tests out of an instance while it is imported: the fragile kind of consumer."""

import unittest

try:
    from . import test_core, test_dynamic
except ImportError:
    import test_core
    import test_dynamic


class WrapperTemplate:
    pass


class WrapperTests(unittest.TestCase):
    device = "cpu"


def make_test_case(name, device, tests):
    func = getattr(tests, f"{name}_{device}")

    def fn(self):
        tests.setUp()
        func()

    fn.__name__ = f"{name}_{device}"
    setattr(WrapperTemplate, fn.__name__, fn)


for name in ("test_add", "test_mul", "test_cast_dtype_f32"):
    make_test_case(name, "cpu", test_core.CpuTests())

test_core.copy_tests(WrapperTemplate, WrapperTests, "wrapped")
test_core.copy_tests(test_dynamic.make_dynamic(WrapperTemplate), WrapperTests, "wrapped")
