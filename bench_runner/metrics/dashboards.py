# SPDX-License-Identifier: Apache-2.0
"""The Grafana dashboards, described once, so that panels of one kind look and read alike.

`python -m bench_runner.metrics.dashboards monitoring/grafana/dashboards` writes them.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DATASOURCE = {"type": "prometheus", "uid": "prometheus"}
WIDTH = 24
"""Columns of Grafana's grid."""


@dataclass(frozen=True)
class Variable:
    """A choice at the top of a dashboard: all values of a label, one or several or all."""

    name: str
    metric: str

    def as_json(self) -> dict[str, Any]:
        query = f"label_values({self.metric}, {self.name})"
        return {
            "name": self.name,
            "label": self.name,
            "type": "query",
            "datasource": DATASOURCE,
            "definition": query,
            "query": {"query": query, "refId": self.name},
            "refresh": 2,
            "sort": 1,
            "multi": True,
            "includeAll": True,
            "allValue": ".*",
            "current": {"text": "All", "value": "$__all"},
        }


@dataclass(frozen=True)
class Panel:
    """One panel: what it asks, in which unit it answers, and what a reader should make of it."""

    title: str
    description: str
    query: str
    unit: str
    kind: str = "timeseries"
    legend: str = ""
    width: int = 12
    height: int = 8
    thresholds: tuple[tuple[float | None, str], ...] = ((None, "green"),)
    options: dict[str, Any] = field(default_factory=dict)

    def as_json(self, number: int, x: int, y: int) -> dict[str, Any]:
        steps = [{"value": value, "color": colour} for value, colour in self.thresholds]
        instant = self.kind in ("stat", "table", "bargauge")
        return {
            "id": number,
            "type": self.kind,
            "title": self.title,
            "description": self.description,
            "datasource": DATASOURCE,
            "gridPos": {"x": x, "y": y, "w": self.width, "h": self.height},
            "targets": [
                {
                    "refId": "A",
                    "datasource": DATASOURCE,
                    "expr": self.query,
                    "legendFormat": self.legend or "__auto",
                    "instant": instant,
                    "range": not instant,
                    "format": "table" if self.kind == "table" else "time_series",
                }
            ],
            "fieldConfig": {
                "defaults": {
                    "unit": self.unit,
                    "thresholds": {"mode": "absolute", "steps": steps},
                },
                "overrides": [],
            },
            "options": self.options,
        }


@dataclass(frozen=True)
class Dashboard:
    """A page of panels."""

    uid: str
    title: str
    description: str
    variables: tuple[Variable, ...]
    panels: tuple[Panel, ...]

    def as_json(self) -> dict[str, Any]:
        panels, x, y, row = [], 0, 0, 0
        for number, panel in enumerate(self.panels, 1):
            if x + panel.width > WIDTH:
                x, y, row = 0, y + row, 0
            panels.append(panel.as_json(number, x, y))
            x, row = x + panel.width, max(row, panel.height)
        links = [
            {
                "type": "link",
                "title": other.title,
                "url": f"/d/{other.uid}",
                "includeVars": True,
                "keepTime": True,
            }
            for other in DASHBOARDS
            if other.uid != self.uid
        ]
        return {
            "uid": self.uid,
            "title": self.title,
            "description": self.description,
            "tags": ["bench-runner"],
            "schemaVersion": 39,
            "editable": False,
            "refresh": "30s",
            "time": {"from": "now-7d", "to": "now"},
            "timezone": "utc",
            "templating": {"list": [variable.as_json() for variable in self.variables]},
            "links": links,
            "panels": panels,
        }


BACKEND = Variable("backend", "bench_runner_jobs")
OPERATOR = Variable("operator", "bench_runner_jobs")
CANDIDATE = Variable("candidate", "bench_runner_candidate_passed")
B = 'backend=~"$backend"'
OB = f'{B}, operator=~"$operator"'
OBC = f'{OB}, candidate=~"$candidate"'
GOOD_RATIO = ((None, "red"), (0.5, "orange"), (0.9, "green"))
FASTER = ((None, "red"), (1.0, "green"))
NOT_SLOWER = ((None, "green"), (1.1, "red"))
NONE_IS_GOOD = ((None, "green"), (1, "red"))
STACKED = {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}}

DASHBOARDS = (
    Dashboard(
        "bench-overview",
        "Overview",
        "What is in the store, what is running, and how much of it passes.",
        (BACKEND,),
        (
            Panel("Jobs", "Jobs in the store that have a verdict.",
                  f"sum(bench_runner_jobs{{{B}}})", "none", "stat", width=4, height=4),
            Panel("Pass rate",
                  "Of the jobs that say something about a candidate; jobs behind a failed gate and "
                  "failures of the machine do not count.",
                  f'sum(bench_runner_jobs{{{B}, status="PASSED"}}) / '
                  f'sum(bench_runner_jobs{{{B}, status!~"CANCELLED|INFRA_ERROR"}})',
                  "percentunit", "stat", width=5, height=4, thresholds=GOOD_RATIO),
            Panel("Waiting", "Jobs of living runs without a verdict.",
                  f"sum(bench_runner_queue_jobs{{{B}}})", "none", "stat", width=5, height=4),
            Panel("Running", "Runs that have a living runner.",
                  f"sum(bench_runner_active_runs{{{B}}})", "none", "stat", width=5, height=4),
            Panel("Last success", "How long ago a job last passed.",
                  f"time() - max(bench_runner_last_success_timestamp_seconds{{{B}}})", "s", "stat",
                  width=5, height=4, thresholds=((None, "green"), (86400.0, "orange"),
                                                 (259200.0, "red"))),
            Panel("Jobs by status", "How the jobs in the store ended.",
                  f"sum by (status) (bench_runner_jobs{{{B}}})", "none", legend="{{status}}",
                  options=STACKED),
            Panel("Jobs by operator", "Where the work goes.",
                  f"sum by (operator) (bench_runner_jobs{{{B}}})", "none", legend="{{operator}}",
                  options=STACKED),
            Panel("Best candidate of each operator",
                  "The largest speed-up over the torch baseline among candidates that passed.",
                  f"max by (operator, backend) (bench_runner_candidate_speedup_ratio{{{B}}})",
                  "none", "bargauge", legend="{{operator}} on {{backend}}", width=24,
                  thresholds=FASTER),
        ),
    ),
    Dashboard(
        "bench-operator",
        "Operator",
        "Candidates of an operator against the baseline, over time and by backend.",
        (BACKEND, OPERATOR),
        (
            Panel("Speed-up", "Baseline's time over the candidate's, geometric mean over all "
                  "cases; above 1 is faster.",
                  f"bench_runner_candidate_speedup_ratio{{{OB}}}", "none",
                  legend="{{operator}} {{candidate}} {{backend}}", thresholds=FASTER,
                  options=STACKED),
            Panel("Worst case", "The speed-up of the case that gains least.",
                  f"bench_runner_candidate_worst_case_speedup_ratio{{{OB}}}", "none",
                  legend="{{operator}} {{candidate}} {{backend}}", thresholds=FASTER,
                  options=STACKED),
            Panel("Candidate's time", "Time of a call, geometric mean over the cases.",
                  f"bench_runner_candidate_latency_seconds{{{OB}}}", "s",
                  legend="{{operator}} {{candidate}} {{backend}}", options=STACKED),
            Panel("Baseline's time", "Time of a call of torch's operator beside the candidate. It "
                  "should not move: where it does, the machine changed.",
                  f"bench_runner_baseline_latency_seconds{{{OB}}}", "s",
                  legend="{{operator}} {{candidate}} {{backend}}", options=STACKED),
            Panel("Against the last good run", "Newest time of a call over that of the candidate's "
                  "last good run; an alert fires above 1.1.",
                  f"bench_runner_candidate_latency_over_last_good_ratio{{{OB}}}", "none",
                  legend="{{operator}} {{candidate}} {{backend}}", thresholds=NOT_SLOWER,
                  options=STACKED),
            Panel("How jobs ended", "By mode and status.",
                  f"sum by (mode, status) (bench_runner_jobs{{{OB}}})", "none",
                  legend="{{mode}} {{status}}", options=STACKED),
        ),
    ),
    Dashboard(
        "bench-candidate",
        "Candidate",
        "One candidate: its modes, its times, the file behind its short hash.",
        (BACKEND, OPERATOR, CANDIDATE),
        (
            Panel("Newest verdicts", "1 where the newest verdict of a mode is PASSED.",
                  f"bench_runner_candidate_passed{{{OBC}}}", "bool_yes_no", "stat",
                  legend="{{operator}} {{candidate}} {{mode}}", width=24, height=6,
                  thresholds=FASTER),
            Panel("File", "What the short hash stands for.",
                  'bench_runner_candidate_info{operator=~"$operator", candidate=~"$candidate"}',
                  "none", "table", width=24, height=6),
            Panel("Time of a call", "Candidate and baseline, geometric mean over the cases.",
                  "label_replace(bench_runner_candidate_latency_seconds"
                  f'{{{OBC}}}, "side", "candidate", "", "") or '
                  f"label_replace(bench_runner_baseline_latency_seconds{{{OBC}}}, "
                  '"side", "baseline", "", "")',
                  "s", legend="{{operator}} {{candidate}} {{side}}", options=STACKED),
            Panel("Speed-up", "Baseline's time over the candidate's; above 1 is faster.",
                  f"bench_runner_candidate_speedup_ratio{{{OBC}}}", "none",
                  legend="{{operator}} {{candidate}} {{backend}}", thresholds=FASTER,
                  options=STACKED),
        ),
    ),
    Dashboard(
        "bench-fleet",
        "Fleet and infrastructure",
        "Whether the machines do their part: queue, overhead, errors, room.",
        (BACKEND,),
        (
            Panel("Infrastructure errors", "Jobs in the store that failed for the machine's "
                  "reasons; never a candidate's fault.",
                  f'sum(bench_runner_jobs{{{B}, status="INFRA_ERROR"}}) or vector(0)', "none",
                  "stat", width=6, height=4, thresholds=NONE_IS_GOOD),
            Panel("Abandoned jobs", "Without a verdict and without a runner: resume their run.",
                  f"sum(bench_runner_abandoned_jobs{{{B}}})", "none", "stat", width=6, height=4,
                  thresholds=NONE_IS_GOOD),
            Panel("Damaged runs", "Runs whose records cannot be read.",
                  "bench_runner_unreadable_runs", "none", "stat", width=6, height=4,
                  thresholds=NONE_IS_GOOD),
            Panel("Free space", "Where the runs are kept.", "bench_runner_filesystem_free_bytes",
                  "bytes", "stat", width=6, height=4),
            Panel("Where a job's time goes", "Median of each phase, all jobs in the store.",
                  "histogram_quantile(0.5, sum by (phase, le) "
                  f"(bench_runner_job_phase_seconds_bucket{{{B}}}))", "s", legend="{{phase}}",
                  options=STACKED),
            Panel("Slow starts", "95% of jobs start within this time.",
                  "histogram_quantile(0.95, sum by (backend, le) "
                  f'(bench_runner_job_phase_seconds_bucket{{{B}, phase="start"}}))', "s",
                  legend="{{backend}}", options=STACKED),
            Panel("Queue", "Jobs of living runs without a verdict.",
                  f"bench_runner_queue_jobs{{{B}}}", "none", legend="{{backend}}",
                  options=STACKED),
            Panel("Devices busy", "Accelerators that a job of some runner owns; none on a CPU.",
                  "sum(bench_runner_devices_busy) or vector(0)", "none", legend="busy",
                  options=STACKED),
            Panel("Scrape time", "How long the exporter took to read the store.",
                  'scrape_duration_seconds{job="bench-runner"}', "s", legend="{{instance}}",
                  options=STACKED),
        ),
    ),
)  # fmt: skip


def write(folder: Path) -> list[Path]:
    """Writes every dashboard as `<name>.json`; answers the files."""
    written = []
    for dashboard in DASHBOARDS:
        path = folder / f"{dashboard.uid.removeprefix('bench-')}.json"
        path.write_text(json.dumps(dashboard.as_json(), indent=2) + "\n", encoding="utf-8")
        written.append(path)
    return written


if __name__ == "__main__":
    for file in write(Path(sys.argv[1])):
        print(file)
