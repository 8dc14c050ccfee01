# SPDX-License-Identifier: Apache-2.0
"""Runs on disk: plain folders that one can copy, read with any editor, and delete."""
