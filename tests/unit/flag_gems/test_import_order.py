# SPDX-License-Identifier: Apache-2.0
"""On a CPU, Triton must be told to interpret before it is imported."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from flag_gems.runtime import triton_cpu


def _run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**kept, "GEMS_VENDOR": "cpu", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(triton_cpu.has_native_backend(), reason="kernels are compiled for this CPU")
def test_triton_first_is_an_error_that_says_what_to_do():
    done = _run("import triton.language\nimport flag_gems")
    assert done.returncode != 0
    last = done.stderr.splitlines()[-1]
    assert "ImportOrderError" in last
    assert "import flag_gems first, or set TRITON_INTERPRET=1" in last


def test_triton_first_with_the_variable_set():
    script = "import triton.language, flag_gems, torch\nprint(flag_gems.abs(-torch.ones(3)).sum())"
    done = _run(script, TRITON_INTERPRET="1")
    assert (done.returncode, done.stdout) == (0, "tensor(3.)\n"), done.stderr


def test_flag_gems_imports_nothing_of_the_appliance():
    script = (
        "import flag_gems, sys\n"
        "print([name for name in sys.modules if name.startswith(('bench_runner', 'pytest'))])"
    )
    done = _run(script)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
