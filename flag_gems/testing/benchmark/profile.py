# SPDX-License-Identifier: Apache-2.0
"""--profile-only: replay one case for a profiler that lives outside.

The profiler is a plug-in with the hook `pytest_flaggems_profile_scope(backend, case_id)`; its
context is entered when the warm-up is done and left after the last iteration, also when the
candidate raises. Without one the case is only replayed.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import flag_gems
from flag_gems.testing.benchmark.operators import resolve_candidate

if TYPE_CHECKING:
    from flag_gems.testing.benchmark.benchmark import Benchmark
    from flag_gems.testing.benchmark.cases import Case
    from flag_gems.testing.plugin.session import BenchmarkSession


def run(benchmark: Benchmark, cases: list[Case], session: BenchmarkSession) -> None:
    """Warm up, synchronise, enter the scope, iterate, synchronise, leave the scope."""
    (case,) = cases
    settings = session.settings
    synchronize = flag_gems.runtime.torch_device_fn.synchronize
    candidate = resolve_candidate(session, benchmark.op_name, benchmark.torch_op, benchmark.gems_op)
    inputs = benchmark.inputs(case)
    for _ in range(settings.profile_warmup):
        inputs.call(candidate.call)()
    # Made beforehand, so that the profile shows no clone of an operand that is written to.
    calls = [inputs.call(candidate.call) for _ in range(settings.profile_iterations)]
    synchronize()
    scope = session.config.hook.pytest_flaggems_profile_scope(
        backend=flag_gems.vendor_name, case_id=case.case_id
    )
    with scope if scope is not None else nullcontext():
        for call in calls:
            call()
        synchronize()
    session.executed.add(case.case_id)
