# SPDX-License-Identifier: Apache-2.0
"""``bench-runner run``: plan, run, judge, print."""

from __future__ import annotations

import json
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from bench_runner.backends import load_backends
from bench_runner.catalogue import Catalogue, read_catalogue
from bench_runner.cli import terminal, values
from bench_runner.cli.interrupts import run_interruptibly
from bench_runner.cli.options import EXECUTOR, FORMAT, LEVEL, PUSHGATEWAY, RUNS_DIR, TEXTFILE
from bench_runner.cli.progress import LiveProgress
from bench_runner.cli.results import print_run, run_document
from bench_runner.contract.job import Environment, Job
from bench_runner.contract.status import Mode, exit_code
from bench_runner.contract.verdict import RunRecord
from bench_runner.environment import Place, choose_place
from bench_runner.errors import InfrastructureFault, UsageFault
from bench_runner.executors.profilers import passed_over
from bench_runner.executors.run_lock import acquire
from bench_runner.expectations import Expectations
from bench_runner.installed import require_extra_serve
from bench_runner.launching import Launcher
from bench_runner.plan import (
    Entry,
    PlanError,
    Request,
    load_matrix,
    make_jobs,
    parse_modes,
    parse_size,
    read_candidate,
    refresh_candidate,
)
from bench_runner.run_job import JobRunner
from bench_runner.scheduler import Scheduler, summary
from bench_runner.store.runs import RunFolder, RunStore
from bench_runner.suite import suite_root

INTERRUPTED = 130
RESUMABLE = frozenset(
    {"resume", "runs_dir", "jobs", "devices", "output_format", "textfile", "pushgateway"}
)
"""Options that say nothing about what is measured."""


@click.command()
@click.option("--op", shell_complete=values.operators, help="Operator whose candidates follow.")
@click.option(
    "--candidate",
    "candidates",
    multiple=True,
    metavar="FILE[:FUNCTION]",
    help="A candidate; the function is named like the operator unless given. Repeatable.",
)
@click.option(
    "--override",
    metavar="NAME",
    help="Attribute of flag_gems that the candidates replace, where it is not the operator.",
)
@click.option(
    "--matrix",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="YAML file with candidates of several operators; options given here win.",
)
@click.option(
    "--backend", shell_complete=values.backends, help="A key of backends.yaml.  [default: cpu]"
)
@click.option(
    "--modes",
    metavar="MODE,...",
    help="preflight,correctness,benchmark,profile unless given; or reference (no candidate).",
)
@click.option("--level", type=LEVEL, help="How many cases.  [default: core]")
@EXECUTOR
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Jobs at once; benchmark and profile always run alone.",
)
@click.option(
    "--devices",
    metavar="N,...",
    help="Devices to use, by number or ID; each is one job's at a time.  [default: all visible]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Wall-clock limit of a job.  [default: 300]",
)
@click.option("--memory", metavar="SIZE", help="Memory limit of a job.  [default: 8g]")
@click.option("--warmup", type=click.IntRange(min=1), metavar="MS", help="Benchmark warm-up.")
@click.option(
    "--iter",
    "iterations",
    type=click.IntRange(min=1),
    metavar="MS",
    help="Time to measure each case for.",
)
@click.option(
    "--profile-case",
    metavar="CASE_ID",
    help="Case that profile replays; the first one unless given.",
)
@click.option(
    "--gate/--no-gate",
    default=True,
    show_default=True,
    help="Leave a candidate out of the other modes when its preflight does not pass.",
)
@RUNS_DIR
@click.option(
    "--resume",
    shell_complete=values.runs,
    metavar="RUN",
    help="Go on with a run; only what has no verdict is run.",
)
@TEXTFILE
@PUSHGATEWAY
@FORMAT
def run(**options: Any) -> None:
    """Run candidates through their modes, each in a container of its own, and judge them.

    Exit code: 0 all passed (or skipped, or unsupported), 1 some candidate did not, 2 bad usage,
    3 infrastructure, 130 interrupted.
    """
    if options["textfile"] or options["pushgateway"]:
        # Told before hours of jobs and not after them.
        require_extra_serve("prometheus_client", "the export of metrics")
    talk = terminal.talk()
    store = RunStore(options["runs_dir"])
    catalogue = read_catalogue(suite_root())
    if options["resume"]:
        folder, place = _resume(store, options)
    else:
        folder, place = _start(store, options, catalogue)
    if place.note:
        talk.print(f"note: {place.note}", soft_wrap=True)
    talk.print(
        f"run {folder.record.id}: {len(folder.record.jobs)} jobs in {folder.path}", soft_wrap=True
    )
    interrupted = _conduct(folder, place, store, catalogue, options["jobs"])
    exported = _export(options)
    verdicts = [verdict for _, verdict in folder.verdicts()]
    if options["output_format"] == "json":
        click.echo(json.dumps(run_document(folder), indent=2))
    else:
        print_run(folder)
    counts = ", ".join(f"{number} {status.value}" for status, number in summary(verdicts).items())
    missing = verdicts.count(None)
    talk.print(f"{counts or 'nothing judged'}" + (f", {missing} not run" if missing else ""))
    if interrupted or missing:
        where = f" --runs-dir {shlex.quote(str(options['runs_dir']))}"
        talk.print(
            f"go on with: bench-runner run --resume {folder.record.id}{where}", soft_wrap=True
        )
        sys.exit(INTERRUPTED)
    sys.exit(exported or exit_code(verdict.status for verdict in verdicts if verdict))


def _export(options: dict[str, Any]) -> int:
    """Hands out the store's metrics where asked; 0, or the exit code of the fault that it told.

    A fault here must not cost the table of a run that took hours.
    """
    if not (options["textfile"] or options["pushgateway"]):
        return 0
    # prometheus_client would slow down every run that asks for no metrics.
    from bench_runner.metrics.output import export

    try:
        export(options["runs_dir"], options["textfile"], options["pushgateway"])
    except (UsageFault, InfrastructureFault) as error:
        click.echo(f"bench-runner: {error}", err=True)
        return error.exit_code
    return 0


def _start(
    store: RunStore, options: dict[str, Any], catalogue: Catalogue
) -> tuple[RunFolder, Place]:
    request = _request(options)
    place = _place(request.backend or "cpu", options["executor"], request.modes, options["devices"])
    for entry in request.entries:
        catalogue[entry.op]
    record = RunRecord(
        id=store.new_id(),
        created_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        command=("bench-runner", *sys.argv[1:]),
        executor_note=place.note,
        gate=options["gate"],
        jobs=make_jobs(request, place.environment),
    )
    folder = store.create(record)
    # Held until this process ends, by whatever death.
    acquire(folder.path)
    return folder, place


def _request(options: dict[str, Any]) -> Request:
    """The command line laid over the matrix, if there is one."""
    if bool(options["matrix"]) == bool(options["op"]):
        raise PlanError("give either --op with --candidate, or --matrix")
    if options["matrix"] and (options["candidates"] or options["override"]):
        raise PlanError("--candidate and --override go with --op, not with --matrix")
    settings = {
        "level": options["level"],
        "timeout_s": options["timeout"],
        "memory_bytes": parse_size(options["memory"]) if options["memory"] else None,
        "warmup_ms": options["warmup"],
        "iter_ms": options["iterations"],
        "profile_case": options["profile_case"],
    }
    op = options["op"]
    entries = [
        Entry(op, read_candidate(spec, op), options["override"]) for spec in options["candidates"]
    ]
    modes = parse_modes(options["modes"]) if options["modes"] is not None else None
    if entries and modes and not any(mode.needs_candidate for mode in modes):
        raise PlanError("reference runs the baseline alone: drop --candidate, or add other modes")
    if op and not entries:
        entries = [Entry(op)]
    request = Request(
        tuple(entries),
        modes,
        options["backend"],
        {name: value for name, value in settings.items() if value is not None},
    )
    return request.over(load_matrix(options["matrix"])) if options["matrix"] else request


def _place(name: str, executor: str, modes: tuple[Mode, ...] | None, devices: str | None) -> Place:
    backends = load_backends()
    if name not in backends:
        raise PlanError(f"unknown backend {name!r}; backends.yaml has: {', '.join(backends)}")
    place = choose_place(executor, backends[name], devices)
    if modes is None or Mode.PROFILE in modes:
        notes = [note for note in (place.note, passed_over(backends[name])) if note]
        place = replace(place, note="; ".join(notes))
    return place


def _resume(store: RunStore, options: dict[str, Any]) -> tuple[RunFolder, Place]:
    """Plans the same jobs again on what is here now: an edited candidate is another job."""
    source = click.get_current_context().get_parameter_source
    given = [name for name in options if source(name) is ParameterSource.COMMANDLINE]
    unfit = sorted(set(given) - RESUMABLE)
    if unfit:
        raise PlanError(
            f"--resume goes on with what was planned; leave out --{unfit[0].replace('_', '-')}"
        )
    folder = store.open(options["resume"])
    acquire(folder.path)
    planned = folder.record.jobs[0].environment
    modes = tuple({job.mode for job in folder.record.jobs})
    place = _place(planned.backend, planned.executor, modes, options["devices"])
    # By key: two candidates can have become the same meanwhile.
    jobs = {job.key: job for job in (_again(j, place.environment) for j in folder.record.jobs)}
    folder.replace_jobs(tuple(jobs.values()))
    return folder, place


def _again(job: Job, environment: Environment) -> Job:
    candidate = refresh_candidate(job.candidate) if job.candidate else None
    return job.model_copy(update={"candidate": candidate, "environment": environment})


def _conduct(
    folder: RunFolder, place: Place, store: RunStore, catalogue: Catalogue, width: int
) -> bool:
    """Runs what has no final verdict; answers whether it was interrupted."""
    record = folder.record
    done = {
        job.key: verdict
        for job, verdict in folder.verdicts()
        if verdict is not None and verdict.status.is_final
    }
    place.executor.clear(folder.path)
    launcher = Launcher(place.executor, place.slots)
    expectations = Expectations(
        launcher, place.environment, folder.path, store.root / ".expectations"
    )
    runner = JobRunner(folder, launcher, catalogue, expectations)
    talk = terminal.talk()
    with LiveProgress(talk, len(record.jobs) - len(done)) as progress:
        scheduler = Scheduler(record.jobs, done, runner, progress, width, record.gate)
        return run_interruptibly(
            scheduler.run,
            scheduler.cancel,
            lambda: talk.print("interrupted: ending the running jobs"),
        )
