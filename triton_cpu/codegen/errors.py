# SPDX-License-Identifier: Apache-2.0
"""The one error that the code generator raises for a kernel."""


class CodegenError(Exception):
    """A kernel that cannot be compiled for the CPU: says which, where, and why."""

    def __init__(self, reason: str, kernel: str = "", location: str = "") -> None:
        self.reason = reason
        self.kernel = kernel
        self.location = location
        place = f" ({location})" if location else ""
        super().__init__(f"kernel {kernel}{place}: {reason}" if kernel else reason)
