# SPDX-License-Identifier: Apache-2.0
"""Has BuildKit read the Dockerfile with a plan's arguments, and builds nothing.

BuildKit answers with the arguments, their values and the secrets of the stages that the image is
made of. The base is replaced by an empty folder: nothing is pulled, so every vendor's image can be
checked where none of their registries is reached.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass

from bench_runner.images.build_plan import BuildPlan
from bench_runner.images.engine import EngineError, require_buildx


@dataclass(frozen=True)
class Expansion:
    """What BuildKit makes of the Dockerfile."""

    arguments: dict[str, str]
    secrets: tuple[str, ...]


def expand(plan: BuildPlan) -> Expansion:
    """The Dockerfile's arguments and secrets under a plan.

    Raises EngineError without an engine, or when BuildKit refuses the file.
    """
    require_buildx()
    with tempfile.TemporaryDirectory() as empty:
        outline = ["docker", "buildx", "build", _question(), "--output", "type=cacheonly"]
        command = [*outline, "--build-context", f"{plan.base}={empty}", *plan.inputs()]
        finished = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            # Engines before 27 answer such questions only to those who ask for experiments.
            env={**os.environ, "BUILDX_EXPERIMENTAL": "1"},
        )
    if finished.returncode != 0:
        raise EngineError(f"{plan.backend}: {_last_line(finished.stderr)}")
    answer = json.loads(finished.stdout)
    return Expansion(
        {argument["name"]: argument.get("value", "") for argument in answer["args"]},
        tuple(sorted(secret["name"] for secret in answer.get("secrets", []))),
    )


def problems(plan: BuildPlan, expansion: Expansion) -> list[str]:
    """Where the plan and the Dockerfile differ, a line each."""
    found = [
        f"the Dockerfile has no argument {name}"
        for name in plan.build_args
        if name not in expansion.arguments
    ]
    found += [
        f"argument {name} expands to {expansion.arguments[name]!r} and not to {value!r}"
        for name, value in plan.build_args.items()
        if expansion.arguments.get(name, value) != value
    ]
    found += [
        f"nothing gives the argument {name}"
        for name in expansion.arguments
        if name not in plan.build_args
    ]
    found += [
        f"the Dockerfile does not use the secret {name}"
        for name in plan.secrets
        if name not in expansion.secrets
    ]
    return found


def _question() -> str:
    """The option by which this buildx describes a build instead of running it."""
    usage = subprocess.run(
        ["docker", "buildx", "build", "--help"], capture_output=True, text=True, check=False
    ).stdout
    return "--call=outline,format=json" if "--call" in usage else "--print=outline,format=json"


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].removeprefix("ERROR: ") if lines else "BuildKit gave no reason"
