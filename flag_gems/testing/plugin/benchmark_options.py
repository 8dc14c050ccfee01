# SPDX-License-Identifier: Apache-2.0
"""The command line of a benchmark session, and what of it cannot be combined."""

from __future__ import annotations

from typing import Any

import pytest

from .session import ACTIVITIES, DTYPES, METRICS


def add_options(group: pytest.OptionGroup) -> None:
    """Add the options of the benchmarks to a group."""
    add = group.addoption
    add(
        "--mode",
        choices=("kernel", "operator", "wrapper", "cudagraph"),
        default="kernel",
        help="Latency of the device's work, of the call until the device is done, of the host's "
        "part alone, or of a captured CUDA graph.",
    )
    add(
        "--level",
        choices=("core", "comprehensive"),
        default=None,
        help="Which cases; default comprehensive, with --reference-only core.",
    )
    add("--warmup", type=float, default=25.0, metavar="MS", help="Warm-up of each side of a case.")
    add("--iter", type=float, default=100.0, metavar="MS", help="Measuring each side of a case.")
    add("--query", action="store_true", help="Print shapes and dtypes; run nothing.")
    add("--metrics", action="append", choices=METRICS, help="Report only this; repeatable.")
    add("--dtypes", action="append", metavar="DTYPE", help="Only this dtype; repeatable.")
    add("--shape_file", metavar="PATH", help="YAML file {operator: [shape, ...]} to use instead.")
    add("--parallel", type=int, default=0, metavar="N", help="Spread cases over N devices.")
    add(
        "--list-cases",
        action="store_true",
        help="Write the cases, without making a tensor, to --output or as the only thing to "
        "standard output.",
    )
    add("--case-id", action="append", metavar="ID", help="Only this case; repeatable.")
    add("--preflight-only", action="store_true", help="Call the candidate once a case, untimed.")
    add("--profile-only", action="store_true", help="Replay one case for an external profiler.")
    add("--profile-warmup", type=int, default=10, metavar="N")
    add("--profile-iterations", type=int, default=1, metavar="N")


def refuse_combinations(option: Any) -> None:
    """Raise pytest.UsageError for options that exclude each other or are out of range."""
    asked = [flag for flag in ACTIVITIES.values() if getattr(option, dest(flag))]
    if option.parallel:
        asked.append("--parallel")
    if len(asked) > 1:
        # The mode that was named in the documentation of the exclusion comes first.
        first = next((f for f in ("--reference-only", "--preflight-only") if f in asked), asked[0])
        others = ", ".join(flag for flag in asked if flag != first)
        raise pytest.UsageError(f"{first} cannot be combined with {others}")
    if getattr(option, "numprocesses", None) or getattr(option, "tx", None):
        raise pytest.UsageError(
            f"{asked[0] if asked else 'benchmark/'} cannot run under xdist (-n)"
        )
    ids = option.case_id or []
    if ids and (option.list_cases or option.query):
        raise pytest.UsageError(f"--case-id cannot be combined with {asked[0]}")
    if len(ids) != len(set(ids)):
        raise pytest.UsageError("a --case-id is given twice")
    if option.profile_only and len(ids) != 1:
        raise pytest.UsageError("--profile-only needs exactly one --case-id")
    if option.profile_warmup < 0 or option.profile_iterations < 1:
        raise pytest.UsageError("--profile-warmup is at least 0, --profile-iterations at least 1")
    if not (0 <= option.warmup < float("inf") and 0 < option.iter < float("inf")):
        raise pytest.UsageError("--warmup is at least 0 ms, --iter more than 0 ms")
    if option.parallel < 0:
        raise pytest.UsageError("--parallel is at least 0")
    for dtype in option.dtypes or ():
        if dtype not in DTYPES:
            raise pytest.UsageError(f"--dtypes {dtype}: expected one of {', '.join(DTYPES)}")


def dest(flag: str) -> str:
    """The attribute that holds an option's value."""
    return flag.removeprefix("--").replace("-", "_")
