# SPDX-License-Identifier: Apache-2.0
"""Operators that ATen has, one file a family: kernel and wrapper together."""
