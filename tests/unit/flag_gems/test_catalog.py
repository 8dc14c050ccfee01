# SPDX-License-Identifier: Apache-2.0
"""The one table of operators agrees with code and files, and is read without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import flag_gems
from flag_gems.catalog import OPERATORS, SCHEMA_VERSION, markdown

ROOT = Path(flag_gems.__file__).parents[1]


def test_names_and_aten_keys_are_unique():
    names = [operator.name for operator in OPERATORS]
    keys = [key for operator in OPERATORS for key, _ in operator.aten]
    assert len(set(names)) == len(names)
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_functions_and_files_exist(operator):
    for name in operator.functions:
        function = getattr(flag_gems, name)
        assert function.__name__ == name
        assert function.__module__ == operator.module
        assert function.__doc__
    assert (ROOT / operator.test).is_file()
    assert (ROOT / operator.benchmark).is_file()


def test_full_config_is_the_catalogue():
    assert [(key, function.__name__) for key, function in flag_gems._FULL_CONFIG] == [
        pair for operator in OPERATORS for pair in operator.aten
    ]


def test_the_document_is_the_catalogue():
    text = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
    shown = text.partition("<!-- operators: begin -->\n")[2].partition("<!-- operators: end -->")[0]
    assert shown == markdown(), "write what python flag_gems/catalog.py --markdown prints"


def test_json_is_printed_without_torch():
    script = (
        "import runpy, sys\n"
        "sys.argv = ['catalog.py', '--json']\n"
        f"runpy.run_path({str(ROOT / 'flag_gems' / 'catalog.py')!r}, run_name='__main__')\n"
        "assert 'torch' not in sys.modules and 'flag_gems' not in sys.modules\n"
    )
    printed = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True
    ).stdout
    document = json.loads(printed)
    assert document["schema_version"] == SCHEMA_VERSION == "flaggems.catalog/v1"
    assert [record["name"] for record in document["operators"]] == [
        operator.name for operator in OPERATORS
    ]
    (softmax,) = (record for record in document["operators"] if record["name"] == "softmax")
    assert softmax["aten"] == ["_softmax", "_softmax.out"]
