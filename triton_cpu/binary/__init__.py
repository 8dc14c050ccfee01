# SPDX-License-Identifier: Apache-2.0
"""From LLVM IR text to a running shared object: optimise, link, load, launch."""
