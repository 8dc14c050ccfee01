# SPDX-License-Identifier: Apache-2.0
"""Benchmark sessions: cases, preflight, timing and profile, of real benchmarks and of odd ones."""

from __future__ import annotations

import json

import pytest

SOFTMAX = ("-q", "benchmark/test_softmax.py", "-m", "softmax", "--level", "core")
ADDMM = ("-q", "benchmark/test_addmm_.py", "--level", "core")
NODE = "benchmark/test_softmax.py::test_softmax"
FIRST = f"{NODE}::core::float32::0"

PROBE = """
import pytest, torch
import flag_gems
from flag_gems.testing.benchmark import Benchmark, Inputs, Shapes

SHAPES = Shapes(core=((4, 8),), cpu_core=((4, 8), (2, 3)), cpu_more=((5, 5),))

def build(shape, dtype, device):
    return Inputs((torch.randn(shape, dtype=dtype, device=device),))

def make(op_name="neg", torch_op="torch.neg", build=build, **kwargs):
    return Benchmark(op_name, torch_op, build, SHAPES, dtypes=("float32",), **kwargs)

class OwnRun(Benchmark):
    def run(self):
        raise AssertionError("the whole benchmark was run")

@pytest.mark.neg
def test_plain():
    make(gems_op=flag_gems.neg).run()

@pytest.mark.neg
def test_through_torch():
    make().run()

@pytest.mark.abs
def test_own_run():
    OwnRun("abs", "torch.abs", build, SHAPES).run()

@pytest.mark.abs
def test_without_a_benchmark():
    pass

@pytest.mark.mul
def test_bad_inputs():
    def build(shape, dtype, device):
        raise MemoryError("no room")
    make(build=build).run()

@pytest.mark.mul
def test_skips():
    pytest.skip("not here")

@pytest.mark.add
def test_two_in_one():
    make(gems_op=flag_gems.neg).run()
    make("abs", "torch.abs", gems_op=flag_gems.abs).run()

@pytest.mark.sum
def test_written_operand():
    def build(shape, dtype, device):
        return Inputs((torch.ones(shape, dtype=dtype, device=device),), writes=(0,))
    def doubled(x):
        assert (x == 1).all(), "an operand was not put back"
        return x.mul_(2)
    make("double_", doubled, build, gems_op=doubled).run()
"""


@pytest.fixture(scope="module", autouse=True)
def _probe(checkout):
    checkout.write("benchmark/test_probe.py", PROBE)
    yield
    (checkout.root / "benchmark/test_probe.py").unlink()


def ids(report):
    return [case["case_id"] for entry in report["benchmarks"] for case in entry["cases"]]


def test_list_is_the_only_thing_on_standard_output(checkout):
    done = checkout.python("-m", "pytest", "-p", "no:cacheprovider", *SOFTMAX, "--list-cases")
    assert done.code == 0, done.text
    report = json.loads(done.stdout)
    assert report["schema_version"] == "flaggems.benchmark-case-list/v2"
    (entry,) = report["benchmarks"]
    assert {key: entry[key] for key in ("op_name", "phase", "level")} == {
        "op_name": "softmax",
        "phase": "timing",
        "level": "core",
    }
    assert entry["cases"][1] == {
        "case_id": f"{NODE}::core::float32::1",
        "ordinal": 1,
        "dtype": "float32",
        "shape": [64, 1000],
        "params": {},
    }
    assert "1 passed" in done.stderr


def test_listing_makes_no_tensor(checkout):
    plugin = checkout.candidate(
        "forbid.py",
        "import torch\n"
        "from torch.overrides import TorchFunctionMode\n"
        "class Forbid(TorchFunctionMode):\n"
        "    def __torch_function__(self, func, types, args=(), kwargs=None):\n"
        "        raise AssertionError(f'{func} was called')\n"
        "def pytest_runtest_call(item):\n"
        "    item.forbid = Forbid()\n"
        "    item.forbid.__enter__()\n"
        "def pytest_runtest_teardown(item):\n"
        "    item.forbid.__exit__(None, None, None)\n",
    )
    done = checkout.python(
        "-c",
        f"import sys, pytest; sys.path.insert(0, {str(plugin.parent)!r})\n"
        "sys.exit(pytest.main(['-p', 'forbid', '-p', 'no:cacheprovider', *sys.argv[1:]]))",
        *SOFTMAX, "--list-cases", output=True,
    )  # fmt: skip
    assert done.code == 0, done.text
    assert len(ids(done.report)) == 6


def test_ids_do_not_depend_on_the_selection_of_dtypes_and_are_unique(checkout):
    everything = checkout.pytest("-q", "benchmark", "--list-cases", "-k", "not probe", output=True)
    assert everything.code == 0, everything.text
    all_ids = ids(everything.report)
    assert len(all_ids) == len(set(all_ids)) > 100
    half = checkout.pytest(
        "-q", "benchmark/test_addmm_.py", "--list-cases", "--dtypes", "float16", output=True
    )
    assert set(ids(half.report)) == {
        i for i in all_ids if i.startswith("benchmark/test_addmm_.py") and "::float16::" in i
    }
    two = checkout.pytest(
        "-q", "benchmark/test_probe.py", "-k", "two_in_one", "--level", "core", "--list-cases",
        output=True,
    )  # fmt: skip
    assert [i.rsplit("::", 1)[1] for i in ids(two.report)] == ["0", "1", "2", "3"]


def test_shape_file_replaces_shapes(checkout):
    shapes = checkout.candidate("shapes.yaml", "softmax: [[3, 5], [7]]\nneg: [[1]]\n")
    done = checkout.pytest(*SOFTMAX, "--shape_file", shapes, "--list-cases", output=True)
    shapes_found = [case["shape"] for case in done.report["benchmarks"][0]["cases"]]
    assert shapes_found == [[3, 5], [7]] * 3
    shapes.write_text("softmax: 3\n")
    done = checkout.pytest(*SOFTMAX, "--shape_file", shapes, "--list-cases", output=True)
    assert done.code == 1
    assert "softmax must be a list of lists of sizes" in done.text
    assert done.report is None


def test_preflight_of_the_documents_example(checkout, good):
    listed = checkout.pytest(*ADDMM, "--list-cases", output=True)
    done = checkout.pytest(
        *ADDMM, "--preflight-only", "--override", f"addmm_:{good}:run", "--record", "json",
        output=True,
    )  # fmt: skip
    assert done.code == 0, done.text
    assert set(done.report) == {"schema_version", "records"}
    assert done.report["schema_version"] == "flaggems.preflight/v1"
    assert done.report["records"] == [
        {
            "operator": "addmm_",
            "nodeid": "benchmark/test_addmm_.py::test_addmm_",
            "case_id": case_id,
            "override": True,
            "count": 1,
            "status": "passed",
        }
        for case_id in ids(listed.report)
    ]


def test_preflight_selects_cases_and_tries_the_librarys_operator_without_override(checkout):
    done = checkout.pytest(
        *SOFTMAX, "--preflight-only", "--case-id", FIRST, "--case-id",
        f"{NODE}::core::bfloat16::1", output=True,
    )  # fmt: skip
    assert done.code == 0, done.text
    assert [(r["override"], r["count"]) for r in done.report["records"]] == [(False, 1)] * 2
    through = checkout.pytest(
        "-q", "benchmark/test_probe.py", "-k", "through_torch", "--level", "core",
        "--preflight-only", output=True,
    )  # fmt: skip
    assert through.code == 0, through.text


def test_preflight_failures_are_recorded_case_by_case(checkout):
    path = checkout.candidate(
        "half.py",
        "import torch, pytest\n"
        "def f(x, dim):\n"
        "    if x.dtype == torch.float16: raise ValueError('no\\nhalf')\n"
        "    if x.dtype == torch.bfloat16: raise SystemExit(0)\n"
        "    return torch.softmax(x, dim)\n",
    )
    done = checkout.pytest(
        *SOFTMAX, "--preflight-only", "--override", f"softmax:{path}:f", output=True
    )
    assert done.code == 1
    assert [(r["status"], r["count"]) for r in done.report["records"]] == [
        ("passed", 1), ("passed", 1), *[("failed", 1)] * 4,
    ]  # fmt: skip
    assert done.report["records"][2]["error"] == "ValueError: no\nhalf"
    assert done.report["records"][4]["error"] == "SystemExit: 0"
    assert "--preflight-only: 4 of 6 cases failed" in done.stdout


def test_preflight_counts_a_candidate_that_enters_itself_again(checkout):
    path = checkout.candidate(
        "twice.py",
        "import flag_gems, torch\n"
        "inside = False\n"
        "def f(x, dim):\n"
        "    global inside\n"
        "    if inside: return torch.softmax(x, dim)\n"
        "    inside = True\n"
        "    try: return flag_gems.softmax(x, dim)\n"
        "    finally: inside = False\n",
    )
    done = checkout.pytest(
        *SOFTMAX, "--preflight-only", "--override", f"softmax:{path}:f", output=True
    )
    assert done.code == 0, done.text
    found = [(r["override"], r["count"], r["status"]) for r in done.report["records"]]
    assert found == [(True, 2, "passed")] * 6


def test_preflight_does_not_claim_a_candidate_of_another_operator(checkout, good):
    done = checkout.pytest(
        *SOFTMAX, "--preflight-only", "--override", f"sotfmax:{good}:softmax", output=True
    )
    assert done.code == 1
    assert "override never called: flag_gems.sotfmax" in done.text
    found = [(r["override"], r["count"], r["status"]) for r in done.report["records"]]
    assert found == [(False, 1, "passed")] * 6


def test_preflight_fails_when_the_candidate_is_not_reached(checkout):
    path = checkout.candidate(
        "hides.py",
        "import torch\n"
        "from flag_gems.testing.plugin import session\n"
        "session.BenchmarkSession.override_calls = lambda self, name: 0\n"
        "def softmax(x, dim):\n"
        "    return torch.softmax(x, dim)\n",
    )
    done = checkout.pytest(
        *SOFTMAX, "--preflight-only", "--override", f"softmax:{path}", output=True
    )
    assert done.code == 1
    for record in done.report["records"]:
        assert (record["override"], record["count"], record["status"]) == (False, 0, "failed")
        assert record["error"].startswith("OverrideNotInvokedError: ")


def test_preflight_inputs_that_cannot_be_built_leave_count_0(checkout):
    done = checkout.pytest(
        "-q", "benchmark/test_probe.py", "-k", "bad_inputs", "--level", "core",
        "--preflight-only", output=True,
    )  # fmt: skip
    assert done.code == 1
    assert [(r["status"], r["count"]) for r in done.report["records"]] == [("failed", 0)] * 2
    candidate = checkout.candidate("mine.py", "def neg(x): return x\n")
    done = checkout.pytest(
        "-q", "benchmark/test_probe.py", "-k", "bad_inputs", "--level", "core",
        "--preflight-only", "--override", f"neg:{candidate}", output=True,
    )  # fmt: skip
    assert [(r["override"], r["count"]) for r in done.report["records"]] == [(False, 0)] * 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*SOFTMAX, "--case-id", "x::y"), "unknown --case-id: x::y"),
        (("-q", "benchmark/test_probe.py", "-k", "test_skips"), "no case was run"),
        (("-q", "benchmark/test_probe.py", "-k", "own_run"), "does not enumerate its cases"),
        (
            ("-q", "benchmark/test_probe.py", "-k", "without_a_benchmark"),
            "does not enumerate its cases",
        ),
        (("-q", "benchmark/test_softmax.py", "-k", "nothing_at_all"), "no case was run"),
    ],
)
def test_preflight_of_nothing_is_no_success(checkout, arguments, message):
    done = checkout.pytest(*arguments, "--preflight-only", output=True)
    assert done.code == 1, done.text
    assert message in done.text
    assert "the whole benchmark was run" not in done.text
    assert all(record["status"] != "passed" for record in done.report["records"])


def test_listing_a_benchmark_that_cannot_enumerate_is_an_error(checkout):
    done = checkout.pytest(
        "-q", "benchmark/test_probe.py", "-k", "own_run", "--list-cases", output=True
    )
    assert done.code == 1
    assert "does not enumerate its cases" in done.text
    assert done.report is None


def test_timing_of_an_override(checkout, good):
    done = checkout.pytest(
        *SOFTMAX, "--override", f"softmax:{good}", "--record", "json", "--warmup", "1",
        "--iter", "3", output=True,
    )  # fmt: skip
    assert done.code == 0, done.text
    entry = done.report["softmax"]
    assert (entry["result"], entry["reason"]) == ("passed", None)
    assert [d["dtype"] for d in entry["details"]] == ["float32", "float16", "bfloat16"]
    for detail in entry["details"]:
        assert (detail["op_name"], detail["mode"], detail["level"]) == (
            "softmax", "kernel", "core",
        )  # fmt: skip
        for metric in detail["result"]:
            assert metric["candidate_source"] == "override"
            assert metric["status"] == "passed"
            assert metric["latency"] > 0
            assert metric["speedup"] == pytest.approx(metric["latency_base"] / metric["latency"])
            assert metric["samples"] >= 5
            assert metric["samples_base"] >= 5
            assert metric["spread"] >= 0


def test_timing_without_override_is_of_gems_and_metrics_select(checkout):
    done = checkout.pytest(
        "-q", "benchmark/test_probe.py", "-k", "plain or written", "--level", "core", "--warmup",
        "0", "--iter", "1", "--mode", "operator", "--metrics", "latency", output=True,
    )  # fmt: skip
    assert done.code == 0, done.text
    for operator in ("neg", "double_"):
        for metric in done.report[operator]["details"][0]["result"]:
            assert metric["candidate_source"] == "gems"
            assert "speedup" not in metric
            assert metric["latency"] > 0


def test_a_case_that_fails_is_recorded_as_failed_and_never_as_a_ratio(checkout):
    path = checkout.candidate(
        "rows.py",
        "import torch\n"
        "def f(x, dim):\n"
        "    assert x.shape[0] == 32, 'only 32 rows'\n"
        "    return torch.softmax(x, dim)\n",
    )
    done = checkout.pytest(
        *SOFTMAX, "--dtypes", "float32", "--override", f"softmax:{path}:f", "--iter", "1",
        output=True,
    )  # fmt: skip
    assert done.code == 1
    good, bad = done.report["softmax"]["details"][0]["result"]
    assert (good["status"], good["candidate_source"]) == ("passed", "override")
    assert (bad["status"], bad["error"]) == ("failed", "AssertionError: only 32 rows")
    assert (bad["latency"], bad["speedup"], bad["candidate_source"]) == (None, None, None)
    assert done.report["softmax"]["result"] == "failed"


def test_an_override_of_another_operator_is_unused_and_not_claimed(checkout, good):
    done = checkout.pytest(
        *SOFTMAX, "--dtypes", "float32", "--override", f"sotfmax:{good}:softmax", "--iter", "1",
        output=True,
    )  # fmt: skip
    assert done.code == 1
    assert "override never called: flag_gems.sotfmax" in done.text
    sources = {m["candidate_source"] for m in done.report["softmax"]["details"][0]["result"]}
    assert sources == {"gems"}


PROFILER = """
import json, sys
from contextlib import contextmanager
import pytest

class Profiler:
    log = []

    def pytest_flaggems_profile_scope(self, backend, case_id):
        return self.scope(backend, case_id)

    @contextmanager
    def scope(self, backend, case_id):
        import builtins
        self.log.append(("enter", backend, case_id, list(builtins.calls)))
        try:
            yield
        finally:
            self.log.append(("leave", list(builtins.calls)))

import builtins
builtins.calls = []
code = pytest.main(["-p", "no:cacheprovider", *sys.argv[1:]], plugins=[Profiler()])
print("LOG " + json.dumps(Profiler.log))
print("CALLS", len(builtins.calls))
sys.exit(int(code))
"""


@pytest.mark.parametrize("fails", [False, True])
def test_profile_scope_holds_exactly_the_iterations(checkout, fails):
    path = checkout.candidate(
        "traced.py",
        "import builtins, torch\n"
        "def run(x, a, b, *, beta, alpha):\n"
        "    builtins.calls.append(round(x.flatten()[0].item(), 4))\n"
        f"    if {fails} and len(builtins.calls) == 5: raise KeyError('inside')\n"
        "    return x.addmm_(a, b, beta=beta, alpha=alpha)\n",
    )
    case_id = "benchmark/test_addmm_.py::test_addmm_::core::float32::0"
    done = checkout.python(
        "-c", PROFILER, *ADDMM, "--profile-only", "--case-id", case_id, "--profile-warmup", "3",
        "--profile-iterations", "2", "--override", f"addmm_:{path}:run",
    )  # fmt: skip
    assert done.code == (1 if fails else 0), done.text
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("LOG ")]
    enter, leave = json.loads(line[4:])
    assert enter[:3] == ["enter", "cpu", case_id]
    assert (len(enter[3]), len(leave[1])) == (3, 5)
    # Each call found the in-place operand as it was at first.
    assert len(set(leave[1])) == 1


def test_profile_without_a_plugin_only_replays(checkout):
    done = checkout.pytest(*SOFTMAX, "--profile-only", "--case-id", FIRST, "--profile-warmup", "0")
    assert done.code == 0, done.text
    unknown = checkout.pytest(*SOFTMAX, "--profile-only", "--case-id", "nowhere")
    assert unknown.code == 1
    assert "unknown --case-id: nowhere" in unknown.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--preflight-only", "--profile-only"), "--preflight-only cannot be combined with"),
        (("--preflight-only", "--list-cases"), "--preflight-only cannot be combined with"),
        (("--preflight-only", "--query"), "--preflight-only cannot be combined with --query"),
        (("--preflight-only", "--parallel", "2"), "--preflight-only cannot be combined with"),
        (("--profile-only",), "--profile-only needs exactly one --case-id"),
        (("--profile-only", "--case-id", "a", "--case-id", "b"), "needs exactly one --case-id"),
        (("--case-id", "a", "--case-id", "a"), "a --case-id is given twice"),
        (("--list-cases", "--case-id", "a"), "--case-id cannot be combined with --list-cases"),
        (("--reference-only", "--list-cases"), "--reference-only cannot be combined with"),
        (("--reference-only", "--preflight-only"), "--reference-only cannot be combined with"),
        (("--reference-only", "--parallel", "1"), "--reference-only cannot be combined with"),
        (("--reference-only", "--override", "a:b.py"), "--reference-only runs no candidate"),
        (("--reference-only", "-n", "2"), "--reference-only cannot run under xdist"),
        (("--preflight-only", "-n", "2"), "--preflight-only cannot run under xdist"),
        (("--iter", "0"), "--iter more than 0 ms"),
        (("--profile-iterations", "0"), "--profile-iterations at least 1"),
        (("--mode", "cudagraph"), "--mode cudagraph needs a CUDA device"),
        (("--parallel", "2"), "--parallel"),
        (("--dtypes", "float23"), "float23"),
    ],
)
def test_what_cannot_be_combined_is_a_usage_error(checkout, arguments, message):
    done = checkout.pytest(*SOFTMAX, *arguments)
    assert done.code == 4, done.text
    assert message in done.stderr
    assert "Traceback" not in done.text


def test_tests_and_benchmarks_are_not_recorded_into_one_file(checkout):
    checkout.write("tests/test_probe_trivial.py", "def test_it():\n    assert 1 + 1 == 2\n")
    done = checkout.pytest(
        "-q", "tests/test_probe_trivial.py", "benchmark/test_probe.py", "-k", "it or plain",
        output=True,
    )  # fmt: skip
    (checkout.root / "tests/test_probe_trivial.py").unlink()
    assert done.code == 4
    assert "have different reports" in done.stderr
    assert done.report is None


def test_parallel_merges_the_sessions_of_the_devices(checkout, good):
    done = checkout.pytest(
        *SOFTMAX, "--parallel", "1", "--iter", "1", "--override", f"softmax:{good}", output=True
    )
    assert done.code == 0, done.text
    found = [
        (metric["case_id"], metric["candidate_source"])
        for detail in done.report["softmax"]["details"]
        for metric in detail["result"]
    ]
    listed = checkout.pytest(*SOFTMAX, "--list-cases", output=True)
    assert found == [(case_id, "override") for case_id in ids(listed.report)]


def test_query_prints_shapes_and_runs_nothing(checkout):
    done = checkout.pytest(*SOFTMAX, "--query", "-s")
    assert "float16 [64, 1000]" in done.stdout
    assert "1 skipped" in done.stdout
