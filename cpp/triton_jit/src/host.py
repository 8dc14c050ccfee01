# SPDX-License-Identifier: Apache-2.0
"""The Python half of triton_jit: reads a kernel's parameters, and compiles it through Triton.

It runs inside whatever interpreter the C++ half finds, and is spoken to in lines of tab-separated
fields. The first field of an answer is ``ok``, or ``error`` with a message.
"""

import ast
import importlib
import os
import re
import sys
import traceback


def answer(request):
    """One request: ``describe`` a kernel's parameters, ``compile`` it, or ``call`` a function."""
    verb, *lines = request.split("\n")
    try:
        fields = [line.split("\t") for line in lines if line]
        return "ok\n" + VERBS[verb](*fields)
    except BaseException as error:
        return "error\n" + _message(error)


def _message(error):
    # Of Triton's CompilationError the text has the source line itself.
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    causes = []
    cause = error.__cause__
    while cause is not None and len(causes) < 3:
        causes.append("".join(traceback.format_exception_only(type(cause), cause)).strip())
        cause = cause.__cause__
    return "\n".join([text, *causes])


def call(function):
    """The text that a Python function of the caller's answers to texts."""
    module, name, *arguments = function
    _make_importable()
    return getattr(importlib.import_module(module), name)(*arguments)


def _make_importable():
    folder = os.environ.get("FLAGGEMS_SOURCE_DIR")
    if folder:
        parent = os.path.dirname(os.path.abspath(folder))
        if parent not in sys.path:
            sys.path.insert(0, parent)


def _find(module, name):
    _make_importable()
    kernel = importlib.import_module(module)
    for part in name.split("."):
        kernel = getattr(kernel, part)
    from triton.runtime.jit import JITFunction

    # Autotuners, heuristics and launchers hold what they decorate.
    while not isinstance(kernel, JITFunction):
        names = ("jit", "fn", "__wrapped__")
        inner = next((vars(kernel)[name] for name in names if name in vars(kernel)), None)
        if inner is None:
            raise TypeError(f"{module}.{name} is a {type(kernel).__name__}, not a Triton kernel")
        kernel = inner
    return kernel


def describe(kernel):
    """Name and flags of each parameter, one a line."""
    rows = []
    for param in _find(*kernel).params:
        annotation = param.annotation_type or ""
        plain = annotation == "u1" or annotation[:2] in ("fp", "bf")
        flags = [
            param.is_constexpr,
            not param.do_not_specialize,
            not param.do_not_specialize_on_alignment,
            param.is_const,
            plain,
        ]
        rows.append("\t".join([param.name, *("01"[flag] for flag in flags), annotation]))
    return "\n".join(rows)


def _value(kind, text):
    if kind == "function":
        module, _, name = text.partition(":")
        return _find(module, name)
    if kind == "dtype":
        import triton.language as tl

        # "i32" in a signature is "int32" as a dtype; the floating names are the same.
        return tl.dtype(re.sub(r"^(u?)i?(\d+)$", r"\1int\2", text).replace("uint1", "int1"))
    if kind == "real":
        return float.fromhex(text)
    return text if kind == "text" else ast.literal_eval(text)


def compile_kernel(kernel, options, *params):
    """Compiles one specialisation; answers the file in Triton's cache and its metadata.

    Each of ``params`` is type, attribute, kind and value, in the order of the kernel's parameters.
    """
    from triton.compiler import ASTSource
    from triton.compiler import compile as triton_compile
    from triton.compiler.compiler import make_backend
    from triton.runtime.driver import driver

    function = _find(*kernel)
    extension, *given = options
    target = driver.active.get_current_target()
    backend = make_backend(target)
    wanted = dict(zip(("num_warps", "num_stages", "num_ctas"), map(int, given), strict=True))
    wanted["debug"] = function.debug or _debug()
    parsed = backend.parse_options(wanted)
    signature, constants, attributes = {}, {}, {}
    for index, (param, (kind_of, attribute, kind, value)) in enumerate(
        zip(function.params, params, strict=True)
    ):
        signature[param.name] = kind_of
        if kind_of == "constexpr":
            constants[index,] = _value(kind, value)
        elif attribute != "-":
            attributes[index,] = backend.parse_attr(attribute)
    source = ASTSource(function, signature, constants, attributes)
    compiled = triton_compile(source, target=target, options=parsed.__dict__)
    path = next(
        (file for name, file in compiled.metadata_group.items() if name.endswith("." + extension)),
        None,
    )
    if path is None:
        raise RuntimeError(
            f"Triton's target is {target.backend}, whose kernels are no .{extension}"
        )
    rows = [("path", path)]
    for name, value in compiled.metadata._asdict().items():
        if isinstance(value, (bool, int, str)):
            rows.append((name, int(value) if isinstance(value, bool) else value))
    return "\n".join(f"{name}\t{value}" for name, value in rows if "\n" not in str(value))


def _debug():
    from triton import knobs

    return knobs.runtime.debug


VERBS = {"describe": describe, "compile": compile_kernel, "call": call}
