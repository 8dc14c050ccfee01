# SPDX-License-Identifier: Apache-2.0
"""Transforms a class of tests, and uses a failure property of the corpus."""

import os

try:
    from . import test_core
except ImportError:
    import test_core


def interpreted(cls):
    """A class decorator that surrounds each test with a setting."""
    for name in [item for item in dir(cls) if item.startswith("test")]:
        setattr(cls, name, _surround(getattr(cls, name)))
    return cls


def _surround(fn):
    def wrapper(self):
        os.environ["SUITE_MODE"] = "interpreted"
        return fn(self)

    wrapper.__name__ = fn.__name__
    wrapper.__wrapped__ = fn
    wrapper.__dict__.update(fn.__dict__)
    return wrapper


class InterpretedTests(test_core.TestCase):
    common = test_core.check_model
    device = "cpu"


test_core.copy_tests(
    test_core.CommonTemplate, InterpretedTests, "cpu", xfail_prop="_expected_failure_interpreted"
)
InterpretedTests = interpreted(InterpretedTests)
