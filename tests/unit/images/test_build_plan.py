# SPDX-License-Identifier: Apache-2.0
"""A plan is the whole build: every argument the Dockerfile reads, and no secret in the open."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from bench_runner.backends import load_backends
from bench_runner.errors import UsageFault
from bench_runner.images.build_plan import (
    RECIPE_FILES,
    BuildOptions,
    BuildPlan,
    PlanError,
    plan_build,
)
from bench_runner.images.indexes import Indexes

ROOT = Path(__file__).resolve().parents[3]
SUITE = "0" * 64


def plan(
    name: str = "cpu",
    options: BuildOptions | None = None,
    indexes: Indexes | None = None,
    root: Path = ROOT,
) -> BuildPlan:
    return plan_build(
        load_backends()[name],
        options or BuildOptions(),
        indexes or Indexes(None, ()),
        root,
        SUITE,
    )


@pytest.mark.parametrize(
    "name", [name for name, backend in load_backends().items() if backend.image.base]
)
def test_every_backend_answers_every_argument_of_the_dockerfile(name):
    declared = set(re.findall(r"^ARG (\w+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE))
    assert set(plan(name).build_args) == declared
    assert plan(name).build_args["PACKAGES"].splitlines() == list(load_backends()[name].packages)


def test_the_command_holds_every_input(tmp_path):
    ca = tmp_path / "ca.pem"
    ca.write_text("")
    options = BuildOptions(
        base="debian:mine",
        tag="mine:1",
        ca_bundle=ca,
        wheels=tmp_path,
        network="host",
        no_cache=True,
    )
    command = plan("cpu", options, Indexes("https://i", ("https://e", "https://f"))).command()
    assert command[:3] == ["docker", "buildx", "build"]
    assert command[-1] == str(ROOT)
    pairs = list(pairwise(command))
    for expected in (
        ("--tag", "mine:1"),
        ("--build-arg", "BASE=debian:mine"),
        ("--build-arg", "INDEX=https://i"),
        ("--build-arg", "EXTRA_INDEXES=https://e https://f"),
        ("--build-arg", f"SUITE={SUITE}"),
        ("--build-context", f"wheels={tmp_path}"),
        ("--secret", f"id=ca_bundle,src={ca}"),
        ("--network", "host"),
    ):
        assert expected in pairs
    assert "--no-cache" in command


def test_a_backend_without_a_public_base_wants_one():
    with pytest.raises(PlanError, match="--base"):
        plan("iluvatar")
    assert plan("iluvatar", BuildOptions(base="corex:4")).base == "corex:4"


@pytest.mark.parametrize(
    "url", ["https://user:hunter2@host/simple", "file:///here/simple", "https://["]
)
def test_an_index_that_must_not_or_cannot_enter_a_build_is_refused(url):
    for indexes in (Indexes(url, ()), Indexes(None, (url,))):
        with pytest.raises(PlanError) as caught:
            plan(indexes=indexes)
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("option", ["ca_bundle", "pip_conf", "wheels"])
def test_an_absent_file_is_named(option, tmp_path):
    with pytest.raises(UsageFault, match=f"{tmp_path}/absent is not a "):
        plan(options=BuildOptions(**{option: tmp_path / "absent"}))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that a plan reads, outside git."""
    for name in (*RECIPE_FILES, "pyproject.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path


@pytest.mark.parametrize("name", RECIPE_FILES)
def test_the_recipe_changes_with_the_file(checkout, name):
    first = plan(root=checkout).recipe
    (checkout / name).write_text("# another\n")
    assert plan(root=checkout).recipe != first


def test_a_checkout_without_a_dockerfile_is_named(checkout):
    (checkout / "Dockerfile").unlink()
    with pytest.raises(PlanError, match=r"Dockerfile: cannot be read: No such file"):
        plan(root=checkout)


def test_the_recipe_changes_with_what_is_installed_and_not_with_the_suite(checkout):
    first = plan(root=checkout).recipe
    assert plan(root=checkout, indexes=Indexes("https://mirror", ())).recipe == first
    assert plan(root=checkout, options=BuildOptions(base="other")).recipe != first


def test_the_revision_is_the_commit_or_unknown(checkout):
    assert plan(root=checkout).build_args["REVISION"] == "unknown"
    if (ROOT / ".git").exists():
        assert re.fullmatch(r"[0-9a-f]{40}(-dirty)?", plan().build_args["REVISION"])
