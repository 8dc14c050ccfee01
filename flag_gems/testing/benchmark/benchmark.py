# SPDX-License-Identifier: Apache-2.0
"""A benchmark: an operator, its baseline, its cases and how their inputs are made."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
import torch

import flag_gems
from flag_gems.testing.benchmark import preflight, profile, reference, timing_run
from flag_gems.testing.benchmark.cases import FLOAT_DTYPES, Case, Shapes, enumerate_cases
from flag_gems.testing.benchmark.inputs import Inputs
from flag_gems.testing.benchmark.operators import TorchOp
from flag_gems.testing.plugin.benchmark import refuse_without_cases
from flag_gems.testing.plugin.session import BenchmarkSession, current


class Benchmark:
    """Times an operator against torch, or does with its cases what the session asks for instead.

    Args:
        op_name: public operator name; an override of it is measured in place of `gems_op`.
        torch_op: the baseline, called directly; a dotted name is looked up when it is needed.
        build: makes the inputs of one call from `(shape, dtype, device, **params)`. It is called
            with torch's generator seeded, and again for each side, so both get equal values.
        shapes: sizes by level; what their numbers mean is up to `build` and told by `shape_desc`.
        gems_op: the library's operator; None calls `torch_op` inside `flag_gems.use_gems()`.
        dtypes: names of dtypes.
        params: keyword arguments of `build`; every combination with shape and dtype is a case.
        shape_desc: names of a shape's numbers, for --query.

    A subclass that replaces `run` cannot say which cases it would run: under any mode but timing it
    is an error, and in the reference report UNSUPPORTED.
    """

    def __init__(
        self,
        op_name: str,
        torch_op: TorchOp,
        build: Callable[..., Inputs],
        shapes: Shapes,
        gems_op: Callable[..., Any] | None = None,
        dtypes: Sequence[str] = FLOAT_DTYPES,
        params: Sequence[Mapping[str, Any]] = ({},),
        shape_desc: str = "M, N",
    ) -> None:
        self.op_name = op_name
        self.torch_op = torch_op
        self.gems_op = gems_op
        self.build = build
        self.shapes = shapes
        self.dtypes = tuple(dtypes)
        self.params = tuple(params)
        self.shape_desc = shape_desc

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "run" in vars(cls):
            own_run = vars(cls)["run"]

            @functools.wraps(own_run)
            def run(self: Benchmark, *args: Any, **keywords: Any) -> Any:
                session = current()
                if session.settings.activity != "time":
                    refuse_without_cases(session, self.op_name)
                return own_run(self, *args, **keywords)

            cls.run = run  # type: ignore[method-assign]

    def run(self) -> None:
        """Do what the session asks for with the cases that it selects.

        Raises:
            pytest.fail.Exception: a case failed; the others have been run nevertheless, unless
                the mode stops at failures.
        """
        session = current()
        session.served.add(session.nodeid)
        cases = enumerate_cases(session, self.op_name, self.dtypes, self.shapes, self.params)
        session.available.update(case.case_id for case in cases)
        if session.settings.case_ids is not None:
            wanted = set(session.settings.case_ids)
            cases = [case for case in cases if case.case_id in wanted]
            if not cases:
                return
        ACTIVITIES[session.settings.activity](self, cases, session)

    def inputs(self, case: Case) -> Inputs:
        """The inputs of a case on the device; every call gives the same values in new tensors."""
        torch.manual_seed(case.ordinal)
        return self.build(case.shape, case.torch_dtype, flag_gems.device, **case.params)


def _list(benchmark: Benchmark, cases: list[Case], session: BenchmarkSession) -> None:
    session.listed.append(
        {
            "op_name": benchmark.op_name,
            "phase": "timing",
            "level": session.settings.level,
            "cases": [case.describe() for case in cases],
        }
    )


def _query(benchmark: Benchmark, cases: list[Case], session: BenchmarkSession) -> None:
    print(f"\n{benchmark.op_name} ({benchmark.shape_desc}), {session.settings.level}:")
    for case in cases:
        parameters = "".join(f" {key}={value}" for key, value in case.params.items())
        print(f"  {case.dtype} {list(case.shape)}{parameters}")
    pytest.skip("--query runs nothing")


ACTIVITIES: dict[str, Callable[[Benchmark, list[Case], BenchmarkSession], None]] = {
    "time": timing_run.run,
    "list": _list,
    "query": _query,
    "preflight": preflight.run,
    "profile": profile.run,
    "reference": reference.run,
}
