# SPDX-License-Identifier: Apache-2.0
"""Elementary functions and casts as LLVM IR, for vectors of any length."""
