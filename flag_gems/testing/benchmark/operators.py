# SPDX-License-Identifier: Apache-2.0
"""The two sides of a benchmark: what torch does, and what is put against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import torch

import flag_gems
from flag_gems.testing.plugin.session import BenchmarkSession

TorchOp = Callable[..., Any] | str


def resolve_baseline(torch_op: TorchOp) -> Callable[..., Any]:
    """The torch operator; a dotted name is looked up only now, as not every torch has it.

    Raises:
        AttributeError: this torch has no such function.
    """
    if not isinstance(torch_op, str):
        return torch_op
    operator: Any = torch
    for name in torch_op.removeprefix("torch.").split("."):
        operator = getattr(operator, name)
    return cast(Callable[..., Any], operator)


class OverrideNotInvokedError(AssertionError):
    """A run under an override that never reached the candidate says nothing about it."""


@dataclass(frozen=True)
class Candidate:
    """What is measured against the baseline."""

    call: Callable[..., Any]
    override: bool
    """Whether the session put it in place of the library's own operator."""


def resolve_candidate(
    session: BenchmarkSession,
    op_name: str,
    torch_op: TorchOp,
    gems_op: Callable[..., Any] | None,
) -> Candidate:
    """The session's override; else the library's operator; else torch's inside `use_gems`."""
    override = session.registry.get_override(op_name) if session.registry is not None else None
    if override is not None:
        return Candidate(override, override=True)
    if gems_op is not None:
        return Candidate(gems_op, override=False)
    baseline = resolve_baseline(torch_op)

    def under_use_gems(*args: Any, **kwargs: Any) -> Any:
        with flag_gems.use_gems():
            return baseline(*args, **kwargs)

    return Candidate(under_use_gems, override=False)
