# SPDX-License-Identifier: Apache-2.0
"""Planning: what flags and matrix files mean, and one line for each thing that makes no sense."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_runner.contract.status import Mode
from bench_runner.plan import (
    Entry,
    PlanError,
    Request,
    load_matrix,
    make_jobs,
    parse_modes,
    parse_size,
    read_candidate,
    refresh_candidate,
)
from tests.unit.bench_runner.records import make_job

ENVIRONMENT = make_job().environment


@pytest.mark.parametrize(
    ("text", "size"),
    [("8g", 8 << 30), ("512m", 512 << 20), ("1.5GiB", 3 << 29), ("100", 100), (" 2 KB ", 2048)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "g", "-1g", "0", "8 gigs", "1e3", "nan", "9" * 400])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match="is not a size"):
        parse_size(text)


@given(st.integers(1, 1 << 20), st.sampled_from(["", "k", "m", "g", "t"]))
def test_sizes_scale_by_their_unit(number: int, unit: str) -> None:
    assert (
        parse_size(f"{number}{unit}") == number << {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}[unit]
    )


@given(st.lists(st.sampled_from(list(Mode)), min_size=1))
def test_modes_come_in_the_order_in_which_they_make_sense(modes: list[Mode]) -> None:
    parsed = parse_modes(",".join(mode.value for mode in modes))
    assert list(parsed) == [mode for mode in Mode if mode in modes]


@pytest.mark.parametrize("text", ["", ",", "preflight,prifile"])
def test_unknown_modes_are_refused(text: str) -> None:
    with pytest.raises(PlanError, match="modes are preflight"):
        parse_modes(text)


def write(folder: Path, name: str, text: str = "def softmax(x): ...\n") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_candidate_with_and_without_function(tmp_path: Path) -> None:
    path = write(tmp_path, "c.py")
    assert read_candidate(str(path), "softmax").function == "softmax"
    assert read_candidate(f"{path}:fast", "softmax").function == "fast"


@pytest.mark.parametrize("name", ["a b.py", "a:b.py", "a=b.py", "c.py:fast"])
def test_candidate_paths_with_odd_characters(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, name)
    assert read_candidate(str(path), "softmax").path == str(path)
    with_function = read_candidate(f"{path}:run", "softmax")
    assert (with_function.path, with_function.function) == (str(path), "run")


@pytest.mark.parametrize(
    ("spec", "why"),
    [("absent.py", "no file"), ("c.py:", "not a function"), ("c.py:a.b", "not a function")],
)
def test_bad_candidates_are_refused(tmp_path: Path, spec: str, why: str) -> None:
    write(tmp_path, "c.py")
    with pytest.raises(PlanError, match=why):
        read_candidate(spec, "softmax", tmp_path)


def test_an_edited_candidate_is_another_job(tmp_path: Path) -> None:
    path = write(tmp_path, "c.py")
    planned = read_candidate(str(path), "softmax")
    assert refresh_candidate(planned) == planned
    write(tmp_path, "c.py", "def softmax(x): return x\n")
    assert refresh_candidate(planned).sha256 != planned.sha256
    path.unlink()
    assert refresh_candidate(planned) == planned


def test_the_key_is_content_not_name(tmp_path: Path) -> None:
    one, two = write(tmp_path, "one.py"), write(tmp_path, "two.py")
    entries = tuple(Entry("softmax", read_candidate(str(path), "softmax")) for path in (one, two))
    with pytest.raises(PlanError, match="to the byte"):
        make_jobs(Request(entries), ENVIRONMENT)
    write(tmp_path, "two.py", "# other\n")
    entries = (entries[0], Entry("softmax", read_candidate(str(two), "softmax")))
    jobs = make_jobs(Request(entries), ENVIRONMENT)
    assert len({job.key for job in jobs}) == len(jobs) == 8


def test_reference_needs_no_candidate_and_takes_none(tmp_path: Path) -> None:
    (job,) = make_jobs(Request((Entry("softmax"),), (Mode.REFERENCE,)), ENVIRONMENT)
    assert job.candidate is None
    with pytest.raises(PlanError, match="needs a candidate"):
        make_jobs(Request((Entry("softmax"),)), ENVIRONMENT)


MATRIX = """\
backend: cpu
modes: [profile, preflight]
timeout: 60
candidates:
  - op: softmax
    candidate: c.py:softmax
  - op: rms_norm
    candidate: c.py
    override: rmsnorm
    timeout: 5
    memory: 1g
"""


def test_matrix(tmp_path: Path) -> None:
    write(tmp_path, "c.py")
    request = load_matrix(write(tmp_path, "m.yaml", MATRIX))
    jobs = make_jobs(request, ENVIRONMENT)
    assert [(job.op, job.mode.value, job.override) for job in jobs] == [
        ("softmax", "preflight", "softmax"),
        ("softmax", "profile", "softmax"),
        ("rms_norm", "preflight", "rmsnorm"),
        ("rms_norm", "profile", "rmsnorm"),
    ]
    assert [job.settings.timeout_s for job in jobs] == [60, 60, 5, 5]
    assert jobs[2].settings.memory_bytes == 1 << 30


def test_a_row_without_a_candidate_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, "m.yaml", "candidates:\n  - op: softmax\n")
    with pytest.raises(PlanError, match=r"m\.yaml:2: mode preflight needs a candidate"):
        make_jobs(load_matrix(path), ENVIRONMENT)


def test_the_command_line_wins_over_the_matrix_but_not_over_a_row(tmp_path: Path) -> None:
    write(tmp_path, "c.py")
    line = Request((), (Mode.PREFLIGHT,), None, {"timeout_s": 30.0, "level": "comprehensive"})
    request = line.over(load_matrix(write(tmp_path, "m.yaml", MATRIX)))
    jobs = make_jobs(request, ENVIRONMENT)
    assert [job.settings.timeout_s for job in jobs] == [30, 5]
    assert {job.settings.level for job in jobs} == {"comprehensive"}
    assert request.backend == "cpu"


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("candidates: [", 1, "not YAML"),
        ("", 1, "a mapping"),
        ("candidates: []\n", 1, "candidates"),
        (MATRIX.replace("timeout: 60", "timeout: soon"), 3, "timeout"),
        (MATRIX.replace("candidate: c.py\n", "candidate: d.py\n"), 7, "no file"),
        (MATRIX.replace("    memory: 1g", "    memory: much"), 7, "is not a size"),
        (MATRIX + "    colour: red\n", 12, "colour"),
        (MATRIX + "backend: cpu\n", 12, "given twice"),
        (MATRIX.replace("[profile, preflight]", "[fly]"), 2, "modes.0"),
        ("[1, 2]", 1, "a mapping"),
    ],
)
def test_faults_of_a_matrix_name_file_and_line(
    tmp_path: Path, text: str, line: int, why: str
) -> None:
    write(tmp_path, "c.py")
    path = write(tmp_path, "m.yaml", text)
    with pytest.raises(PlanError) as caught:
        load_matrix(path)
    assert f"{path}:{line}: " in str(caught.value)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)
