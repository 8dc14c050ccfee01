# SPDX-License-Identifier: Apache-2.0
"""Writes the Python function that launches one kernel for arguments of given kinds.

A function made for its parameters needs no loop over them: each contributes one or two expressions
of some 20 to 60 ns. What the names with an underscore stand for is in ``launcher.Kernel``.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from triton.tools.tensor_descriptor import TensorDescriptor

OPTIONS = ("num_warps", "num_stages")
"""Launch options that the function takes by name; with any other a launch goes through Triton."""

_GUARDED = ("none", "bool", "int", "float")


def kind(parameter: Any, value: Any) -> str:
    """How ``value`` of a ``triton`` KernelParam enters the key.

    Python takes 1, 1.0 and True for one key; to Triton they are three types. Hence the kinds of
    numbers, which the function checks before it looks anything up.
    """
    if parameter.is_constexpr:
        plain = value is None or isinstance(value, bool | int | float | str)
        return "value" if plain else "identity"
    if value is None:
        return "none"
    for name, type_ in (("bool", bool), ("int", int), ("float", float)):
        if type(value) is type_:
            return name
    if isinstance(value, TensorDescriptor):
        return "descriptor"
    return "tensor" if isinstance(value, torch.Tensor) else "other"


def source(parameters: Sequence[inspect.Parameter], kinds: Sequence[str], on_host: bool) -> str:
    """The text of ``launch(_grid, <parameters>, num_warps=None, num_stages=None, **_options)``.

    Args:
        parameters: of the jitted function.
        kinds: of each, as :func:`kind` names them; none is ``other``.
        on_host: kernels run on the CPU, where there is one device and no stream.
    """
    names = [parameter.name for parameter in parameters]
    guards: list[str] = []
    addresses: list[str] = []
    places: list[str] = []
    key: list[str] = []
    passed: list[str] = []
    for name, kind in zip(names, kinds, strict=True):
        passed.append(name)
        if kind == "none":
            guards.append(f"{name} is None")
        elif kind in _GUARDED:
            guards.append(f"{name}.__class__ is {kind}")
        if kind == "tensor":
            address = f"_at_{name}"
            addresses.append(f"{address} = {name}.data_ptr()")
            place = f"{name}.is_cpu" if on_host else f"{name}.get_device()"
            places.append(place)
            key += [f"{name}.dtype", place, f"{address} & 15 == 0"]
            # CUDA's launcher asks the driver about each tensor it is given, and believes an
            # address. The CPU's takes tensors.
            passed[-1] = name if on_host else address
        elif kind == "descriptor":
            places.append(f"{name}.base.is_cpu" if on_host else f"{name}.base.get_device()")
            key += [f"{name}.base.dtype", places[-1], f"*{name}.block_shape", f"{name}.padding"]
        elif kind in ("int", "value"):
            key.append(name)
        elif kind == "identity":
            key.append(f"id({name})")
    values = f"({', '.join([*names, ''])}), num_warps, num_stages"
    other = f"return _other(_grid, {values}, _options)"
    declared = ["_grid", *map(_declaration, parameters), *(f"{name}=None" for name in OPTIONS)]
    lines = [
        f"def launch({', '.join(declared)}, **_options):",
        "    if (_options or _enter or _exit or _before",
        "            or _hooks.launch_enter_hook is not _entering",
        "            or _hooks.launch_exit_hook is not _exiting):",
        f"        {other}",
        f"    if not ({' and '.join(guards) or 'True'}):",
        f"        {other}",
        "    try:",
        *(f"        {line}" for line in addresses),
        # Without the kinds (None, 2.0) and (2.0, None) would be one key: neither is in it by value.
        f"        _key = ({', '.join(['_kinds', *key, *OPTIONS, ''])})",
        "        _found = _kept.get(_key)",
        "    except (AttributeError, TypeError):",
        f"        {other}",
    ]
    if not on_host:
        lines += [
            f"    _device = {places[0] if places else '_current()'}",
            "    if _device != _current():",
            "        with _on(_device):",
            f"            return launch(_grid, {', '.join([*names, *OPTIONS])})",
        ]
    return "\n".join(
        [
            *lines,
            "    if _found is None:",
            f"        return _miss(_grid, {values}, _key)",
            "    _size = len(_grid)",
            "    _found.run(_grid[0], _grid[1] if _size > 1 else 1, _grid[2] if _size > 2 else 1,",
            f"        {'0' if on_host else '_stream(_device)'}, _found.function, _found.metadata,",
            f"        None, None, None, {', '.join(passed)})",
            "    return _found.compiled",
        ]
    )


def _declaration(parameter: inspect.Parameter) -> str:
    if parameter.default is inspect.Parameter.empty:
        return parameter.name
    return f"{parameter.name}=_default_{parameter.name}"
