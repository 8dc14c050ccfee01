# SPDX-License-Identifier: Apache-2.0
"""Writing a claim so that the judge finds it whole or not at all."""

from __future__ import annotations

import json
import os
from typing import Any


def write_claim(folder: str, name: str, value: dict[str, Any]) -> None:
    temporary = os.path.join(folder, f".{name}.{os.getpid()}")
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(value, file, allow_nan=False)
    os.replace(temporary, os.path.join(folder, name))
