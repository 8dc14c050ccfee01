# SPDX-License-Identifier: Apache-2.0
"""What the device can do, asked of its provider at the moment when somebody needs to know.

A provider is a vendor's record (``Vendor.capabilities``), or what a back end from elsewhere hands
to :func:`provide`. Answers are not kept: one given before a back end had registered would stay
wrong. For the same reason nothing may be asked while tests are collected.

Only the standard library is imported: the pytest plug-in loads this file by its path, without
flag_gems and torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flag_gems.runtime.vendor import Vendor

KNOWN: dict[str, str] = {
    "dtype.bf16": "kernels compute with bfloat16",
    "dtype.fp64": "kernels compute with float64",
    "dtype.int64": "kernels compute with int64",
    "dtype.fp8": "kernels convert to and from float8_e4m3fn and float8_e5m2",
}
"""Every capability, and what a yes to it promises."""

Answers = Mapping[str, Callable[[], bool]]


class CapabilityError(LookupError):
    """The question has no answer; the message names the provider that owes it."""


class UnknownCapabilityError(CapabilityError):
    """No such capability exists."""


class UndeclaredCapabilityError(CapabilityError):
    """The device's provider says neither yes nor no."""


class AskedTooEarlyError(CapabilityError):
    """Asked while tests were collected, when back ends may still be about to register."""


_provided: dict[str, tuple[str, Answers]] = {}
_too_early: list[str] = []


def provide(device: str, provider: str, answers: Answers) -> None:
    """Declares what the device type ``device`` can do; a later declaration replaces an earlier one.

    Args:
        device: device type as in ``torch.device``.
        provider: whom to name where an answer is missing: the package of the back end.
        answers: for each capability of :data:`KNOWN` a function that asks the device. None is
            called before somebody asks for it.

    Raises:
        UnknownCapabilityError: a name is not in :data:`KNOWN`.
    """
    for name in answers:
        _check(name)
    _provided[device] = (provider, dict(answers))


def withdraw(device: str) -> None:
    """Takes back what was provided for ``device``."""
    _provided.pop(device, None)


def provider_of(vendor: Vendor) -> str:
    """The provider that answers for the vendor's device, as messages name it."""
    if vendor.device in _provided:
        return _provided[vendor.device][0]
    return f"flag_gems.runtime.vendors.{vendor.name}"


def supports(capability: str, vendor: Vendor | None = None) -> bool:
    """Whether the device of this process, or of ``vendor``, has the capability.

    Raises:
        UnknownCapabilityError: it is not in :data:`KNOWN`.
        UndeclaredCapabilityError: the provider does not declare it.
        AskedTooEarlyError: tests are being collected.
    """
    _check(capability)
    if _too_early:
        raise AskedTooEarlyError(
            f"capability {capability!r} was asked during {_too_early[-1]}: a back end may still "
            "register; ask in the test, or mark it requires_capabilities"
        )
    if vendor is None:
        from flag_gems.runtime import device

        vendor = device.vendor
    answers = _provided[vendor.device][1] if vendor.device in _provided else vendor.capabilities
    if capability not in answers:
        raise UndeclaredCapabilityError(
            f"capability {capability!r} is not declared for device {vendor.device!r} by its "
            f"provider {provider_of(vendor)}: declare it there, or with "
            "flag_gems.runtime.capability.provide"
        )
    return bool(answers[capability]())


@contextmanager
def too_early(phase: str) -> Iterator[None]:
    """Refuses every question inside the block; ``phase`` is for the message."""
    _too_early.append(phase)
    try:
        yield
    finally:
        _too_early.pop()


def _check(capability: str) -> None:
    if capability not in KNOWN:
        raise UnknownCapabilityError(
            f"no capability is called {capability!r}; known: {', '.join(KNOWN)}"
        )
