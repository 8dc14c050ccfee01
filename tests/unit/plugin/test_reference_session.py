# SPDX-License-Identifier: Apache-2.0
"""--reference-only: baselines alone, and how their failures are told apart."""

from __future__ import annotations

import pytest

PROBE = """
import pytest, torch
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(core=((2,),), cpu_core=((2,), (3,), (4,)))

def build(shape, dtype, device):
    return Inputs((torch.zeros(shape, dtype=dtype, device=device),))

def make(torch_op, **kwargs):
    return Benchmark("neg", torch_op, build, SHAPES, dtypes=("float32",), **kwargs)

def fails_on(size, error):
    def baseline(x):
        if x.numel() == size:
            raise error
    return baseline

@pytest.mark.neg
def test_fine():
    make("torch.neg").run()

@pytest.mark.neg
def test_missing():
    make("torch.no_such_function_").run()

@pytest.mark.neg
def test_dtype():
    make(fails_on(3, RuntimeError('"neg_cpu" not implemented for \\'Half\\''))).run()

@pytest.mark.neg
def test_not_implemented():
    make(fails_on(2, NotImplementedError("later"))).run()

@pytest.mark.neg
def test_unknown():
    make(fails_on(3, RuntimeError("device fault"))).run()

@pytest.mark.neg
def test_other_attribute():
    make(fails_on(2, AttributeError("not torch's"))).run()

@pytest.mark.neg
def test_interrupt():
    make(fails_on(3, KeyboardInterrupt())).run()

@pytest.mark.neg
def test_skip_inside():
    def baseline(x):
        if x.numel() == 3:
            pytest.skip("odd sizes")
    make(baseline).run()

@pytest.mark.neg
@pytest.mark.skip_native(vendors=("cpu", "iluvatar"), reason="no such kernel")
def test_no_baseline():
    make(fails_on(2, RuntimeError("must not be called")), gems_op=lambda x: x).run()

@pytest.mark.neg
@pytest.mark.skip_native(vendors="iluvatar", reason="no such kernel")
def test_baseline_here():
    make("torch.neg").run()

@pytest.mark.neg
@pytest.mark.skip_native("cpu")
def test_bad_mark():
    make("torch.neg").run()

@pytest.mark.neg
def test_first_lines_fail():
    raise LookupError("before any case")

class OwnRun(Benchmark):
    def run(self):
        raise AssertionError("the whole benchmark was run")

@pytest.mark.neg
def test_own_run():
    OwnRun("neg", "torch.neg", build, SHAPES).run()
"""


@pytest.fixture(scope="module", autouse=True)
def _probe(checkout):
    checkout.write("benchmark/test_probe_reference.py", PROBE)
    yield
    (checkout.root / "benchmark/test_probe_reference.py").unlink()


def run(checkout, name):
    done = checkout.pytest(
        "-q", f"benchmark/test_probe_reference.py::test_{name}", "--reference-only", output=True
    )
    assert done.report["schema_version"] == "flaggems.reference/v2"
    return done, done.report["status"], done.report["records"]


def test_passing_records_show_the_case_and_how_far_it_got(checkout):
    done, status, records = run(checkout, "fine")
    assert (done.code, status) == (0, "PASSED"), done.text
    node = "benchmark/test_probe_reference.py::test_fine"
    assert records[1] == {
        "nodeid": node,
        "operator": "neg",
        "case_id": f"{node}::core::float32::1",
        "ordinal": 1,
        "dtype": "float32",
        "shape": [3],
        "params": {},
        "status": "PASSED",
        "stage": "synchronize",
        "count": 1,
    }


@pytest.mark.parametrize(
    ("name", "statuses", "category", "stage"),
    [
        ("missing", ["FAILED"] * 3, "API_MISSING", "prepare_reference"),
        ("dtype", ["PASSED", "FAILED", "PASSED"], "DTYPE_UNSUPPORTED", "invoke"),
        ("not_implemented", ["FAILED", "PASSED", "PASSED"], "NOT_IMPLEMENTED", "invoke"),
        ("unknown", ["PASSED", "FAILED", "NOT_RUN"], "UNKNOWN", "invoke"),
        ("other_attribute", ["FAILED", "NOT_RUN", "NOT_RUN"], "UNKNOWN", "invoke"),
        ("interrupt", ["PASSED", "FAILED", "NOT_RUN"], "UNKNOWN", "invoke"),
    ],
)
def test_capability_failures_go_on_and_others_stop(checkout, name, statuses, category, stage):
    done, status, records = run(checkout, name)
    assert done.code == (2 if name == "interrupt" else 1), done.text
    assert status == "FAILED"
    assert [record["status"] for record in records] == statuses
    failed = records[statuses.index("FAILED")]
    assert (failed["failure"]["category"], failed["stage"]) == (category, stage)
    assert set(failed["failure"]) == {"category", "type", "message", "traceback"}
    assert "Traceback" in failed["failure"]["traceback"]
    if name in ("missing", "dtype"):
        assert f"failed in {statuses.count('FAILED')} of 3 cases" in done.text


def test_skip_in_the_source_skips_the_test_as_a_whole(checkout):
    done, status, records = run(checkout, "skip_inside")
    assert (done.code, status) == (0, "ALL_SKIP"), done.text
    assert [record["status"] for record in records] == ["PASSED", "SKIP", "NOT_RUN"]
    assert records[1]["reason"] == "odd sizes"


def test_skip_native_counts_only_on_its_vendors(checkout):
    done, status, records = run(checkout, "no_baseline")
    assert (done.code, status) == (0, "ALL_SKIP"), done.text
    assert {(record["status"], record["reason"]) for record in records} == {
        ("SKIP", "no such kernel")
    }
    assert run(checkout, "baseline_here")[1] == "PASSED"
    timed = checkout.pytest(
        "-q", "benchmark/test_probe_reference.py::test_no_baseline", "--level", "core", "--iter",
        "1", output=True,
    )  # fmt: skip
    assert timed.code == 0, timed.text
    for metric in timed.report["neg"]["details"][0]["result"]:
        assert (metric["latency_base"], metric["speedup"]) == (None, None)
        assert metric["latency"] > 0


def test_failures_outside_the_cases_are_told_with_their_phase(checkout):
    done, status, records = run(checkout, "bad_mark")
    assert (done.code, status) == (1, "FAILED")
    assert "skip_native takes vendors=" in records[0]["reason"]
    done, status, records = run(checkout, "first_lines_fail")
    assert (done.code, status) == (1, "FAILED")
    assert (records[0]["status"], records[0]["pytest_phase"]) == ("FAILED", "call")


def test_a_benchmark_with_a_run_of_its_own_is_unsupported(checkout):
    done, status, records = run(checkout, "own_run")
    assert (done.code, status) == (1, "UNSUPPORTED")
    assert [record["status"] for record in records] == ["UNSUPPORTED"]
    assert "the whole benchmark was run" not in done.text


def test_no_case_is_no_success(checkout):
    done = checkout.pytest(
        "-q", "benchmark/test_softmax.py", "-k", "nothing_at_all", "--reference-only", output=True
    )
    assert (done.code, done.report["status"]) == (1, "NO_CASES")


def test_level_is_core_by_default(checkout):
    done = checkout.pytest(
        "-q", "benchmark/test_softmax.py", "-m", "softmax", "--reference-only", output=True
    )
    assert done.code == 0, done.text
    assert len(done.report["records"]) == 6
    assert all("::core::" in record["case_id"] for record in done.report["records"])
