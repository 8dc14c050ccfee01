# SPDX-License-Identifier: Apache-2.0
"""Hardware classes of tests, and what a test asks of the device.

    hw_classification = HardwareClassification.ACCELERATOR  # in a class, or in a module

    @requires_capabilities("dtype.fp64")
    def test_in_double(): ...

`pytest --hw-classification ACCELERATOR GENERIC` runs the tests of these classes.
"""

from __future__ import annotations

import pytest

from flag_gems.testing.plugin.classification import HardwareClassification, classification_of

requires_capabilities = pytest.mark.requires_capabilities
"""Mark: skips the test, visibly, where the device lacks one of the named capabilities."""

__all__ = ["HardwareClassification", "classification_of", "requires_capabilities"]
