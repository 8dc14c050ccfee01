# SPDX-License-Identifier: Apache-2.0
"""Operators that ATen lacks or composes, each as one kernel."""
