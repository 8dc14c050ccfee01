# SPDX-License-Identifier: Apache-2.0
"""``python -m flag_gems.runtime.tune OPERATOR``: measures configurations and keeps the best.

They are written to this machine's own file of tuned configurations (see ``runtime.tuned``), which
is looked at before the shipped one. Cases are spelled as the family's keys, with exact sizes.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import torch
import triton

from flag_gems.catalog import BY_NAME
from flag_gems.runtime import tuned
from flag_gems.runtime.tuning import Family, Finding, attempt, measure


def family_of(operator: str) -> Family:
    """The kernels behind an operator.

    Raises:
        ValueError: there is no such operator, or it has nothing to tune.
    """
    if operator not in BY_NAME:
        raise ValueError(f"{operator!r} is no operator; `python -m flag_gems.catalog` lists them")
    module = importlib.import_module(BY_NAME[operator].module)
    family = getattr(module, "TUNING", None)
    if not isinstance(family, Family):
        raise ValueError(f"{operator} has no configurations to tune")
    return family


def _compile_share(operator: str, cases: tuple[str, ...], worker: int, workers: int) -> None:
    """Compiles every ``workers``-th candidate; the others find it in Triton's cache."""
    family = family_of(operator)
    for case in cases:
        problem = family.prepare(case)
        for config in problem.candidates[worker::workers]:
            attempt(problem, config)


def tune(operator: str, cases: tuple[str, ...], workers: int) -> Iterator[Finding]:
    """Measures case after case, once ``workers`` processes have compiled the candidates."""
    family = family_of(operator)
    if workers > 1:
        with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
            shares = [
                pool.submit(_compile_share, operator, cases, worker, workers)
                for worker in range(workers)
            ]
            for share in shares:
                share.result()
    for case in cases:
        finding = measure(case, family.prepare(case))
        print(
            f"{case:44} {finding.timings[0][0] * 1e3:9.1f} us  torch {finding.native_ms * 1e3:9.1f}"
            f" us  {finding.speedup:5.2f}  {json.dumps(finding.best)}",
            flush=True,
        )
        yield finding


def keep(family: str, finding: Finding, folder: Path) -> Path:
    """Adds the best configuration to this device's file in a folder and answers its path."""
    path = folder / f"{tuned.device_name()}.json"
    families = tuned.read(path)
    entries = families.setdefault(family, {})
    entries.update(dict.fromkeys(finding.keys, finding.best))
    made_with = {
        "device": tuned.device_name(),
        "torch": torch.__version__,
        "triton": triton.__version__,
    }
    tuned.write(path, families, made_with)
    return path


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m flag_gems.runtime.tune", description=__doc__.split("\n\n")[0]
    )
    parser.add_argument("operator", help="an operator of `python -m flag_gems.catalog`")
    parser.add_argument("--case", action="append", help="one case; repeatable; default: all")
    parser.add_argument(
        "--folder", type=Path, default=tuned.own_folder(), help="default: %(default)s"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="to compile")
    parser.add_argument("--report", type=Path, help="write every timing here, as JSON")
    given = parser.parse_args()
    try:
        family = family_of(given.operator)
        cases = tuple(given.case or family.cases)
        findings: list[Finding] = []
        for finding in tune(given.operator, cases, given.workers):
            findings.append(finding)
            path = keep(family.name, finding, given.folder)
            if given.report is not None:
                given.report.write_text(json.dumps([vars(f) for f in findings], indent=1), "utf-8")
        print(f"kept in {path}", file=sys.stderr)
    except (ValueError, RuntimeError, OSError) as error:
        print(f"tune: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
