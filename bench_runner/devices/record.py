# SPDX-License-Identifier: Apache-2.0
"""What is known of a device, and the error when there is none."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from bench_runner.errors import InfrastructureFault

TOOL_TIMEOUT_S = 60


class DeviceNotFound(InfrastructureFault):
    """The vendor's tool is absent or sees no device; one line that says which."""


@dataclass(frozen=True)
class Device:
    """One accelerator."""

    id: str
    """What names it for good: a UUID where the vendor has one, else its number."""
    index: int
    """Its number in the vendor's tool and run time, from 0."""
    node: int
    """The number of its device node (`/dev/nvidia3`, `/dev/davinci3`)."""
    name: str
    """The model, as the vendor writes it. Results of two models never mix."""

    @property
    def visible_as(self) -> str:
        """What a vendor's variable calls it: CUDA numbers devices in an order of its own."""
        return self.id if self.id.startswith(("GPU-", "MIG-")) else str(self.index)


def ask_tool(*command: str) -> str:
    """The output of a vendor's tool.

    Raises:
        DeviceNotFound: it is not installed, fails or hangs.
    """
    tool = command[0]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TOOL_TIMEOUT_S, check=False
        )
    except FileNotFoundError as error:
        raise DeviceNotFound(f"{tool}, the vendor's tool, is not installed") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DeviceNotFound(f"{tool}: {error}") from error
    if done.returncode != 0:
        reason = (done.stderr or done.stdout).strip().splitlines()
        detail = f": {reason[0]}" if reason else ""
        raise DeviceNotFound(f"{tool} exited with {done.returncode}{detail}")
    return done.stdout
