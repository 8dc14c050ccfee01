# SPDX-License-Identifier: Apache-2.0
"""The appliance through compose: up, a matrix of twelve jobs, metrics, dashboards, pages, down.

The stack is the one for machines that can pull nothing (compose.debian.yaml), so Grafana itself is
absent: each of its panels' queries is put to the real Prometheus instead.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

from bench_runner.images.host_pip import read_host_pip
from bench_runner.metrics.dashboards import DASHBOARDS

pytestmark = pytest.mark.docker
ROOT = Path(__file__).parents[3]
FILES = ["-f", "compose.yaml", "-f", "compose.debian.yaml"]
MATRIX = ROOT / "tests" / "integration" / "compose" / "twelve.yaml"
JOBS = 12
ENDED = {"PASSED": 11, "FAILED": 1}


@dataclass(frozen=True)
class Stack:
    project: str
    environment: dict[str, str]
    results: str
    prometheus: str

    def compose(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        command = ["docker", "compose", "-p", self.project, *FILES, *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0 or not check, done.stderr + done.stdout
        return done

    def query(self, expression: str) -> list[dict[str, Any]]:
        url = f"{self.prometheus}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        answer = json.loads(fetch(url))
        assert answer["status"] == "success", answer
        result = answer["data"]["result"]
        assert isinstance(result, list)
        return result

    def health(self, service: str) -> str:
        found = self.compose("ps", "-a", "--format", "json", service).stdout
        return str(json.loads(found.splitlines()[0])["Health"])


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as response:
        return str(response.read().decode())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(what: str, condition: Any, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(1)


@pytest.fixture(scope="module")
def stack(lacking: Callable[[str], NoReturn]) -> Iterator[Stack]:
    if subprocess.run(["docker", "compose", "version"], capture_output=True).returncode:
        lacking("docker has no compose plugin")
    pip = read_host_pip()
    ports = {name: free_port() for name in ("RESULTS", "PROMETHEUS", "GRAFANA")}
    environment = {
        **os.environ,
        **{f"BENCH_{name}_PORT": str(port) for name, port in ports.items()},
        **({"BENCH_CA_BUNDLE": str(pip.ca_bundle)} if pip.ca_bundle else {}),
        **({"BENCH_INDEX": pip.index} if pip.index else {}),
        "BENCH_EXTRA_INDEXES": " ".join(pip.extra),
    }
    project = f"bench-e2e-{uuid.uuid4().hex[:6]}"
    stack = Stack(
        project,
        environment,
        f"http://127.0.0.1:{ports['RESULTS']}",
        f"http://127.0.0.1:{ports['PROMETHEUS']}",
    )
    try:
        stack.compose("build")
        stack.compose("up", "-d", "--wait", "--wait-timeout", "120")
        yield stack
    finally:
        stack.compose("--profile", "runner", "down", "-v", "--remove-orphans", check=False)
    left = [
        name
        for kind in ("container", "volume", "network")
        for name in subprocess.run(
            ["docker", kind, "ls", "-q", *(["-a"] if kind == "container" else [])]
            + ["--filter", f"label=com.docker.compose.project={project}"],
            capture_output=True, text=True, check=True,
        ).stdout.split()
    ]  # fmt: skip
    assert left == []


@pytest.fixture(scope="module")
def twelve(stack: Stack) -> Stack:
    """The stack after a matrix of twelve jobs, scraped."""
    relative = MATRIX.relative_to(ROOT)
    done = stack.compose(
        "run", "--rm", "-T", "runner", "run", "--matrix", str(relative), "--executor", "docker",
        "--format", "json", check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["counts"] == ENDED, done.stdout
    wait_for(
        "Prometheus sees the jobs",
        lambda: [r["value"][1] for r in stack.query("sum(bench_runner_jobs)")] == [str(JOBS)],
        90,
    )
    return stack


def test_services_are_healthy_and_the_target_is_up(stack: Stack) -> None:
    assert stack.health("results") == "healthy"
    assert stack.health("prometheus") == "healthy"
    wait_for("the first scrape", lambda: stack.query('up{job="bench-runner"} == 1'), 60)


def test_ports_are_this_machines_alone(stack: Stack) -> None:
    for line in stack.compose("ps", "--format", "json").stdout.splitlines():
        for port in json.loads(line)["Publishers"]:
            assert port["URL"] in ("127.0.0.1", ""), line


@pytest.mark.parametrize("chosen", ["all", "one"])
def test_every_panels_query_answers(twelve: Stack, chosen: str) -> None:
    values = {
        "all": {"backend": ".*", "operator": ".*", "candidate": ".*"},
        "one": {"backend": "cpu", "operator": "softmax", "candidate": ".*:softmax"},
    }[chosen]
    silent = []
    for dashboard in DASHBOARDS:
        for panel in dashboard.panels:
            expression = panel.query
            for name, value in values.items():
                expression = expression.replace(f"${name}", value)
            if not twelve.query(expression):
                silent.append(f"{dashboard.title}: {panel.title}: {expression}")
    # A benchmark on a crowded machine passes without a speed-up, which is then no series.
    if not twelve.query("bench_runner_candidate_speedup_ratio"):
        silent = [line for line in silent if "candidate_speedup_ratio" not in line]
    assert silent == []


def test_rules_are_evaluated(twelve: Stack) -> None:
    wait_for("rules", lambda: twelve.query("backend:bench_runner_jobs_passed:ratio"), 60)
    answer = json.loads(fetch(f"{twelve.prometheus}/api/v1/rules"))
    rules = [rule for group in answer["data"]["groups"] for rule in group["rules"]]
    assert rules
    assert [rule["name"] for rule in rules if rule["health"] == "err"] == []


def test_rules_pass_promtools_own_tests(stack: Stack) -> None:
    def promtool(*arguments: str) -> None:
        command = ["docker", "run", "--rm", "--entrypoint", "promtool", "-w", "/rules", "-v"]
        command += [f"{ROOT / 'monitoring' / 'prometheus'}:/rules:ro"]
        done = subprocess.run(
            [*command, "bench-runner/prometheus:debian", *arguments],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    promtool("check", "config", "prometheus.yml")
    promtool("test", "rules", "alerts_test.yml")


def test_the_exporters_text_passes_promtools_lint(twelve: Stack) -> None:
    done = subprocess.run(
        ["docker", "run", "--rm", "-i", "--entrypoint", "promtool",
         "bench-runner/prometheus:debian", "check", "metrics"],
        input=fetch(f"{twelve.results}/metrics"), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_pages_show_the_jobs(twelve: Stack) -> None:
    [run] = json.loads(fetch(f"{twelve.results}/api/v1/runs"))["runs"]
    assert run["counts"] == ENDED
    page = fetch(f"{twelve.results}/runs/{run['id']}")
    assert page.count('<td class="PASSED">') == ENDED["PASSED"]
    assert "softmax_online" in fetch(f"{twelve.results}/operators/softmax")


@pytest.mark.browser
def test_the_pages_in_a_real_browser(twelve: Stack, tmp_path: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium here")
    [run] = json.loads(fetch(f"{twelve.results}/api/v1/runs"))["runs"]
    done = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
         "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", f"--user-data-dir={tmp_path}", "--virtual-time-budget=5000",
         "--dump-dom", f"{twelve.results}/runs/{run['id']}"],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.stdout.count("PASSED</td>") == ENDED["PASSED"], done.stderr[-2000:]


def test_every_healthcheck_turns_red(twelve: Stack) -> None:
    """A process that hangs is found, in each service. Last, since it stops them all."""
    twelve.compose("up", "-d", "--wait", "--wait-timeout", "60", "socket-proxy")
    services = ["results", "prometheus", "socket-proxy"]
    twelve.compose("--profile", "runner", "kill", "-s", "STOP", *services)
    for service in services:
        wait_for(f"{service} turns red", lambda s=service: twelve.health(s) == "unhealthy", 120)
