# SPDX-License-Identifier: Apache-2.0
"""The arguments of one call, and how they are put back for the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass(frozen=True)
class Inputs:
    """Arguments of an operator.

    Reset policy of operators that write to an argument: every call gets a clone of it, made outside
    the timed region, so each call starts from the same values and no clone is timed.
    """

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    writes: tuple[int, ...] = ()
    """Positions of the arguments that the operator writes to."""

    def call(self, operator: Callable[..., Any]) -> Callable[[], Any]:
        """A call of the operator on arguments that no other call has written to."""
        args, kwargs = self.args, self.kwargs
        if self.writes:
            args = tuple(a.clone() if i in self.writes else a for i, a in enumerate(args))
        return lambda: operator(*args, **kwargs)

    @property
    def bytes_to_clone(self) -> int:
        """Memory of one call's clones, bytes."""
        tensors = (self.args[i] for i in self.writes)
        return sum(t.numel() * t.element_size() for t in tensors if isinstance(t, torch.Tensor))
