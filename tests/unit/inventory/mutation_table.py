# SPDX-License-Identifier: Apache-2.0
"""The mutation bench as docs/inventory.md shows it; run this file to write it there."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import real_mutations
import small_mutations
from mutations import Mutation

DOCS = Path(__file__).parents[3] / "docs" / "inventory.md"
BEGIN, END = "<!-- mutations: begin -->\n", "<!-- mutations: end -->\n"


def _kinds(mutation: Mutation | None) -> str:
    if mutation is None:
        return ""
    counted = Counter(mutation.kinds).items()
    return ", ".join(kind if n == 1 else f"{kind} x{n}" for kind, n in counted) or "none"


def table() -> str:
    """Each edit with the findings that it must cause in either suite."""
    suites = [
        {edit.name: edit for edit in (*module.DAMAGE, *module.HARMLESS)}
        for module in (small_mutations, real_mutations)
    ]
    names = dict.fromkeys(name for suite in suites for name in suite)
    # Damage first: an edit is harmless in both suites or in none.
    names = sorted(names, key=lambda name: not any(s[name].kinds for s in suites if name in s))
    rows = [
        f"| {name} | {' | '.join(_kinds(suite.get(name)) for suite in suites)} |\n"
        for name in names
    ]
    return "".join(
        ["| edit | small suite | PyTorch's files |\n", "|---|---|---|\n", *rows],
    )


def held() -> str:
    """The table that the document has."""
    return DOCS.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    head, _, rest = DOCS.read_text(encoding="utf-8").partition(BEGIN)
    DOCS.write_text(head + BEGIN + table() + END + rest.partition(END)[2], encoding="utf-8")
