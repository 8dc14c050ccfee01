# SPDX-License-Identifier: Apache-2.0
"""LLVM, as far as the code generator needs it: types, values, and a writer of IR text.

Text, because building it costs a tenth of what object graphs cost, and LLVM parses it in a
millisecond.
"""
