# SPDX-License-Identifier: Apache-2.0
"""Mentions test_core in its text and imports nothing of it."""

import unittest


class MentionTests(unittest.TestCase):
    def test_name(self):
        self.assertEqual("test_core".partition("_")[2], "core")
