# SPDX-License-Identifier: Apache-2.0
"""Which cases a benchmark consists of, told without making a tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import torch

import flag_gems
from flag_gems.testing.plugin.session import BenchmarkSession

FLOAT_DTYPES = ("float32", "float16", "bfloat16")

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Shapes:
    """The sizes of a benchmark. `core` is a quick, telling selection; comprehensive adds `more`.

    On the cpu vendor, where kernels may run in an interpreter, `cpu_core` and `cpu_more` are used.
    """

    core: tuple[Shape, ...]
    more: tuple[Shape, ...] = ()
    cpu_core: tuple[Shape, ...] = ()
    cpu_more: tuple[Shape, ...] = ()

    def at(self, level: str, vendor: str) -> tuple[Shape, ...]:
        """The shapes of a level, on a vendor's devices."""
        core, more = (self.cpu_core, self.cpu_more) if vendor == "cpu" else (self.core, self.more)
        return core if level == "core" else core + more


@dataclass(frozen=True)
class Case:
    """One thing to run: a point of dtype, shape and parameters."""

    case_id: str
    """`nodeid::level::dtype::ordinal`."""
    ordinal: int
    """Position among the test's cases of this dtype, so it does not depend on --dtypes."""
    dtype: str
    shape: Shape
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def torch_dtype(self) -> torch.dtype:
        """The dtype as torch knows it."""
        dtype: torch.dtype = getattr(torch, self.dtype)
        return dtype

    def describe(self) -> dict[str, Any]:
        """The case as the case list and the records of other modes show it."""
        return {
            "case_id": self.case_id,
            "ordinal": self.ordinal,
            "dtype": self.dtype,
            "shape": list(self.shape),
            "params": dict(self.params),
        }


def enumerate_cases(
    session: BenchmarkSession,
    op_name: str,
    dtypes: Sequence[str],
    shapes: Shapes,
    params: Sequence[Mapping[str, Any]],
) -> list[Case]:
    """All cases of a benchmark under the session's level, dtypes and shape file, in order."""
    settings = session.settings
    chosen = shapes_from_file(settings.shape_file, op_name) if settings.shape_file else None
    if chosen is None:
        chosen = shapes.at(settings.level, flag_gems.vendor_name)
    cases = []
    for dtype in dtypes:
        if settings.dtypes is not None and dtype not in settings.dtypes:
            continue
        if dtype == "bfloat16" and not flag_gems.runtime.device.support_bf16:
            continue
        for shape, parameters in product(chosen, params):
            ordinal = session.ordinals[session.nodeid, dtype]
            session.ordinals[session.nodeid, dtype] += 1
            case_id = f"{session.nodeid}::{settings.level}::{dtype}::{ordinal}"
            cases.append(Case(case_id, ordinal, dtype, tuple(shape), parameters))
    return cases


def shapes_from_file(path: str, op_name: str) -> tuple[Shape, ...] | None:
    """The operator's shapes in a file `{operator: [[size, ...], ...]}`; None when it has none.

    Raises:
        ValueError: the file is not of that form; the message is one line.
    """
    import yaml

    try:
        document = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"--shape_file {path}: {error}") from error
    except yaml.YAMLError as error:
        raise ValueError(f"--shape_file {path}: {' '.join(str(error).split())}") from error
    if not isinstance(document, dict):
        raise ValueError(f"--shape_file {path}: expected a mapping from operator to shapes")
    if op_name not in document:
        return None
    shapes = document[op_name]
    if not isinstance(shapes, list) or not all(
        isinstance(shape, list)
        and shape
        and all(isinstance(size, int) and size >= 0 for size in shape)
        for shape in shapes
    ):
        raise ValueError(f"--shape_file {path}: {op_name} must be a list of lists of sizes")
    return tuple(tuple(shape) for shape in shapes)
