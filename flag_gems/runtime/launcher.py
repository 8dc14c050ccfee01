# SPDX-License-Identifier: Apache-2.0
"""Launches Triton kernels with little work on the host: ``@kernel`` in place of ``@triton.jit``.

The call stays the same, ``name[grid](...)``. Triton spends most of a launch on finding out, again,
which compiled kernel the arguments mean; here that answer is kept. Its key names everything that
Triton specialises on, and more: for a tensor its dtype, its device and whether its address is a
multiple of 16; for an integer its value; for another number its type; a constant expression and the
launch options by value. So two keys may share a compiled kernel, but one key never stands for two.
An integer not seen before costs a pass through Triton's own binder, which says what it means; a
specialisation not seen before is compiled by Triton. The launch happens on the device of the first
tensor, whichever device is current, and on its current stream.

Where that can't be done (hooks on launches, rare launch options, a Triton whose parts are not those
known here, a vendor's fork), Triton launches, and :data:`plain_launches` counts it with the reason.

Functions that only other kernels call keep ``@triton.jit``.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, overload

import torch
import triton

from flag_gems.runtime import device, interpreted, torch_device_fn
from flag_gems.runtime.launch_source import OPTIONS, kind, source

plain_launches: Counter[tuple[str, str]] = Counter()
"""(kernel, reason) -> launches made by Triton's own launcher, less the first of each
specialisation."""

_MOST_KEYS = 4096
"""Keys kept for one kernel: sizes that never repeat would fill the memory of a long process."""

_TARGETS = ("cuda", "cpu")


class _Launchable:
    """One compiled kernel, its launcher looked up once."""

    __slots__ = ("compiled", "function", "metadata", "run")

    def __init__(self, compiled: Any) -> None:
        self.compiled = compiled
        self.run = compiled.run
        self.function = compiled.function
        self.metadata = compiled.packed_metadata


def _obstacle(jit: Any) -> str | None:
    """Why kernels of this Triton can't be launched from here, or None."""
    version = tuple(int(part) for part in triton.__version__.split(".")[:2])
    if not (3, 6) <= version < (3, 10):
        return f"triton {triton.__version__}"
    hooks = triton.knobs.runtime
    chains = (getattr(hooks, f"launch_{when}_hook", None) for when in ("enter", "exit"))
    if not all(callable(chain) and hasattr(chain, "calls") for chain in chains):
        return "launch hooks of another kind"
    if not (hasattr(jit, "device_caches") and hasattr(jit, "pre_run_hooks")):
        return "a jitted function of another kind"
    backend = triton.runtime.driver.active.get_current_target().backend
    return None if backend in _TARGETS else f"Triton's backend {backend}"


class Kernel:
    """A jitted function with our launch; any other attribute is that of Triton's ``jit``."""

    def __init__(self, jit: Any) -> None:
        self.jit = jit
        self.__name__: str = jit.fn.__name__
        self.__doc__ = jit.fn.__doc__
        self.__wrapped__ = jit.fn
        self._launch: Callable[..., Any] = self._first
        self._functions: dict[tuple[str, ...], Callable[..., Any]] = {}
        self._kept: dict[Any, _Launchable] = {}
        self._meant: dict[Any, _Launchable] = {}
        # An id() in a key means its object only for as long as the object lives.
        self._identities: dict[int, Any] = {}

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        if torch.compiler.is_compiling():
            launch: Callable[..., Any] = self.jit[grid]
            return launch
        return partial(self._launch, grid)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.jit, name)

    def __repr__(self) -> str:
        return f"Kernel({self.jit!r})"

    def forget(self) -> None:
        """Drops what is kept, for settings of Triton that were changed since (``TRITON_DEBUG``)."""
        self._kept.clear()
        self._meant.clear()

    def _first(self, grid: Any, *arguments: Any, **named: Any) -> Any:
        device.settled = True
        obstacle = _obstacle(self.jit)
        if obstacle is not None:
            self._launch = partial(self._plain, obstacle)
            return self._launch(grid, *arguments, **named)
        return self._choose(grid, arguments, named)

    def _choose(self, grid: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Launches by the function for the kinds of these arguments, and by it from now on."""
        options = {name: named.pop(name) for name in tuple(named) if name not in self.arg_names}
        bound = inspect.signature(self.jit.fn).bind(*arguments, **named)
        bound.apply_defaults()
        values = tuple(bound.arguments.values())
        reason = self._hindrance(grid, options)
        kinds = tuple(map(kind, self.jit.params, values))
        if "other" in kinds:
            reason = f"argument {self.arg_names[kinds.index('other')]}"
        if reason is not None:
            return self._plain(reason, grid, *values, **options)
        function = self._functions.get(kinds)
        if function is None:
            function = self._functions[kinds] = self._write(kinds)
        self._launch = function
        return function(grid, *values, **options)

    def _hindrance(self, grid: Any, options: dict[str, Any]) -> str | None:
        hooks = triton.knobs.runtime
        chains = (hooks.launch_enter_hook, hooks.launch_exit_hook)
        if self.jit.pre_run_hooks or any(getattr(chain, "calls", True) for chain in chains):
            return "launch hooks"
        rare = [name for name in options if name not in OPTIONS]
        if rare:
            return f"option {rare[0]}"
        return "a grid that is a function" if callable(grid) else None

    def _write(self, kinds: tuple[str, ...]) -> Callable[..., Any]:
        parameters = inspect.signature(self.jit.fn).parameters
        active = triton.runtime.driver.active
        hooks = triton.knobs.runtime
        entering, exiting = hooks.launch_enter_hook, hooks.launch_exit_hook
        names: dict[str, Any] = {
            "_before": self.jit.pre_run_hooks,
            "_current": active.get_current_device,
            "_enter": getattr(entering, "calls", ()),
            "_entering": entering,
            "_exit": getattr(exiting, "calls", ()),
            "_exiting": exiting,
            "_hooks": hooks,
            "_kept": self._kept,
            "_kinds": len(self._functions),
            "_miss": self._miss,
            "_on": torch_device_fn.device,
            "_other": self._other,
            "_stream": active.get_current_stream,
        }
        names |= {f"_default_{name}": one.default for name, one in parameters.items()}
        text = source(tuple(parameters.values()), kinds, on_host=device.name == "cpu")
        exec(compile(text, f"<launch of {self.__name__}>", "exec"), names)
        launch: Callable[..., Any] = names["launch"]
        return launch

    def _other(
        self,
        grid: Any,
        values: tuple[Any, ...],
        num_warps: int | None,
        num_stages: int | None,
        options: dict[str, Any],
    ) -> Any:
        """A launch that the function in use is not made for."""
        return self._choose(grid, values, options | _given(num_warps, num_stages))

    def _miss(
        self,
        grid: Any,
        values: tuple[Any, ...],
        num_warps: int | None,
        num_stages: int | None,
        key: Any,
    ) -> Any:
        """The first launch under a key, on the device that is current."""
        options = _given(num_warps, num_stages)
        if callable(grid):
            return self._plain("a grid that is a function", grid, *values, **options)
        meaning = self._meaning(values, options)
        found = self._meant.get(meaning) if meaning is not None else None
        if found is None:
            compiled = self.jit[grid](*values, **options)
            if not isinstance(compiled, triton.compiler.CompiledKernel):
                return compiled
            found = _Launchable(compiled)
            if meaning is not None:
                self._meant[meaning] = found
            self._keep(key, values, found)
            return compiled
        self._keep(key, values, found)
        return self._launch(grid, *values, **options)

    def _keep(self, key: Any, values: tuple[Any, ...], found: _Launchable) -> None:
        if len(self._kept) >= _MOST_KEYS:
            self._kept.clear()
        for parameter, value in zip(self.jit.params, values, strict=True):
            if kind(parameter, value) == "identity":
                self._identities[id(value)] = value
        self._kept[key] = found

    def _meaning(self, values: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """What Triton specialises these arguments to, or None where that is no key."""
        here = triton.runtime.driver.active.get_current_device()
        binder = self.jit.device_caches[here][-1]
        _, specialization, given = binder(*values, **options)
        meaning = (here, tuple(specialization), tuple(given.items()))
        try:
            hash(meaning)
        except TypeError:
            return None
        return meaning

    def _plain(self, reason: str, grid: Any, *values: Any, **options: Any) -> Any:
        plain_launches[self.__name__, reason] += 1
        options = {name: value for name, value in options.items() if value is not None}
        tensors = (value for value in values if isinstance(value, torch.Tensor))
        first = next((tensor for tensor in tensors if tensor.device.type == device.name), None)
        if first is None:
            return self.jit[grid](*values, **options)
        with torch_device_fn.device(first.device):
            return self.jit[grid](*values, **options)


def _given(num_warps: int | None, num_stages: int | None) -> dict[str, Any]:
    pairs = zip(OPTIONS, (num_warps, num_stages), strict=True)
    return {name: value for name, value in pairs if value is not None}


@overload
def kernel(function: Callable[..., Any], /) -> Kernel: ...
@overload
def kernel(**options: Any) -> Callable[[Callable[..., Any]], Kernel]: ...
def kernel(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Makes a function a kernel, ``@kernel`` or ``@kernel(do_not_specialize=[...])``.

    Options are those of ``triton.jit``. ``name[grid](*arguments, **arguments_and_launch_options)``
    launches it; ``grid`` is a tuple of one to three numbers. Under Triton's interpreter the result
    is Triton's own.
    """
    if function is None:
        return lambda decorated: kernel(triton.jit(**options)(decorated))
    jit = function if hasattr(function, "fn") else triton.jit(function)
    return jit if interpreted else Kernel(jit)
