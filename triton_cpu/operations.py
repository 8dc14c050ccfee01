# SPDX-License-Identifier: Apache-2.0
"""`python -m triton_cpu.operations`: the table of supported operations, read off the handlers.

docs/triton_cpu.md holds its output; a test compares the two.
"""

from __future__ import annotations

from triton_cpu import math
from triton_cpu.codegen.registry import ELEMENTWISE, HANDLERS

BEGIN, END = "<!-- operations: begin -->", "<!-- operations: end -->"
"""Lines of the document between which the table stands."""


def table() -> str:
    """One row for each file of handlers, in Markdown."""
    families: dict[str, list[str]] = {}
    for name, handler in HANDLERS.items():
        module = ELEMENTWISE[name].__module__ if name in ELEMENTWISE else handler.__module__
        families.setdefault(module.rpartition(".")[2], []).append(name)
    rows = ["| handlers in codegen/ | operations |", "|---|---|"]
    for family, names in sorted(families.items()):
        rows.append(f"| {family} | {', '.join(sorted(names))} |")
    library = sorted(
        name.removeprefix("__nv_") for name in math.FUNCTIONS if name.startswith("__nv_")
    )
    rows.append(f"| libdevice, in math/ | {', '.join(library)} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
