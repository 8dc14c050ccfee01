# SPDX-License-Identifier: Apache-2.0
"""Uses helpers of the corpus, none of its tests."""

import unittest

try:
    from .test_core import check_model
except ImportError:
    from test_core import check_model


class HelperTests(unittest.TestCase):
    def test_check(self):
        self.seen = []
        check_model(self, abs, (-1,))
