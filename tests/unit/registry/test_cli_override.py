# SPDX-License-Identifier: Apache-2.0
"""The command line and the configuration file: what they accept, and what they say otherwise."""

from __future__ import annotations

import argparse
import json
from types import SimpleNamespace

import pytest
from _pytest.config.argparsing import Parser


@pytest.mark.parametrize(
    ("spec", "parsed"),
    [
        ("softmax:./custom.py", ("softmax", "./custom.py", "softmax")),
        ("softmax:./custom.py:mine", ("softmax", "./custom.py", "mine")),
        ("softmax=./custom.py", ("softmax", "./custom.py", "softmax")),
        ("softmax=./custom.py:mine", ("softmax", "./custom.py", "mine")),
        ("flag_gems.softmax:/a.py:f", ("softmax", "/a.py", "f")),
        ("addmm_:/a b/c=d/e:f.py:run", ("addmm_", "/a b/c=d/e:f.py", "run")),
        ("addmm_:/a:b.py", ("addmm_", "/a:b.py", "addmm_")),
        ("_list_to_tensor=/x.py", ("_list_to_tensor", "/x.py", "_list_to_tensor")),
        ("softmax: ./custom.py : mine ", ("softmax", "./custom.py", "mine")),
        ("softmax:/in/script:mine", ("softmax", "/in/script", "mine")),
    ],
)
def test_specs(cli, spec, parsed):
    assert cli.parse_override_spec(spec) == parsed


def test_the_disk_decides_where_the_file_ends(cli, tmp_path):
    (tmp_path / "odd:name").write_text("")
    (tmp_path / "both.py").write_text("")
    (tmp_path / "both.py:twin").write_text("")
    assert cli.parse_override_spec(f"op:{tmp_path}/odd:name")[1:] == (f"{tmp_path}/odd:name", "op")
    assert cli.parse_override_spec(f"op:{tmp_path}/odd:name:fn")[1:] == (
        f"{tmp_path}/odd:name",
        "fn",
    )
    assert cli.parse_override_spec(f"op:{tmp_path}/both.py:twin")[1:] == (
        f"{tmp_path}/both.py",
        "twin",
    )


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("", "expected OPERATOR"),
        ("softmax", "expected OPERATOR"),
        ("./custom.py:softmax", "expected OPERATOR"),
        (":./custom.py", "expected OPERATOR"),
        ("softmax:", "no file"),
        ("softmax=", "no file"),
        ("softmax::run", "no file"),
        ("softmax:./custom.py:", "no function after ':'"),
        ("softmax:./custom.py:not a name", "'not a name' is not a function name"),
        ("soft max:./custom.py", "expected OPERATOR"),
    ],
)
def test_malformed_specs(cli, spec, why):
    with pytest.raises(cli.OverrideSpecError) as caught:
        cli.parse_override_spec(spec)
    assert isinstance(caught.value, ValueError)
    assert why in str(caught.value)
    assert repr(spec) in str(caught.value)
    assert "\n" not in str(caught.value)


YAML = """\
overrides:
  softmax:
    file: ./candidates/softmax_v2.py
    function: my_softmax
  rms_norm: ./candidates/rms_norm_v2.py       # function named like the operator
  layer_norm: ./candidates/layer_norm_v2.py:my_layer_norm
"""
TARGETS = {
    "softmax": ("./candidates/softmax_v2.py", "my_softmax"),
    "rms_norm": ("./candidates/rms_norm_v2.py", "rms_norm"),
    "layer_norm": ("./candidates/layer_norm_v2.py", "my_layer_norm"),
}


def test_yaml_and_json(cli, write):
    assert cli.load_override_config(write("o.yaml", YAML)) == TARGETS
    document = {
        "overrides": {
            "softmax": {"file": "./candidates/softmax_v2.py", "function": "my_softmax"},
            "rms_norm": {"file": "./candidates/rms_norm_v2.py"},
            "layer_norm": "./candidates/layer_norm_v2.py:my_layer_norm",
        }
    }
    assert cli.load_override_config(str(write("o.json", json.dumps(document)))) == TARGETS


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("o.yaml", "", "o.yaml: the file is empty"),
        ("o.yaml", "- softmax\n", "o.yaml:1: the document must be a mapping"),
        ("o.yaml", "softmax: a.py\n", "o.yaml:1: unknown key 'softmax' in the document"),
        ("o.yaml", "overrides:\n", "o.yaml:1: 'overrides' must be a mapping"),
        ("o.yaml", "overrides: {}\n", "'overrides' lists no operator"),
        ("o.yaml", "{}\n", "no key 'overrides'"),
        ("o.yaml", "overrides:\n  a: 3\n", "o.yaml:2: overrides.a must be file[:function]"),
        ("o.yaml", "overrides:\n  a: 'x.py:'\n", "o.yaml:2: overrides.a: no function after"),
        (
            "o.yaml",
            "overrides:\n  a:\n    file: x.py\n    func: b\n",
            "o.yaml:4: unknown key 'func' in overrides.a (known: 'file', 'function')",
        ),
        ("o.yaml", "overrides:\n  a:\n    function: b\n", "o.yaml:3: overrides.a has no 'file'"),
        ("o.yaml", "overrides:\n  a: {file: []}\n", "o.yaml:2: overrides.a.file must be a path"),
        ("o.yaml", "overrides:\n  a: x.py\n  a: y.py\n", "o.yaml:3: 'a' is given twice"),
        ("o.yaml", "overrides: [\n", "o.yaml:2: not YAML:"),
        ("o.yaml", "overrides: &a\n  x: *a\n", "an alias contains itself"),
        ("o.json", "{", "o.json:1: not JSON:"),
        ("o.json", '{"overrides": {"a": null}}', "overrides.a must be file[:function]"),
        ("o.json", '{"overrides": {"a": "x", "a": "y"}}', "'a' is given twice"),
    ],
)
def test_configuration_errors_name_file_and_line(cli, write, name, text, message):
    with pytest.raises(cli.OverrideConfigError) as caught:
        cli.load_override_config(write(name, text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("suffix", ["json", "yaml"])
@pytest.mark.parametrize("bracket", ["[", '{"a":'])
def test_deep_nesting_is_an_error_of_the_configuration(cli, write, suffix, bracket):
    with pytest.raises(cli.OverrideConfigError, match=f"o.{suffix}: nested too deeply") as caught:
        cli.load_override_config(write(f"o.{suffix}", bracket * 20_000))
    assert "\n" not in str(caught.value)


def test_missing_configuration(cli, tmp_path):
    with pytest.raises(FileNotFoundError, match="No such file"):
        cli.load_override_config(tmp_path / "absent.yaml")


def test_command_line_wins_over_configuration_and_later_over_earlier(gems, cli, write):
    v1 = write("v1.py", "def softmax(x): return 'v1'\ndef neg(x): return 'v1'\n")
    v2 = write("v2.py", "def run(x): return 'v2'\n")
    config = write("o.yaml", f"overrides:\n  softmax: {v1}\n  neg: {v1}\n")
    parser = argparse.ArgumentParser()
    cli.add_override_arguments(parser)
    args = parser.parse_args(
        ["--override-config", str(config), "--override", f"softmax:{v1}"]
        + ["--override", f"softmax={v2}:run"]
    )
    registry = cli.apply_overrides_from_args(args)
    assert (gems.softmax(0), gems.neg(0)) == ("v2", "v1")
    registry.restore_all()
    assert gems.softmax(0) == ("gems", 0)


def test_any_namespace_serves_and_no_override_is_fine(gems, cli):
    for namespace in (SimpleNamespace(override=None, override_config=None), SimpleNamespace()):
        registry = cli.apply_overrides_from_args(namespace)
        assert registry.list_overrides() == {}
        registry.restore_all()


def test_one_bad_entry_changes_nothing(gems, cli, write):
    good = write("v1.py", "def softmax(x): return 'v1'\n")
    before = dict(vars(gems))
    with pytest.raises(FileNotFoundError):
        cli.apply_overrides_from_args(
            SimpleNamespace(override=[f"softmax:{good}", "neg:/absent.py"], override_config=None)
        )
    assert dict(vars(gems)) == before


def test_list_overrides_prints_what_is_in_effect(gems, cli, write, capsys):
    path = write("v1.py", "def softmax(x): return 'v1'\n")
    arguments = SimpleNamespace(
        override=[f"softmax:{path}"], override_config=None, list_overrides=True
    )
    cli.apply_overrides_from_args(arguments).restore_all(allow_unused=True)
    assert capsys.readouterr().out == f"override: flag_gems.softmax -> {path}:softmax\n"


@pytest.mark.parametrize("kind", ["parser", "group", "pytest", "pytest group"])
def test_every_kind_of_parser(cli, kind):
    argv = ["--override", "a:b.py", "--override=c:d.py", "--override-config", "o.yaml"]
    if kind.startswith("pytest"):
        pytest_parser = Parser(_ispytest=True)
        cli.add_override_arguments(
            pytest_parser.getgroup("x") if kind == "pytest group" else pytest_parser
        )
        args = pytest_parser.parse(argv)
    else:
        parser = argparse.ArgumentParser()
        cli.add_override_arguments(parser.add_argument_group("x") if kind == "group" else parser)
        args = parser.parse_args(argv)
    assert args.override == ["a:b.py", "c:d.py"]
    assert args.override_config == "o.yaml"
    assert args.list_overrides is False


def test_pytest_parser_without_private_flag(cli):
    with pytest.warns(pytest.PytestDeprecationWarning):
        cli.add_override_arguments(Parser())
