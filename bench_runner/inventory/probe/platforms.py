# SPDX-License-Identifier: Apache-2.0
"""Applies a platform profile: a list of steps that make a suite see hardware that is not there.

Only discovery is meant to survive this. Every step says what it did, so that a manifest tells what
was patched and a reader can judge the simulation.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import types
import unittest
from collections.abc import Callable
from typing import Any


class StepError(Exception):
    """A step of the profile cannot be done in this environment; the message names the step."""


def apply(profile: dict[str, Any]) -> list[dict[str, Any]]:
    """Does the steps in order and returns what was done.

    Raises:
        StepError: a target is absent and the step is not optional.
    """
    os.environ.update(profile.get("env", {}))
    done = [{"step": f"env {k}={v}", "applied": True} for k, v in profile.get("env", {}).items()]
    for step in profile.get("steps", []):
        kind = next((name for name in STEPS if name in step), None)
        if kind is None:
            raise StepError(f"no such step: {step}; known are {', '.join(STEPS)}")
        shown = ", ".join(f"{k} {v}" for k, v in step.items() if k != "optional")
        try:
            STEPS[kind](step)
        except (ImportError, AttributeError) as error:
            if not step.get("optional"):
                raise StepError(f"{shown}: {error}; mark the step optional where it may") from error
            done.append({"step": shown, "applied": False})
        else:
            done.append({"step": shown, "applied": True})
    return done


def _locate(target: str) -> tuple[Any, str]:
    module, _, path = target.partition(":")
    holder: Any = importlib.import_module(module)
    *parents, name = path.split(".")
    for parent in parents:
        holder = getattr(holder, parent)
    if not hasattr(holder, name):
        raise AttributeError(f"{target} does not exist")
    return holder, name


def _replace(target: str, value: Any, everywhere: bool) -> None:
    holder, name = _locate(target)
    old = getattr(holder, name)
    setattr(holder, name, value)
    if everywhere:
        for module in list(sys.modules.values()):
            if isinstance(module, types.ModuleType):
                for key, item in list(vars(module).items()):
                    if item is old:
                        setattr(module, key, value)


def _literal(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _import(step: dict[str, Any]) -> None:
    importlib.import_module(step["import"])


def _set(step: dict[str, Any]) -> None:
    _replace(step["set"], _literal(step["value"]), everywhere=step.get("everywhere", False))


def _returns(step: dict[str, Any]) -> None:
    value = _literal(step["value"])
    if isinstance(value, dict):
        value = types.SimpleNamespace(**value)

    def constant(*_: Any, **__: Any) -> Any:
        return value

    holder, _ = _locate(step["returns"])
    # A function put into a class would be bound; a class attribute has to stay callable as it was.
    made = staticmethod(constant) if isinstance(holder, type) else constant
    _replace(step["returns"], made, everywhere=step.get("everywhere", True))


def _skip_if(step: dict[str, Any]) -> None:
    made = functools.partial(unittest.skipIf, step["value"], step.get("reason", ""))
    _replace(step["skip_if"], made, everywhere=True)


def _class_attributes(step: dict[str, Any]) -> None:
    """``setUpClass`` that sets attributes instead of asking a device for them."""
    values = {name: _literal(value) for name, value in step["value"].items()}

    def set_up(cls: type) -> None:
        for name, value in values.items():
            setattr(cls, name, value)

    _replace(step["set_up_class"], classmethod(set_up), everywhere=False)


def _privateuse1(step: dict[str, Any]) -> None:
    import torch

    name = step["privateuse1"]
    torch.utils.rename_privateuse1_backend(name)
    device_module = types.ModuleType(f"torch.{name}")
    members: dict[str, Callable[..., Any]] = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "is_initialized": lambda: True,
        "_is_in_bad_fork": lambda: False,
        "manual_seed_all": lambda seed: None,
        "get_amp_supported_dtype": lambda: [torch.float16, torch.bfloat16],
    }
    for member, value in members.items():
        setattr(device_module, member, value)
    torch._register_device_module(name, device_module)


def _triton_driver(step: dict[str, Any]) -> None:
    """``@triton.autotune`` asks the active driver when a kernel is defined, not when it runs."""
    from triton.backends.compiler import GPUTarget  # type: ignore[import-not-found,unused-ignore]
    from triton.runtime import driver  # type: ignore[import-not-found,unused-ignore]

    wanted = step["triton_driver"]

    class Declared:
        utils = types.SimpleNamespace(
            get_device_properties=lambda device: dict(wanted.get("properties", {}))
        )

        def get_current_target(self) -> Any:
            return GPUTarget(wanted["backend"], wanted["arch"], wanted["warp_size"])

        def get_current_device(self) -> int:
            return 0

        def get_device_interface(self) -> Any:
            return None

        def get_benchmarker(self) -> Any:
            return lambda *_, **__: [0.0, 0.0, 0.0]

        def get_active_torch_device(self) -> Any:
            return None

    driver.set_active(Declared())


STEPS: dict[str, Callable[[dict[str, Any]], None]] = {
    "import": _import,
    "set_up_class": _class_attributes,
    "set": _set,
    "returns": _returns,
    "skip_if": _skip_if,
    "privateuse1": _privateuse1,
    "triton_driver": _triton_driver,
}


def probes() -> dict[str, str]:
    """What a suite in this process sees of the hardware; asks torch only where it is loaded."""
    torch = sys.modules.get("torch")
    if torch is None:
        return {}
    seen = {"torch": str(torch.__version__), "cuda": str(torch.cuda.is_available())}
    if torch.cuda.is_available():
        seen["cuda capability"] = ".".join(map(str, torch.cuda.get_device_capability()))
        seen["cuda devices"] = str(torch.cuda.device_count())
    seen["privateuse1"] = str(torch._C._get_privateuse1_backend_name())
    return seen
