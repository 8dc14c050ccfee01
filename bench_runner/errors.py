# SPDX-License-Identifier: Apache-2.0
"""The two kinds of failure that a person is told about in one line, and their exit codes.

Every other exception is a fault of ours: the command line says so and asks for --debug.
"""

from __future__ import annotations


class UsageFault(Exception):
    """What was asked for makes no sense; the caller can correct it. Exit code 2."""

    exit_code = 2


class InfrastructureFault(Exception):
    """Engine, image, device or suite are not as needed. Exit code 3."""

    exit_code = 3
