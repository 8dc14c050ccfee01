# SPDX-License-Identifier: Apache-2.0
"""The gates close for what was approved and for nothing else, on manifests of the small suite."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from bench import Bench  # noqa: E402
from small_mutations import ADD, COPY_CPU, CORE, DYNAMIC  # noqa: E402

from bench_runner.cli.inventory.gate import gate  # noqa: E402
from bench_runner.errors import UsageFault  # noqa: E402
from bench_runner.inventory.approvals import Approvals  # noqa: E402
from bench_runner.inventory.evidence import read_evidence  # noqa: E402
from bench_runner.inventory.findings import KINDS  # noqa: E402
from bench_runner.inventory.gate import GATES, judge  # noqa: E402
from bench_runner.inventory.manifest import write_manifest  # noqa: E402
from bench_runner.inventory.profile import load_profile  # noqa: E402
from bench_runner.inventory.records import Manifest  # noqa: E402

SUITE = HERE / "suite"
FILES = (CORE, DYNAMIC)
VERSION = "bench-runner.inventory-approval/v1"
REMOVED = {
    "kind": "test-removed",
    "file": CORE,
    "subject": "CommonTemplate.test_add",
    "count": 4,
    "reason": "covered by test_product",
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    work = tmp_path_factory.mktemp("gate")
    return Bench(SUITE, work, load_profile(str(SUITE / "gpu.yaml")), sys.executable, work / "cache")


def listed(bench: Bench) -> Manifest:
    return bench.manifest(FILES).model_copy(update={"settings": {"consumers": True}})


@pytest.fixture(scope="module")
def baseline(bench: Bench) -> Manifest:
    bench.fresh()
    return listed(bench)


@pytest.fixture(scope="module")
def without_add(bench: Bench, baseline: Manifest) -> Manifest:
    bench.fresh()
    path = bench.copy / CORE
    path.write_text(path.read_text().replace(ADD, ""))
    made = listed(bench)
    bench.fresh()
    return made


@pytest.fixture(scope="module")
def other_copy(bench: Bench, baseline: Manifest) -> Manifest:
    bench.fresh()
    path = bench.copy / "generator.py"
    path.write_text(path.read_text().replace("return value(self)", "return value(self) or None"))
    made = listed(bench)
    bench.fresh()
    return made


def approvals(**fields: object) -> Approvals:
    return Approvals.model_validate({"schema_version": VERSION, **fields})


def open_gates(report: object) -> list[str]:
    return [result.gate for result in report.gates if not result.closed]  # type: ignore[attr-defined]


def test_every_kind_belongs_to_one_gate() -> None:
    kinds = [kind for _, of_gate in GATES.values() for kind in of_gate]
    assert sorted(kinds) == sorted(KINDS)


def test_no_change_passes(baseline: Manifest) -> None:
    assert judge(baseline, baseline, approvals()).passed


def test_an_unapproved_change_is_named(baseline: Manifest, without_add: Manifest) -> None:
    report = judge(baseline, without_add, approvals())
    by_gate = {result.gate: result for result in report.gates}
    assert [f.subject for f in by_gate["ids"].unapproved] == ["CommonTemplate.test_add"]
    assert len(by_gate["ids"].unapproved[0].tests) == 4
    # The failure table of the consumer still names the method.
    assert [f.kind for f in by_gate["variants"].unapproved] == ["dead-key"]


def test_an_approved_change_passes_and_must_happen(
    baseline: Manifest, without_add: Manifest
) -> None:
    dead = {
        "kind": "dead-key",
        "file": DYNAMIC,
        "subject": "failures['test_add_dynamic']",
        "reason": "leaves with the next commit",
    }
    wanted = approvals(changes=[REMOVED, dead])
    assert judge(baseline, without_add, wanted).passed
    report = judge(baseline, baseline, wanted)
    assert open_gates(report) == ["ids", "variants"]
    assert [item.kind for item in report.gates[0].unhappened] == ["test-removed"]


def test_an_approval_covers_all_of_a_finding_or_none(
    baseline: Manifest, without_add: Manifest
) -> None:
    fewer = approvals(changes=[{**REMOVED, "count": 3}])
    assert "ids" in open_gates(judge(baseline, without_add, fewer))
    without_number = {k: v for k, v in REMOVED.items() if k != "count"}
    assert "ids" in open_gates(judge(baseline, without_add, approvals(changes=[without_number])))


def test_an_approval_of_a_later_stage_does_not_count(
    baseline: Manifest, without_add: Manifest
) -> None:
    wanted = approvals(stages=["labels", "removals"], changes=[{**REMOVED, "stage": "removals"}])
    early = judge(baseline, without_add, wanted, gates=("ids",), stage="labels")
    late = judge(baseline, without_add, wanted, gates=("ids",), stage="removals")
    assert open_gates(early) == ["ids"]
    assert late.passed
    with pytest.raises(UsageFault, match="known are labels, removals"):
        judge(baseline, without_add, wanted, stage="nonsense")


def test_an_allowed_kind_passes_wherever_it_occurs(
    baseline: Manifest, without_add: Manifest
) -> None:
    wanted = approvals(allow=[{"kind": "test-added", "reason": "new tests are free"}])
    assert judge(without_add, baseline, wanted, gates=("ids",)).passed
    assert not judge(baseline, without_add, wanted, gates=("ids",)).passed


def test_approvals_of_another_baseline_are_refused(baseline: Manifest) -> None:
    with pytest.raises(UsageFault, match="approvals are for baseline 000000000000"):
        judge(baseline, baseline, approvals(baseline="0" * 64))


def test_a_stale_candidate_is_refused(bench: Bench, baseline: Manifest) -> None:
    bench.fresh()
    assert judge(baseline, baseline, approvals(), root=bench.copy).passed
    path = bench.copy / CORE
    path.write_text(path.read_text() + "# later\n")
    with pytest.raises(UsageFault, match="make its manifest again"):
        judge(baseline, baseline, approvals(), root=bench.copy)
    bench.fresh()


def test_consumers_must_have_been_looked_for(baseline: Manifest) -> None:
    careless = baseline.model_copy(update={"settings": {}})
    report = judge(baseline, careless, approvals())
    assert open_gates(report) == ["consumers"]


def test_a_promised_name_must_be_there(baseline: Manifest) -> None:
    kept = approvals(protocol={CORE: ["CommonTemplate", "copy_tests", "CpuTests", "GPUTests"]})
    assert judge(baseline, baseline, kept).passed
    broken = approvals(protocol={CORE: ["SweepTests"]})
    assert open_gates(judge(baseline, baseline, broken)) == ["protocol"]


def junit(path: Path, cases: list[tuple[str, str, str]]) -> Path:
    body = "".join(
        f'<testcase classname="unit.{c}" name="{n}">{"<failure/>" if how == "failed" else ""}'
        "</testcase>"
        for c, n, how in cases
    )
    path.write_text(f"<testsuites><testsuite>{body}</testsuite></testsuites>")
    return path


def test_a_changed_generation_chain_wants_runs_of_three_tiers(
    baseline: Manifest, other_copy: Manifest, tmp_path: Path
) -> None:
    wanted = approvals(
        generation={"generator.py": ["copy_tests"], CORE: ["copy_tests"]},
        allow=[
            {"kind": kind, "reason": "the point of the change"}
            for kind in ("layer-changed", "helper-changed")
        ],
    )
    problems = judge(baseline, other_copy, wanted).gates[-1].problems
    assert [text.rpartition(" ")[2] for text in problems] == ["cpu", "accelerator", "consumers"]
    ran = [(t.found_as, t.name, "passed") for t in other_copy.tests]
    good = junit(tmp_path / "all.xml", ran)
    runs = [read_evidence(tier, good) for tier in ("cpu", "accelerator", "consumers")]
    assert judge(baseline, other_copy, wanted, evidence=tuple(runs)).passed
    one = junit(tmp_path / "one.xml", ran[1:])
    failed = junit(tmp_path / "failed.xml", [*ran, ("CpuTests", "test_x", "failed")])
    for bad, complaint in ((one, "1 tests were not run"), (failed, "1 failed")):
        report = judge(
            baseline, other_copy, wanted, evidence=(read_evidence("cpu", bad), *runs[1:])
        )
        assert open_gates(report) == ["evidence"]
        assert complaint in report.gates[-1].problems[0]


def test_the_command_line_names_annotates_and_drafts(
    baseline: Manifest, without_add: Manifest, tmp_path: Path
) -> None:
    before, after, draft = (tmp_path / name for name in ("m0.json", "m1.json", "draft.yaml"))
    write_manifest(before, baseline)
    write_manifest(after, without_add)
    arguments = [str(after), "--baseline", str(before), "--annotations", "github"]
    result = CliRunner().invoke(gate, [*arguments, "--draft", str(draft)])
    assert result.exit_code == 1
    assert "ids: unit/test_core.py: test-removed CommonTemplate.test_add" in result.output
    assert "::error file=unit/test_core.py,title=inventory gate ids::test-removed" in result.output
    drafted = yaml.safe_load(draft.read_text())
    assert {c["kind"] for c in drafted["changes"]} == {"test-removed", "dead-key"}
    refused = CliRunner().invoke(gate, [*arguments, "--approved", str(draft)])
    assert isinstance(refused.exception, UsageFault)
    for change in drafted["changes"]:
        change["reason"] = "reviewed"
    draft.write_text(yaml.safe_dump(drafted))
    passed = CliRunner().invoke(gate, [*arguments, "--approved", str(draft), "--format", "json"])
    assert passed.exit_code == 0
    assert json.loads(passed.output)["passed"] is True


def test_a_manifest_of_another_schema_is_refused(baseline: Manifest, tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    write_manifest(path, baseline)
    path.write_text(
        path.read_text().replace("bench-runner.inventory/v1", "bench-runner.inventory/v0")
    )
    result = CliRunner().invoke(gate, [str(path), "--baseline", str(path)])
    assert isinstance(result.exception, UsageFault)
    assert "make the manifest again" in str(result.exception)


def test_suffix_changes_can_be_approved_by_number(bench: Bench, baseline: Manifest) -> None:
    bench.fresh()
    path = bench.copy / CORE
    path.write_text(path.read_text().replace(COPY_CPU, COPY_CPU.replace('"cpu"', '"host"')))
    after = listed(bench)
    bench.fresh()
    number = sum(test.found_as == "CpuTests" for test in after.tests)
    wanted = approvals(
        changes=[
            {
                "kind": "suffix-renamed",
                "file": CORE,
                "subject": "CpuTests",
                "detail": "cpu -> host",
                "count": number,
                "reason": "names the host",
            }
        ]
    )
    assert judge(baseline, after, wanted).passed
