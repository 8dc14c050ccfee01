# SPDX-License-Identifier: Apache-2.0
"""What hardware a test method is about, told from its syntax tree, with the lines that say so.

Only the standard library is imported: the adapter of a back end uses these rules in the suite's own
Python.
"""
