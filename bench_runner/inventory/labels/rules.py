# SPDX-License-Identifier: Apache-2.0
"""The rules: what each kind of evidence in a test's source means for its label."""

from __future__ import annotations

from dataclasses import dataclass

GENERIC, ACCELERATOR, CPU, CUDA, MPS, XPU = (
    "GENERIC",
    "ACCELERATOR",
    "CPU",
    "CUDA",
    "MPS",
    "XPU",
)
LABELS = (GENERIC, ACCELERATOR, CPU, CUDA, MPS, XPU)
REVIEW = "review"
"""No label: the evidence does not decide, a person has to."""

DEVICES = {"cpu": CPU, "cuda": CUDA, "mps": MPS, "xpu": XPU}
"""Device types that have a label of their own."""

BRANDED = (CUDA, MPS, XPU)
"""Labels of one kind of accelerator."""


@dataclass(frozen=True)
class Rule:
    """One kind of evidence. The label or capability itself comes with each finding."""

    effect: str
    """``requires``: the test proves nothing on other hardware. ``capability``: it needs a feature
    of the device besides. ``doubt``: it names hardware in a way that may or may not bind it to
    that. ``neutral``: explains, and decides nothing."""
    text: str


RULES: dict[str, Rule] = {
    "target.device": Rule("neutral", "the class that runs it is given this device"),
    "target.gate": Rule("neutral", "the class exists only where this holds"),
    "target.none": Rule("neutral", "neither the class nor the method names a device"),
    "device.injected": Rule("neutral", "uses the device that the class is given"),
    "runner": Rule("neutral", "hands its data to the class's runner, which places it"),
    "device.global": Rule("neutral", "uses the suite's name of whichever accelerator there is"),
    "device.branch": Rule("neutral", "behaves differently by device, and has an answer for each"),
    "device.branch.one": Rule("doubt", "behaves differently on one kind of accelerator"),
    "device.literal": Rule("doubt", "names one device in its text"),
    "device.method": Rule("requires", "moves data with a method that only one device has"),
    "device.module": Rule("requires", "calls the module of one device"),
    "gate.only": Rule("requires", "skips itself on every other device"),
    "gate.exempts": Rule("neutral", "skips itself on a device that is not the label's"),
    "gate.presence": Rule("requires", "runs only where such a device is present"),
    "gate.generation": Rule("requires", "asks for a generation of one vendor's device"),
    "devices.several": Rule("capability", "needs more than one device"),
    "triton": Rule("capability", "looks at, or writes, Triton kernels"),
    "attention": Rule("capability", "needs this attention kernel"),
    "dtype": Rule("capability", "needs this dtype"),
    "codegen.cpp": Rule("doubt", "looks at generated C++"),
}
