# SPDX-License-Identifier: Apache-2.0
"""Profile mode: torch.profiler, or the marks of an outer one, around the replayed iterations."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench_runner.harness.claim_file import write_claim

OPERATOR_ROWS = 50


class ProfilePlugin:
    """Implements ``pytest_flaggems_profile_scope`` and counts how often it was entered and left.

    Leaves ``trace.json`` (Chrome trace), ``operators.txt`` (table, slowest first) and
    ``profile.json`` (the claim) in ``out``.
    """

    def __init__(self, out: str) -> None:
        self.out = out
        self.claim: dict[str, Any] = {
            "profiler": "torch.profiler",
            "backend": "",
            "case_id": "",
            "entered": 0,
            "exited": 0,
        }

    def pytest_flaggems_profile_scope(self, backend: str, case_id: str) -> Any:
        return self._scope(backend, case_id)

    @contextmanager
    def _scope(self, backend: str, case_id: str) -> Iterator[None]:
        import torch
        from torch.profiler import ProfilerActivity, profile

        on_device = torch.cuda.is_available()
        activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if on_device else [])
        profiler = profile(activities=activities, record_shapes=True)
        self.claim.update(backend=backend, case_id=case_id, entered=self.claim["entered"] + 1)
        profiler.start()
        try:
            yield
            self.claim["exited"] += 1
        finally:
            profiler.stop()
        profiler.export_chrome_trace(os.path.join(self.out, "trace.json"))
        order = "self_device_time_total" if on_device else "self_cpu_time_total"
        table = profiler.key_averages().table(sort_by=order, row_limit=OPERATOR_ROWS)
        with open(os.path.join(self.out, "operators.txt"), "w", encoding="utf-8") as file:
            file.write(table)

    def pytest_sessionfinish(self) -> None:
        write_claim(self.out, "profile.json", self.claim)


class MarksPlugin:
    """Tells a profiler that runs the session where the replayed iterations begin and end."""

    def pytest_flaggems_profile_scope(self, backend: str, case_id: str) -> Any:
        return self._scope()

    @contextmanager
    def _scope(self) -> Iterator[None]:
        import torch

        torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStart()
        try:
            yield
            torch.cuda.synchronize()
        finally:
            torch.cuda.cudart().cudaProfilerStop()
