# SPDX-License-Identifier: Apache-2.0
"""The way back to torch's own kernel, for what a Gems kernel can't do.

A registered operator replaces torch's kernel on this device. Calling the same ATen key while it
runs must not come back to it: a candidate may well be written with ``torch.softmax``, and a Gems
kernel hands what it can't compute (complex numbers, for one) to torch. Both are this module's work,
and each hand-over is in the ledger with its reason.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch

from flag_gems.runtime import device, ledger

_kernels: dict[str, Any] = {}
_live: Counter[str] = Counter()


class _Thread(threading.local):
    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.handed: set[str] = set()
        """Keys on their way to torch through :func:`call`, which notes them itself."""


_running = _Thread()


class NativeKernelError(RuntimeError):
    """torch offers no way to its own kernel of an operator that Gems has replaced."""


def hold(key: str) -> None:
    """Keeps torch's kernel of ``key``; called before a registration replaces it."""
    if not _live[key]:
        get_kernel = getattr(torch.library, "get_kernel", None)
        _kernels[key] = get_kernel and get_kernel(f"aten::{key}", device.dispatch_key)
    _live[key] += 1


def release(key: str) -> None:
    """Ends one :func:`hold`."""
    _live[key] -= 1


def guard(
    key: str, function: Callable[..., Any], observer: Callable[[str], None] | None = None
) -> Callable[..., Any]:
    """``function`` fit to be registered for ``key``: below autograd, never entered from itself.

    ``observer`` is told the key before each call of ``function``, not before one that goes to
    torch's kernel.
    """
    keyset = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, device.dispatch_key))

    def dispatched(*args: Any, **kwargs: Any) -> Any:
        keys = _running.keys
        if key in keys:
            kernel = _kernels.get(key)
            if kernel is None:
                raise NativeKernelError(
                    f"aten::{key} was called from inside its Gems implementation, and torch "
                    f"{torch.__version__} can't reach its own kernel: exclude {key!r} from enable()"
                )
            if key not in _running.handed:
                ledger.record(key, "native", "called from inside its own implementation")
            return kernel.call_boxed(keyset, *args, **kwargs)
        if observer is not None:
            observer(key)
        keys.add(key)
        try:
            with torch.no_grad():
                return function(*args, **kwargs)
        finally:
            keys.discard(key)

    dispatched.__name__ = getattr(function, "__name__", key)
    dispatched.__wrapped__ = function  # type: ignore[attr-defined]
    return dispatched


def call(key: str, reason: str, *args: Any, **kwargs: Any) -> Any:
    """Runs torch's own kernel of the ATen ``key``, autograd included, and notes ``reason``.

    Also the way to torch's own error for arguments that it rejects.
    """
    name, _, overload = key.partition(".")
    operator = getattr(getattr(torch.ops.aten, name), overload or "default")
    here = _running
    entered, nested = key in here.keys, key in here.handed
    here.keys.add(key)
    here.handed.add(key)
    try:
        result = operator(*args, **kwargs)
    except Exception:
        ledger.record(key, "refused", reason)
        raise
    finally:
        if not entered:
            here.keys.discard(key)
        if not nested:
            here.handed.discard(key)
    ledger.record(key, "native", reason)
    return result
