# SPDX-License-Identifier: Apache-2.0
"""The shipped table is right, and a fault in a table is one line with file, line and key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_runner.backends import BackendsError, default_path, load_backends

MINIMAL = """\
schema_version: bench-runner.backends/v1
backends:
  toy-one:
    python: "3.12"
    cmake_backend: CPU
    packages: [torch==2.0]
    image: {base: debian}
    profile:
      profilers: [{name: torch}]
"""

ISSUE_BACKENDS = {
    "cpu": ("cpu", "CPU"),
    "nvidia-cuda128": ("nvidia", "CUDA"),
    "nvidia-cuda133": ("nvidia", "CUDA"),
    "mthreads-musa436": ("mthreads", "MUSA"),
    "mthreads-musa520": ("mthreads", "MUSA"),
    "ascend-cann850": ("ascend", "NPU"),
    "ascend-cann900": ("ascend", "NPU"),
    "iluvatar": ("iluvatar", "IX"),
}


def write(folder: Path, text: str) -> Path:
    path = folder / "backends.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def fault(folder: Path, text: str) -> str:
    """The message that loading `text` gives, without the folder's path."""
    with pytest.raises(BackendsError) as caught:
        load_backends(write(folder, text))
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{folder}/")


def test_the_shipped_table_has_every_backend_with_its_vendor():
    table = load_backends()
    assert {name: (b.vendor, b.cmake_backend) for name, b in table.items()} == ISSUE_BACKENDS
    assert table["cpu"].image.tag == "bench-runner/cpu:latest"


def test_every_shipped_package_but_a_bound_is_pinned():
    loose = [
        requirement
        for backend in load_backends().values()
        for requirement in (*backend.packages, *backend.packages_after)
        if "==" not in requirement
    ]
    assert loose == ["numpy<2"]


def test_the_cpu_backend_names_the_cpu_build_of_torch():
    # Without the local version an unreachable index would mean a CUDA build, in silence.
    assert (load_backends()["cpu"].pin("torch") or "").endswith("+cpu")


def test_defaults_follow_from_the_key(tmp_path):
    backend = load_backends(write(tmp_path, MINIMAL))["toy-one"]
    assert (backend.name, backend.vendor) == ("toy-one", "toy")
    assert backend.image.tag == "bench-runner/toy-one:latest"
    assert backend.container.devices == ()
    assert not backend.container.privileged


def test_a_record_cannot_be_changed():
    backend = load_backends()["cpu"]
    with pytest.raises(ValueError, match="frozen"):
        backend.python = "3.9"  # type: ignore[misc]


def test_the_environment_sources_the_vendor_first(tmp_path):
    text = MINIMAL + "    env: {A: /x:$A}\n    env_source: /v/set_env.sh\n"
    backend = load_backends(write(tmp_path, text))["toy-one"]
    assert backend.shell_environment() == '. /v/set_env.sh\nexport A="/x:$A"\n'


@pytest.mark.parametrize(
    ("old", "new", "line", "key"),
    [
        ('"3.12"', "3.12", 4, "backends.toy-one.python"),
        ("CPU", "GPU", 5, "backends.toy-one.cmake_backend"),
        ("[torch==2.0]", "[torch==2.0, 'torch 2']", 6, "backends.toy-one.packages.1"),
        ("[torch==2.0]", "[]", 6, "backends.toy-one.packages"),
        ("    image: {base: debian}\n", "", 3, "backends.toy-one.image"),
        ("{base: debian}", "{base: debian, aptt: [x]}", 7, "backends.toy-one.image.aptt"),
        ("name: torch", "name: perf", 9, "backends.toy-one.profile.profilers.0.name"),
        ("toy-one:", "Toy_One:", 3, "backends.Toy_One"),
        ("backends/v1", "backends/v9", 1, "schema_version"),
        ('    python: "3.12"', '    python: "3.12"\n    python: "3.11"', 5, "python"),
    ],
)
def test_a_fault_names_file_line_and_key(tmp_path, old, new, line, key):
    assert old in MINIMAL
    assert fault(tmp_path, MINIMAL.replace(old, new)).startswith(f"backends.yaml:{line}: {key}: ")


@pytest.mark.parametrize(
    "text", ["", "just a word", "- a\n- b\n", "backends: 3\n", "a: [1\n", "\t"]
)
def test_what_is_no_table_is_one_line_with_a_line_number(tmp_path, text):
    assert re.match(r"backends\.yaml:\d+: ", fault(tmp_path, text))


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(BackendsError, match=r"absent\.yaml: cannot be read: No such file"):
        load_backends(tmp_path / "absent.yaml")


@settings(max_examples=30, deadline=None)
@given(data=st.data(), key=st.from_regex(r"[a-z]{12}", fullmatch=True))
def test_an_unknown_key_anywhere_in_an_entry_is_named_with_its_line(data, key, tmp_path_factory):
    # The top-level keys of an entry are the lines with an indentation of exactly four.
    lines = default_path().read_text(encoding="utf-8").splitlines()
    places = [i for i, text in enumerate(lines) if re.match(r" {4}[a-z]", text)]
    place = data.draw(st.sampled_from(places))
    lines.insert(place, f"    {key}: 1")
    message = fault(tmp_path_factory.mktemp("table"), "\n".join(lines))
    assert re.match(
        rf"backends\.yaml:{place + 1}: backends\.[a-z0-9-]+\.{key}: unknown key", message
    )


@settings(max_examples=50, deadline=None)
@given(
    document=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["backends", "cpu", "image", "x"]), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_no_document_is_more_than_one_line_of_fault(document, tmp_path_factory):
    fault(tmp_path_factory.mktemp("table"), yaml.safe_dump(document))
