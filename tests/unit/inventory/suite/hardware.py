# SPDX-License-Identifier: Apache-2.0
"""What the small suite believes of its machine, decided when it is imported."""

import functools
import os
import unittest

GPU_TYPE = os.environ.get("SUITE_DEVICE") or "cuda"
HAS_GPU = bool(os.environ.get("SUITE_DEVICE"))
RECENT = os.environ.get("SUITE_CAPABILITY", "0") >= "80"
requires_gpu = functools.partial(unittest.skipIf, not HAS_GPU, "requires gpu")


def skip_device_if(condition, reason, *, device):
    """Skips at run time: skip metadata never shows it."""

    def decorate(fn):
        if not condition:
            return fn

        @functools.wraps(fn)
        def inner(self, *args, **kwargs):
            if self.device == device:
                raise unittest.SkipTest(reason)
            return fn(self, *args, **kwargs)

        return inner

    return decorate


skip_cuda_if = functools.partial(skip_device_if, device="cuda")


def slow(fn):
    fn.slow_test = True
    return fn
