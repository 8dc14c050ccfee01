# SPDX-License-Identifier: Apache-2.0
"""ATen keys whose arguments differ from those of the public function that is registered for them.

A candidate is written against the public signature; the translation is made here, once, when the
key is registered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def _softmax(function: Callable[..., Any]) -> Callable[..., Any]:
    """``_softmax(self, dim, half_to_float)`` for ``softmax(input, dim, dtype)``.

    torch sets half_to_float when a half tensor is given with dtype float32 and passes the input as
    it is. The third argument stays positional: a candidate with ATen's own signature understands it
    too, because a dtype is true and None is false.
    """

    def softmax(self: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
        return function(self, dim, torch.float32 if half_to_float else None)

    softmax.__wrapped__ = function  # type: ignore[attr-defined]
    return softmax


_TRANSLATIONS: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "_softmax": _softmax,
}


def for_aten(key: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` with the arguments that the dispatcher passes for ``key``."""
    translate = _TRANSLATIONS.get(key)
    return translate(function) if translate else function
