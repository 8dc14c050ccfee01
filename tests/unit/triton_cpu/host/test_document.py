# SPDX-License-Identifier: Apache-2.0
"""The document's table of operations is what the handlers are."""

from __future__ import annotations

from pathlib import Path

from triton_cpu.operations import BEGIN, END, table

DOCUMENT = Path(__file__).parents[4] / "docs" / "triton_cpu.md"


def test_the_table_of_operations_is_up_to_date() -> None:
    text = DOCUMENT.read_text()
    written = text[text.index(BEGIN) + len(BEGIN) : text.index(END)].strip()
    assert written == table(), "run python -m triton_cpu.operations and paste its output"
