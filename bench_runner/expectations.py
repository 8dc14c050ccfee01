# SPDX-License-Identifier: Apache-2.0
"""What a candidate is held against, found out by jobs that no candidate was in.

Each such job costs a container, so its answer is kept for as long as suite, image and device stay
the same.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from bench_runner.catalogue import Operator
from bench_runner.contract.claims import BaselineSkips, CaseList, CorrectnessReport, Expectation
from bench_runner.contract.job import Environment, Settings
from bench_runner.contract.outcome import Collected, Ending
from bench_runner.contract.record import ContractError, canonical_sha256, parse, write_record
from bench_runner.executors.inputs import make_launch, place, write_baseline_inputs
from bench_runner.judge.correctness import SKIPPED
from bench_runner.launching import Launcher
from bench_runner.store.artifacts import collect

Answer = TypeVar("Answer", bound=BaseModel)


class ListingFailed(RuntimeError):
    """The suite could not tell about itself: the infrastructure's fault, never a candidate's."""


class Expectations:
    """Answers once for each operator and level, to whatever thread asks first."""

    def __init__(
        self, launcher: Launcher, environment: Environment, run_folder: Path, cache: Path
    ) -> None:
        self._launcher = launcher
        self._environment = environment
        self._run_folder = run_folder
        self._cache = cache
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()

    def of(self, operator: Operator, settings: Settings) -> Expectation:
        """Cases and tests of an operator at the settings' level.

        Raises:
            ListingFailed: the job that lists them did not end well.
        """
        return self._kept("cases", Expectation, operator, settings, self._list)

    def skips(self, operator: Operator, settings: Settings) -> frozenset[str]:
        """The tests of an operator that are skipped although no candidate is there.

        Raises:
            ListingFailed: the job that runs them did not end well.
        """
        answer = self._kept("correctness", BaselineSkips, operator, settings, self._skips)
        return frozenset(answer.tests)

    def _kept(
        self,
        mode: str,
        model: type[Answer],
        operator: Operator,
        settings: Settings,
        find_out: Callable[[Operator, Collected], Answer],
    ) -> Answer:
        """The answer from the cache, or from a job that is run now and then kept."""
        level = settings.level
        identity = [
            self._environment.model_dump(mode="json"),
            operator.model_dump(),
            level,
            mode,
        ]
        file = self._cache / f"{canonical_sha256(identity)}.json"
        with self._guard:
            lock = self._locks.setdefault(file.name, threading.Lock())
        with lock:
            try:
                return parse(model, file.read_bytes(), str(file))
            except (FileNotFoundError, ContractError):
                pass
            answer = find_out(operator, self._run(mode, operator, Settings(level=level)))
            file.parent.mkdir(parents=True, exist_ok=True)
            write_record(file, answer)
            return answer

    def _run(self, mode: str, operator: Operator, settings: Settings) -> Collected:
        """Runs the suite without a candidate, within limits of its own."""
        name = f"{mode}-{operator.name}-{settings.level}"
        folder = self._run_folder / "baseline" / name
        launch = make_launch(
            self._launcher.executor, name, self._run_folder, folder, settings, profiling=False
        )
        place(write_baseline_inputs(mode, operator, settings), launch.inputs)
        outcome = self._launcher.run(launch)
        collected = collect(launch.outputs, launch.folder / "artifacts")
        if outcome.ending is not Ending.EXITED or outcome.exit_code != 0:
            how = outcome.detail or f"{outcome.ending.value}, exit code {outcome.exit_code}"
            raise ListingFailed(f"the suite alone, {name}: {how}; see {launch.log}")
        return collected

    def _list(self, operator: Operator, collected: Collected) -> Expectation:
        cases = _read(CaseList, collected)
        try:
            tests = json.loads((collected.folder / "tests.json").read_bytes())["tests"]
        except (OSError, ValueError, KeyError) as error:
            raise ListingFailed(f"the tests of {operator.name}: {error}") from error
        if not cases.case_ids or not tests:
            raise ListingFailed(
                f"the suite has {len(cases.case_ids)} cases and {len(tests)} tests of "
                f"{operator.name}"
            )
        level = cases.benchmarks[0].level
        return Expectation(op=operator.name, level=level, cases=cases, tests=tuple(tests))

    def _skips(self, operator: Operator, collected: Collected) -> BaselineSkips:
        report = _read(CorrectnessReport, collected).root
        skipped = [test for test, case in report.items() if case.result.lower() in SKIPPED]
        return BaselineSkips(op=operator.name, tests=tuple(skipped))


def _read(model: type[Answer], collected: Collected) -> Answer:
    try:
        return parse(model, (collected.folder / "report.json").read_bytes(), "report.json")
    except (OSError, ContractError) as error:
        raise ListingFailed(f"the suite's own report: {error}") from error
