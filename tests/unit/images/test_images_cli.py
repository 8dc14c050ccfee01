# SPDX-License-Identifier: Apache-2.0
"""`bench-runner images`: data on stdout, one line for a fault, and no heavy import."""

from __future__ import annotations

import json
import subprocess
import sys

from bench_runner.backends import load_backends


def images(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own; extra indexes are given, so that nothing is probed."""
    code = "from bench_runner.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, "images", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_plan_prints_every_backend_as_json():
    result = images("plan", "--extra-index", "https://e/simple", "--format", "json")
    assert result.returncode == 0, result.stderr
    entries = {entry["backend"]: entry for entry in json.loads(result.stdout)}
    assert set(entries) == set(load_backends())
    assert entries["cpu"]["build_args"]["EXTRA_INDEXES"] == "https://e/simple"
    assert entries["cpu"]["command"].startswith("docker buildx build ")
    assert "--base" in entries["iluvatar"]["problem"]


def test_plan_prints_a_table_for_people():
    result = images("plan", "nvidia-cuda133", "--extra-index", "https://e/simple")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("nvidia-cuda133 -> bench-runner/nvidia-cuda133:latest\n")
    assert "torch==2.11.0+cu130" in result.stdout


def test_an_unknown_backend_is_bad_usage():
    result = images("build", "tpu", "--extra-index", "https://e/simple")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.splitlines() == [
        f"bench-runner: unknown backend tpu; known are {', '.join(load_backends())}"
    ]


def test_neither_torch_nor_the_library_is_imported():
    code = (
        "import sys; from click.testing import CliRunner;"
        "from bench_runner.cli.images import images;"
        "r = CliRunner().invoke(images, ['plan', 'cpu', '--extra-index', 'https://e/simple']);"
        "assert r.exit_code == 0, r.output;"
        "print([m for m in ('torch', 'flag_gems', 'docker', 'rich') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
