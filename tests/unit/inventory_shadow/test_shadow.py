# SPDX-License-Identifier: Apache-2.0
"""Labels of a small suite, the proof that its shadow closes, and what keeps one from closing."""

from __future__ import annotations

import pytest
import yaml
from click.testing import CliRunner
from pydantic import ValidationError

from bench_runner.cli.inventory.shadow import shadow
from bench_runner.errors import UsageFault
from bench_runner.inventory.decisions import Decisions, proposal, read_decisions
from bench_runner.inventory.shadow import make_shadow
from bench_runner.inventory.shadow_records import MethodLabel

LABELS = {
    # method: (in GpuTests, in CpuTests, capabilities)
    "test_plain": ("ACCELERATOR", "CPU", ()),
    "test_many": ("ACCELERATOR", "CPU", ()),
    "test_only_cuda": ("CUDA", "CUDA", ()),
    "test_not_on_the_accelerator": ("CPU", "CPU", ()),
    "test_needs_gpu": ("ACCELERATOR", "ACCELERATOR", ()),
    "test_literal": ("review", "review", ()),
    "test_through_a_helper": ("review", "review", ()),
    "test_triton": ("ACCELERATOR", "CPU", ("lib.triton",)),
    "test_attention": ("ACCELERATOR", "CPU", ("attention.flash_attention",)),
    "test_method": ("CUDA", "CUDA", ()),
}


def _line(small, text):
    return 1 + small.file.read_text().splitlines().index(text)


@pytest.fixture
def made(small):
    return make_shadow("test_small.py", small.discovery())


def test_each_method_has_a_label_for_each_target(made):
    found = {(item.target, item.method): item for item in made.labels}
    for method, (gpu, cpu, capabilities) in LABELS.items():
        for target, label in (("GpuTests", gpu), ("CpuTests", cpu)):
            item = found.pop((target, f"Template.{method}"))
            assert (item.label, item.capabilities) == (label, capabilities), (target, method)
    rest = {(target, item.label) for (target, _), item in found.items()}
    assert rest == {("TestOnGpu", "ACCELERATOR"), ("TestNoDevice", "GENERIC")}


def test_evidence_names_rule_line_and_helper(small, made):
    by_name = {item.method: item.evidence for item in made.labels if item.target == "GpuTests"}
    (given, gate, *_) = by_name["Template.test_only_cuda"]
    assert (given.rule, given.line) == (
        "target.device",
        _line(small, "        device = GPU_TYPE"),
    )
    assert (gate.rule, gate.about, gate.text) == ("gate.only", "CUDA", "self.device != 'cuda'")
    assert gate.line == _line(small, '        if self.device != "cuda":')
    literal = [e for e in by_name["Template.test_through_a_helper"] if e.rule == "device.literal"]
    assert [(e.via, e.line) for e in literal] == [
        ("helper", _line(small, 'def helper(x): return x.to("cuda")'))
    ]


def test_the_shadow_closes_and_nobody_can_discover_it(made):
    assert made.closes
    assert {c.target: (c.tests, c.copied, c.source_methods) for c in made.closures} == {
        "CpuTests": (12, 12, 10),
        "GpuTests": (12, 12, 10),
    }
    assert made.closures[1].labels == {"ACCELERATOR": 7, "CUDA": 2, "CPU": 1, "review": 2}
    assert (made.loader.before, made.loader.after) == (26, 26)


def test_without_the_device_there_is_one_target(small):
    small.device("cuda", present=False)
    made = make_shadow("test_small.py", small.discovery())
    assert [closure.target for closure in made.closures] == ["CpuTests"]
    assert made.closes


@pytest.mark.parametrize(
    ("old", "new", "part", "named"),
    [
        (
            "    class TestOnGpu(",
            "    GpuTests.test_added = lambda self: None\n\n    class TestOnGpu(",
            "lost",
            "test_added",
        ),
        (
            "    class TestOnGpu(",
            "    del GpuTests.test_plain_cuda\n\n    class TestOnGpu(",
            "unlabelled",
            "test_plain_cuda",
        ),
        (
            "    class TestOnGpu(",
            "    GpuTests.test_plain_cuda = unittest.skip('x')(GpuTests.test_plain_cuda)\n\n"
            "    class TestOnGpu(",
            "unequal",
            "test_plain_cuda",
        ),
        (
            '        if name.startswith("test_"):',
            '        if name.startswith("test_") and name != "test_plain":',
            "unmapped",
            "Template.test_plain",
        ),
    ],
)
def test_what_the_copier_does_not_explain_keeps_it_open(small, old, new, part, named):
    small.edit(old, new)
    made = make_shadow("test_small.py", small.discovery())
    gpu = next(c for c in made.closures if c.target == "GpuTests")
    assert not made.closes
    assert not gpu.closes
    assert named in getattr(gpu, part)


def test_a_definition_that_another_hides_is_named(small):
    small.edit(
        "    def test_method(self):", "    def test_plain(self): pass\n\n    def test_method(self):"
    )
    made = make_shadow("test_small.py", small.discovery())
    assert made.closures[0].shadowed == ("test_plain",)


def _decide(made, small, label="CUDA", **changes):
    literal = next(
        item
        for item in made.labels
        if item.method == "Template.test_literal" and item.target == "GpuTests"
    )
    entry = {
        "method": literal.method,
        "target": "GpuTests",
        "body": literal.body,
        "label": label,
        "reason": "the string is a device of this vendor",
        **changes,
    }
    path = small.folder / "decisions.yaml"
    path.write_text(
        yaml.safe_dump(
            {"schema_version": "bench-runner.inventory-decisions/v1", "decisions": [entry]}
        )
    )
    return path


def test_a_decision_holds_until_the_method_changes(small, made):
    decisions = read_decisions(_decide(made, small))
    again = make_shadow("test_small.py", small.discovery(), decisions)
    by_target = {i.target: i for i in again.labels if i.method == "Template.test_literal"}
    assert (by_target["GpuTests"].label, by_target["GpuTests"].decided_by) == ("CUDA", "person")
    assert by_target["CpuTests"].label == "review"
    assert again.closes
    assert not again.stale

    small.edit('lambda d: "cuda:0"', 'lambda d: "cuda:1"')
    changed = make_shadow("test_small.py", small.discovery(), decisions)
    item = next(
        i for i in changed.labels if i.method == "Template.test_literal" and i.target == "GpuTests"
    )
    assert item.label == "review"
    assert "decided as CUDA for another body" in item.why
    assert [(s.method, s.why.split()[1]) for s in changed.stale] == [
        ("Template.test_literal", "body")
    ]


def test_a_comment_makes_no_decision_stale(small, made):
    decisions = read_decisions(_decide(made, small))
    small.edit("    def test_literal(self):", "    # why\n    def test_literal(self):")
    assert not make_shadow("test_small.py", small.discovery(), decisions).stale


def test_a_decision_about_nothing_is_stale(small, made):
    decisions = read_decisions(_decide(made, small, method="Template.test_gone"))
    again = make_shadow("test_small.py", small.discovery(), decisions)
    assert [item.why for item in again.stale] == ["no such method in this target"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label": "review"}, "review is no decision"),
        ({"reason": " "}, "needs a reason"),
        ({"label": "NPU"}, "label"),
    ],
)
def test_no_decision_without_a_label_and_a_reason(small, made, changes, message):
    with pytest.raises(UsageFault, match=message):
        read_decisions(_decide(made, small, **changes))


def test_the_proposal_lists_what_is_in_review_and_cannot_be_used_unread(small, made):
    path = small.folder / "proposal.yaml"
    path.write_text(proposal(made.labels))
    entries = yaml.safe_load(path.read_text())["decisions"]
    assert {(item["method"], item["target"]) for item in entries} == {
        (item.method, item.target) for item in made.labels if item.label == "review"
    }
    with pytest.raises(UsageFault, match="review is no decision"):
        read_decisions(path)


def test_a_label_cannot_be_bare(made):
    fields = made.labels[0].model_dump() | {"evidence": ()}
    with pytest.raises(ValidationError, match="evidence"):
        MethodLabel(**fields)


def test_the_command_shows_evidence_and_exits_by_closure(small):
    arguments = [str(small.file), "--root", str(small.folder), "--cache", str(small.cache)]
    runner = CliRunner()
    done = runner.invoke(shadow, [*arguments, "--show", "test_only_cuda"])
    assert done.exit_code == 0, done.output
    assert "gate.only" in done.stdout
    assert "GpuTests: closes: 7 ACCELERATOR + 1 CPU + 2 CUDA + 2 review = 12 of 12" in done.stderr
    small.edit("    class TestOnGpu(", "    del GpuTests.test_plain_cuda\n\n    class TestOnGpu(")
    done = runner.invoke(shadow, arguments)
    assert done.exit_code == 1
    assert "unlabelled: 1, first test_plain_cuda" in done.stderr


def test_a_file_without_tests_is_no_success(small):
    small.file.write_text("import unittest\n")
    with pytest.raises(UsageFault, match="no unittest class with tests"):
        make_shadow(
            "test_small.py",
            small.discovery(),
            Decisions(schema_version="bench-runner.inventory-decisions/v1"),
        )
