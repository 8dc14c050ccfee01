# SPDX-License-Identifier: Apache-2.0
"""Finds the evidence in one function: a walk over its tree, decorators and helpers included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from bench_runner.inventory.labels.conditions import Place, conditions, is_skip
from bench_runner.inventory.labels.rules import ACCELERATOR, CPU, CUDA, DEVICES, MPS, XPU

Function = ast.FunctionDef | ast.AsyncFunctionDef

TRITON_CALLS = {"run_and_get_triton_code", "run_and_get_kernels", "has_triton"}
CPP_CALLS = {"run_and_get_cpp_code"}
PRESENCE = {
    "requires_gpu": ACCELERATOR,
    "requires_gpu_and_triton": ACCELERATOR,
    "requires_cuda": CUDA,
    "requires_cuda_and_triton": CUDA,
    "requires_xpu": XPU,
    "requires_mps": MPS,
    "onlyCUDA": CUDA,
    "onlyCPU": CPU,
    "onlyXPU": XPU,
    "onlyMPS": MPS,
    "onlyOn": ACCELERATOR,
    "onlyAccelerator": ACCELERATOR,
}
SEVERAL = {"requires_multigpu", "HAS_MULTIGPU", "deviceCountAtLeast", "TEST_MULTIGPU"}
ATTENTION = {
    "PLATFORM_SUPPORTS_FLASH_ATTENTION": "attention.flash_attention",
    "_scaled_dot_product_flash_attention": "attention.flash_attention",
    "FLASH_ATTENTION": "attention.flash_attention",
    "PLATFORM_SUPPORTS_MEM_EFF_ATTENTION": "attention.mem_efficient",
    "_scaled_dot_product_efficient_attention": "attention.mem_efficient",
    "EFFICIENT_ATTENTION": "attention.mem_efficient",
    "PLATFORM_SUPPORTS_FP8": "dtype.fp8",
}
DTYPES = {
    "float8_e4m3fn": "dtype.fp8",
    "float8_e5m2": "dtype.fp8",
    "float8_e4m3fnuz": "dtype.fp8",
    "float8_e5m2fnuz": "dtype.fp8",
}
CUDA_MODULES = {"cuda": CUDA, "xpu": XPU, "mps": MPS}
HARMLESS = {"is_available", "amp"}
"""``torch.cuda.is_available()`` in a condition is the condition's affair; ``torch.cuda.amp`` takes
a device type."""


@dataclass(frozen=True, order=True)
class Evidence:
    line: int
    rule: str
    about: str = ""
    """The label or the capability that the finding speaks of; empty where the rule needs none."""
    text: str = ""
    """The source, in one line."""
    via: str = ""
    """The helper in which the line stands; empty for the method itself."""


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 80 else text[:79] + "…"


class Finder(ast.NodeVisitor):
    """Collects the evidence of one function; ``helpers`` are functions of the same file."""

    def __init__(self, device_globals: frozenset[str], helpers: dict[str, Function]) -> None:
        self.device_globals = device_globals
        self.helpers = helpers
        self.found: list[Evidence] = []
        self._called: set[str] = set()
        self._settled: set[int] = set()
        """Nodes that belong to a condition that was already read."""

    def of(self, function: Function) -> list[Evidence]:
        """Everything that the function and the helpers it calls say, in the order of lines."""
        for decorator in function.decorator_list:
            self._decorator(decorator)
        for statement in function.body:
            self.visit(statement)
        own = list(self.found)
        own += self._of_helpers({function.name})
        return sorted(set(own))

    def _of_helpers(self, seen: set[str]) -> Iterator[Evidence]:
        for name in sorted(self._called & self.helpers.keys() - seen):
            helper = self.helpers[name]
            inner = Finder(self.device_globals, {})
            for statement in helper.body:
                inner.visit(statement)
            for found in inner.found:
                yield replace(found, via=name)

    def _add(self, node: ast.AST, rule: str, about: str = "", text: str = "") -> None:
        line = getattr(node, "lineno", 0)
        self.found.append(Evidence(line, rule, about, text or _shown(node)))

    def _decorator(self, node: ast.expr) -> None:
        call = node.func if isinstance(node, ast.Call) else node
        name = call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "")
        if name in PRESENCE:
            self._add(node, "gate.presence", PRESENCE[name])
            return
        if name in SEVERAL:
            self._add(node, "devices.several", "devices.several")
            return
        if name in ("skipIf", "skipUnless") and isinstance(node, ast.Call) and node.args:
            self._gate(node.args[0], node, skips_when=name == "skipIf")
            return
        self.visit(node)

    def _gate(self, test: ast.expr, shown: ast.AST, skips_when: bool) -> None:
        for place in conditions(test, skips_when, self.device_globals):
            self._add(shown, place.rule, place.about, _shown(test))
        self._settle(test)

    def _settle(self, test: ast.expr) -> None:
        """A condition that was understood is not read a second time, but for capabilities."""
        for node in ast.walk(test):
            self._settled.add(id(node))
            self._capability(node)

    def visit_If(self, node: ast.If) -> None:
        if is_skip(node.body):
            self._gate(node.test, node.test, skips_when=True)
        else:
            self._branch(node.test)
        for child in (*node.body, *node.orelse):
            self.visit(child)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._branch(node.test)
        self.visit(node.body)
        self.visit(node.orelse)

    def visit_Compare(self, node: ast.Compare) -> None:
        if id(node) not in self._settled and self._compares_device(node):
            self._branch(node)
        else:
            self.generic_visit(node)

    def _compares_device(self, node: ast.Compare) -> bool:
        return bool(conditions(node, True, self.device_globals))

    def _branch(self, test: ast.expr) -> None:
        places = conditions(test, True, self.device_globals)
        for place in places:
            self._add(test, _branch_rule(place), place.about)
        if places:
            self._settle(test)
        else:
            self.visit(test)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and id(node) not in self._settled:
            name = node.value.partition(":")[0]
            if name in DEVICES and DEVICES[name] != CPU and " " not in node.value:
                self._add(node, "device.literal", DEVICES[name], repr(node.value))
            elif node.value.startswith(("tl.", "triton_")) or "@triton.jit" in node.value:
                self._add(node, "triton", "lib.triton")

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self._capability(node)
        if id(node) in self._settled:
            return
        if node.id in self.device_globals:
            self._add(node, "device.global", ACCELERATOR)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._capability(node)
        if id(node) not in self._settled:
            if _is_self_device(node):
                self._add(node, "device.injected")
                return
            owner = node.value
            if (
                isinstance(owner, ast.Attribute)
                and owner.attr in CUDA_MODULES
                and isinstance(owner.value, ast.Name)
                and owner.value.id == "torch"
                and node.attr not in HARMLESS
            ):
                self._add(node, "device.module", CUDA_MODULES[owner.attr])
                return
            if node.attr == "cudnn" and _shown(owner) == "torch.backends":
                self._add(node, "device.module", CUDA)
                return
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if isinstance(called, ast.Name):
            self._called.add(name)
        if name in TRITON_CALLS:
            self._add(node.func, "triton", "lib.triton")
        elif name in CPP_CALLS:
            self._add(node.func, "codegen.cpp", CPU)
        elif isinstance(called, ast.Attribute) and name in ("cuda", "xpu", "mps"):
            if not (isinstance(called.value, ast.Name) and called.value.id == "torch"):
                self._add(node, "device.method", DEVICES[name])
        elif isinstance(called, ast.Attribute) and name == "common" and _is_self(called.value):
            self._add(node.func, "runner")
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        if any(alias.name.partition(".")[0] == "triton" for alias in node.names):
            self._add(node, "triton", "lib.triton")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if (node.module or "").partition(".")[0] == "triton" or any(
            alias.name in TRITON_CALLS for alias in node.names
        ):
            self._add(node, "triton", "lib.triton")

    def _nested(self, node: Function) -> None:
        for decorator in node.decorator_list:
            self._decorator(decorator)
        for child in (*node.args.defaults, *node.args.kw_defaults, *node.body):
            if child is not None:
                self.visit(child)

    visit_FunctionDef = visit_AsyncFunctionDef = _nested

    def _capability(self, node: ast.AST) -> None:
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        if name in ATTENTION:
            self._add(node, "attention", ATTENTION[name])
        elif name in DTYPES:
            self._add(node, "dtype", DTYPES[name])
        elif name in SEVERAL:
            self._add(node, "devices.several", "devices.several")
        elif name == "HAS_TRITON":
            self._add(node, "triton", "lib.triton")


def _branch_rule(place: Place) -> str:
    if place.rule in ("gate.generation", "gate.presence") or place.about not in DEVICES.values():
        return "device.branch"
    return "device.branch" if place.about == CPU else "device.branch.one"


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _is_self_device(node: ast.Attribute) -> bool:
    return _is_self(node.value) and node.attr in ("device", "device_type")
