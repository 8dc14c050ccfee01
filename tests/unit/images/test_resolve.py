# SPDX-License-Identifier: Apache-2.0
"""What an image installs, resolved by the real pip from a folder of small wheels."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from bench_runner.backends import load_backends
from bench_runner.errors import InfrastructureFault
from bench_runner.images.build_plan import BuildOptions, BuildPlan, PlanError, plan_build
from bench_runner.images.indexes import Indexes
from bench_runner.images.resolve import resolve

ROOT = Path(__file__).resolve().parents[3]


def wheel(folder: Path, name: str, version: str, *needs: str, tag: str = "py3-none-any") -> Path:
    """A wheel with nothing in it but its metadata."""
    path = folder / f"{name}-{version}-{tag}.whl"
    info = f"{name}-{version}.dist-info"
    requires = "".join(f"Requires-Dist: {need}\n" for need in needs)
    with zipfile.ZipFile(path, "w") as archive:
        head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}"
        archive.writestr(f"{info}/METADATA", head)
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def plan(tmp_path: Path) -> BuildPlan:
    """Of a backend that asks for three packages, and for one on top of them."""
    pip_conf = tmp_path / "pip.conf"
    pip_conf.write_text("[global]\nno-index = true\n")
    options = BuildOptions(wheels=tmp_path, pip_conf=pip_conf)
    made = plan_build(load_backends()["cpu"], options, Indexes(None, ()), ROOT, "0" * 64)
    asked = {
        "PYTHON": "3.12",
        "PACKAGES": "alpha>=1,<2",
        "REQUIREMENTS": "beta==2.0\ngamma>=9",
        "PACKAGES_AFTER": "delta==1.0",
    }
    return replace(made, build_args={**made.build_args, **asked})


def test_what_is_to_be_had_and_what_is_not(plan: BuildPlan, tmp_path: Path) -> None:
    wheel(tmp_path, "alpha", "1.5", "beta>=1")
    wheel(tmp_path, "alpha", "2.0")
    beta = wheel(tmp_path, "beta", "2.0", tag="cp312-cp312-manylinux_2_28_x86_64")
    wheel(tmp_path, "delta", "1.0", "nowhere==1")
    found = resolve(plan)
    assert found.python == "3.12"
    assert {(p.name, p.version) for p in found.packages} == {
        ("alpha", "1.5"),
        ("beta", "2.0"),
    }
    assert [(p.name, p.version) for p in found.overlays] == [("delta", "1.0")]
    hashes = {p.name: p.sha256 for p in found.packages}
    assert hashes["beta"] == hashlib.sha256(beta.read_bytes()).hexdigest()
    assert found.unresolved == (("gamma>=9", "not on the indexes that answer"),)
    with pytest.raises(InfrastructureFault, match="no lock file while gamma>=9"):
        found.lock()


def test_a_dependency_that_is_nowhere_is_told_with_what_needs_it(
    plan: BuildPlan, tmp_path: Path
) -> None:
    wheel(tmp_path, "alpha", "1.5", "omega==3")
    for name, version in (("beta", "2.0"), ("gamma", "9.1"), ("delta", "1.0")):
        wheel(tmp_path, name, version)
    found = resolve(plan)
    assert {p.name for p in found.packages} == {"beta", "gamma"}
    assert found.unresolved == (("alpha>=1,<2", "is there, but it needs omega==3, which is not"),)


def test_requirements_that_contradict_each_other_are_one_line(
    plan: BuildPlan, tmp_path: Path
) -> None:
    wheel(tmp_path, "alpha", "1.5", "beta<2")
    wheel(tmp_path, "beta", "2.0")
    wheel(tmp_path, "gamma", "9.1")
    with pytest.raises(InfrastructureFault, match="cpu: pip cannot resolve: ") as caught:
        resolve(plan)
    assert "\n" not in str(caught.value)


def test_a_lock_file_replaces_the_requirements(plan: BuildPlan, tmp_path: Path) -> None:
    for name, version in (("alpha", "1.5"), ("beta", "2.0"), ("gamma", "9.1"), ("delta", "1.0")):
        wheel(tmp_path, name, version)
    lock = tmp_path / "cpu.lock"
    lock.write_text(resolve(plan).lock())
    cpu = load_backends()["cpu"]
    locked = plan_build(cpu, BuildOptions(lock=lock), Indexes(None, ()), ROOT, "0" * 64)
    lines = locked.build_args["PACKAGES"].splitlines()
    assert [line.split(" --hash=sha256:")[0] for line in lines] == [
        "alpha==1.5",
        "beta==2.0",
        "gamma==9.1",
    ]
    assert locked.build_args["REQUIREMENTS"] == ""
    with pytest.raises(PlanError, match="is not a lock file of ascend-cann900"):
        plan_build(
            load_backends()["ascend-cann900"],
            BuildOptions(lock=lock),
            Indexes(None, ()),
            ROOT,
            "0" * 64,
        )
