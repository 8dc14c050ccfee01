# SPDX-License-Identifier: Apache-2.0
"""A store with runs in it, for tests of what reads stores."""

from __future__ import annotations

import shutil
from pathlib import Path

from bench_runner.contract.status import Mode, Status
from bench_runner.contract.verdict import CaseTiming, Check, Phases, RunRecord, Verdict
from bench_runner.store.runs import RunFolder, RunStore
from tests.unit.bench_runner.records import make_job

MODES = (Mode.PREFLIGHT, Mode.CORRECTNESS, Mode.BENCHMARK, Mode.PROFILE)
REASON = "<script>alert('reason')</script> & more"


def make_run(
    root: Path,
    run_id: str,
    path: str = "/c/online.py",
    sha256: str = "a" * 64,
    finished_at: str = "2026-01-02T03:04:05Z",
    candidate_ms: float = 0.5,
    wrong: bool = False,
    judged: bool = True,
) -> RunFolder:
    """A run of one candidate in four modes; `wrong` fails its correctness."""
    jobs = tuple(make_job(mode, path, sha256) for mode in MODES)
    record = RunRecord(
        id=run_id, created_at=finished_at, command=("bench-runner", "run"), jobs=jobs
    )
    folder = RunStore(root).create(record)
    for job in jobs if judged else ():
        good = not (wrong and job.mode is Mode.CORRECTNESS)
        measured = job.mode is Mode.BENCHMARK
        timing = CaseTiming(
            case_id="c", dtype="torch.float32", shape="[4, 4]", baseline_ms=1.0,
            candidate_ms=candidate_ms,
            candidate_blocks_ms=tuple(candidate_ms * (1 + 0.001 * n) for n in range(10)),
        )  # fmt: skip
        folder.write_verdict(
            Verdict(
                key=job.key, job=job, status=Status.PASSED if good else Status.FAILED,
                reason="" if good else REASON, checks=(Check(name="cases", ok=good),),
                timings=(timing,) if measured else (),
                speedup=1.0 / candidate_ms if measured else None,
                phases=Phases(queue_s=0.2, start_s=0.3, import_s=1.5, pytest_s=2.0, collect_s=0.1),
                artifacts=("report.json",), finished_at=finished_at,
            )
        )  # fmt: skip
        place = folder.job_folder(job)
        (place / "artifacts").mkdir()
        (place / "artifacts" / "report.json").write_text("{}")
        (place / "in" / "candidate").mkdir(parents=True)
        name = path.rsplit("/", 1)[-1]
        (place / "in" / "candidate" / name).write_text("x = '</pre><script>alert(1)</script>'\n")
        (place / "job.log").write_text("printed <b>this</b>\n")
    return folder


def forget(folder: RunFolder) -> None:
    shutil.rmtree(folder.path)
