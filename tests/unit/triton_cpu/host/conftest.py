# SPDX-License-Identifier: Apache-2.0
"""Every test of the host side runs with the CPU driver active and a cache of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")
pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh cache folder; what is compiled in one test is not there in the next."""
    import triton_cpu

    folder = tmp_path / "cache"
    monkeypatch.setenv("TRITON_CACHE_DIR", str(folder))
    triton_cpu.enable()
    yield folder
    triton_cpu.disable()
