# SPDX-License-Identifier: Apache-2.0
"""Candidates from files: loading, counting, failing loudly, leaving nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import traceback
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def test_loads_a_named_function_and_counts_calls(gems, dynamic, write):
    path = write("softmax_v2.py", "def mine(x):\n    'My doc.'\n    return ('file', x)\n")
    with dynamic.DynamicOpOverride() as registry:
        assert registry.override_from_file("softmax", path, "mine") is True
        assert gems.softmax(1) == ("file", 1)
        assert gems.softmax(x=2) == ("file", 2)
        assert registry.call_counts() == {"flag_gems.softmax": 2}
        assert gems.softmax.__name__ == "mine"
        assert gems.softmax.__doc__ == "My doc."
    assert gems.softmax(1) == ("gems", 1)


def test_function_defaults_to_the_operator_and_batch_answers_per_operator(gems, dynamic, write):
    soft = write("a.py", "def other(x): return 'soft'\n")
    neg = write("b.py", "def neg(x): return 'neg'\n")
    registry = dynamic.DynamicOpOverride()
    answer = registry.override_batch_from_files({"softmax": (str(soft), "other"), "neg": str(neg)})
    assert answer == {"softmax": True, "neg": True}
    assert (gems.softmax(0), gems.neg(0)) == ("soft", "neg")
    registry.restore_all()


def test_relative_path_is_relative_to_the_current_directory(gems, dynamic, write, monkeypatch):
    path = write("deep/c d:e=f.py", "def softmax(x): return 'here'\n")
    monkeypatch.chdir(path.parent)
    with dynamic.DynamicOpOverride() as registry:
        registry.override_from_file("softmax", "./c d:e=f.py")
        assert gems.softmax(0) == "here"


def test_never_called_is_an_assertion_error_after_everything_is_restored(gems, dynamic, write):
    path = write("c.py", "def softmax(x): return x\ndef neg(x): return x\n")
    originals = (gems.softmax, gems.neg)
    registry = dynamic.DynamicOpOverride()
    registry.override_batch_from_files({"softmax": path, "neg": path})
    gems.softmax(1)
    with pytest.raises(AssertionError, match=r"never called: flag_gems\.neg \(.*c\.py:neg\)") as e:
        registry.restore_all()
    assert "softmax" not in str(e.value)
    assert (gems.softmax, gems.neg) == originals
    registry.restore_all()


def test_allow_unused_only_restores(gems, dynamic, write):
    original = gems.softmax
    registry = dynamic.DynamicOpOverride()
    registry.override_from_file("softmax", write("c.py", "def softmax(x): return x\n"))
    registry.restore_all(allow_unused=True)
    assert gems.softmax is original


def test_restore_of_one_unused_candidate_and_clean_exit_raise(gems, dynamic, write):
    path = write("c.py", "def softmax(x): return x\n")
    registry = dynamic.DynamicOpOverride()
    registry.override_from_file("softmax", path)
    with pytest.raises(dynamic.UnusedOverrideError):
        registry.restore("softmax")
    with pytest.raises(dynamic.UnusedOverrideError), dynamic.DynamicOpOverride() as registry:
        registry.override_from_file("sotfmax", path, "softmax")
    assert not hasattr(gems, "sotfmax")


def test_superseded_candidate_is_not_unused(gems, dynamic, write):
    path = write("c.py", "def softmax(x): return x\n")
    registry = dynamic.DynamicOpOverride()
    registry.override_from_file("softmax", path)
    registry.override("softmax", print)
    registry.restore_all()


def test_a_candidate_that_raises_was_called(gems, dynamic, write):
    registry = dynamic.DynamicOpOverride()
    registry.override_from_file("softmax", write("c.py", "def softmax(x): raise OSError('no')\n"))
    with pytest.raises(OSError, match="no"):
        gems.softmax(1)
    registry.restore_all()


def test_counting_is_exact_under_threads(gems, dynamic, write):
    registry = dynamic.DynamicOpOverride()
    registry.override_from_file("softmax", write("c.py", "def softmax(x): return x\n"))
    threads = [
        threading.Thread(target=lambda: [gems.softmax(0) for _ in range(500)]) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert registry.call_counts() == {"flag_gems.softmax": 4000}
    registry.restore_all()


def test_one_file_twice_gives_independent_modules(gems, dynamic, write):
    path = write("c.py", "state = []\ndef run(x):\n    state.append(x)\n    return len(state)\n")
    with dynamic.DynamicOpOverride() as registry:
        registry.override_batch_from_files({"softmax": (path, "run"), "neg": (path, "run")})
        assert [gems.softmax(0), gems.softmax(0), gems.neg(0)] == [1, 2, 1]


def test_edit_within_one_second_is_seen_and_no_bytecode_is_left(gems, dynamic, write, tmp_path):
    for answer in ("'A'", "'B'"):
        path = write("c.py", f"def softmax(x): return {answer}\n")
        os.utime(path, (1_700_000_000, 1_700_000_000))
        with dynamic.DynamicOpOverride() as registry:
            registry.override_from_file("softmax", path)
            assert gems.softmax(0) == answer.strip("'")
    assert [entry.name for entry in tmp_path.iterdir()] == ["c.py"]


def test_dataclass_and_pickle_work_inside_a_candidate_and_its_module_goes(gems, dynamic, write):
    path = write(
        "c.py",
        "from __future__ import annotations\n"
        "import dataclasses, pickle\n"
        "@dataclasses.dataclass\nclass Box:\n    value: int\n"
        "def softmax(x): return pickle.loads(pickle.dumps(Box(x))).value\n",
    )
    before = set(sys.modules)
    with dynamic.DynamicOpOverride() as registry:
        registry.override_from_file("softmax", path)
        assert gems.softmax(5) == 5
        assert len([n for n in sys.modules if n.startswith("flag_gems_candidate_")]) == 1
    assert {n for n in set(sys.modules) - before if "candidate" in n} == set()


@pytest.mark.parametrize(
    ("text", "error", "builtin", "message"),
    [
        (None, "CandidateFileNotFoundError", FileNotFoundError, "does not exist"),
        ("def other(): pass\n", "CandidateFunctionNotFoundError", AttributeError, "(it has other)"),
        ("softmax = 3\n", "CandidateNotCallableError", TypeError, "is not callable"),
        ("def softmax(:\n", "CandidateImportError", ImportError, "SyntaxError"),
        ("import no_such_module_\n", "CandidateImportError", ImportError, "ModuleNotFoundError"),
        ("raise SystemExit(0)\n", "CandidateImportError", ImportError, "SystemExit: 0"),
        ("raise KeyboardInterrupt\n", "CandidateImportError", ImportError, "KeyboardInterrupt"),
        (
            "import pytest\npytest.skip('no', allow_module_level=True)\n",
            "CandidateImportError",
            ImportError,
            "Skipped: no",
        ),
        ("import pytest\npytest.exit('bye', 0)\n", "CandidateImportError", ImportError, "bye"),
    ],
)
def test_load_failures_are_typed_one_line_and_change_nothing(
    gems, dynamic, write, tmp_path, text, error, builtin, message
):
    good = write("good.py", "def neg(x): return x\n")
    bad = tmp_path / "bad.py" if text is None else write("bad.py", text)
    before = dict(vars(gems))
    registry = dynamic.DynamicOpOverride()
    with pytest.raises(getattr(dynamic, error)) as caught:
        registry.override_batch_from_files({"neg": good, "softmax": bad})
    assert isinstance(caught.value, builtin)
    assert isinstance(caught.value, dynamic.OverrideError)
    assert message in str(caught.value)
    assert str(bad) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert dict(vars(gems)) == before
    assert registry.list_overrides() == {}
    assert [n for n in sys.modules if n.startswith("flag_gems_candidate_")] == []


def test_directory_is_named_as_such(dynamic, tmp_path):
    with pytest.raises(FileNotFoundError, match="is a directory"):
        dynamic.DynamicOpOverride().override_from_file("softmax", tmp_path)


def test_import_error_keeps_the_candidates_own_traceback(dynamic, write):
    path = write("c.py", "def deep():\n    return 1 / 0\n\nvalue = deep()\n")
    with pytest.raises(dynamic.CandidateImportError) as caught:
        dynamic.DynamicOpOverride().override_from_file("softmax", path)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    frames = traceback.extract_tb(caught.value.__cause__.__traceback__)
    assert (frames[-1].filename, frames[-1].lineno, frames[-1].name) == (str(path), 2, "deep")


def test_the_registry_imports_nothing_heavy():
    code = (
        "import sys, types\n"
        "pkg = types.ModuleType('flag_gems')\n"
        f"pkg.__path__ = [{str(ROOT / 'flag_gems')!r}]\n"
        "sys.modules['flag_gems'] = pkg\n"
        "import flag_gems.dynamic_registry, flag_gems.cli_override\n"
        "heavy = {'torch', 'triton', 'numpy', 'yaml', 'pytest'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
