# SPDX-License-Identifier: Apache-2.0
"""Platform profiles: which hardware a discovery shall see, and what is patched for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from bench_runner.contract.record import Record, explain
from bench_runner.errors import UsageFault

FOLDER = Path(__file__).with_name("profiles")
KINDS = ("import", "set", "returns", "skip_if", "set_up_class", "privateuse1", "triton_driver")


class Profile(Record):
    schema_version: Literal["bench-runner.inventory-profile/v1"]
    name: str
    device: str
    """Device type as tests name it; for PrivateUse1 the name under which it registers."""
    simulated: bool
    env: dict[str, str] = Field(default_factory=dict)
    steps: tuple[dict[str, Any], ...] = ()

    @model_validator(mode="after")
    def _steps_are_known(self) -> Profile:
        for step in self.steps:
            if sum(kind in step for kind in KINDS) != 1:
                raise ValueError(f"a step needs exactly one of {', '.join(KINDS)}: {step}")
            if not self.simulated and "import" not in step:
                raise ValueError(f"a profile that patches is simulated: {step}")
        return self


def builtin() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load_profile(name: str) -> Profile:
    """A built-in profile by name, or one of your own by path.

    Raises:
        UsageFault: there is no such profile, or it is not one.
    """
    path = FOLDER / f"{name}.yaml"
    if not path.is_file():
        path = Path(name)
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        raise UsageFault(
            f"no platform profile {name}: name a YAML file or one of {', '.join(builtin())}"
        )
    try:
        return Profile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except yaml.YAMLError as error:
        raise UsageFault(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        raise UsageFault(f"{path}: {explain(error)}") from error
