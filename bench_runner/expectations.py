# SPDX-License-Identifier: Apache-2.0
"""What a candidate is held against: cases and tests listed by a job that no candidate was in.

Listing costs a container, so a list is kept for as long as suite, image and device stay the same.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path

from bench_runner.catalogue import Operator
from bench_runner.contract.claims import CaseList, Expectation
from bench_runner.contract.job import Environment, Settings
from bench_runner.contract.outcome import Ending
from bench_runner.contract.record import ContractError, canonical_sha256, parse, write_record
from bench_runner.executors.inputs import make_launch, place, write_listing_inputs
from bench_runner.executors.interface import Executor, Handle
from bench_runner.store.artifacts import collect


class ListingFailed(RuntimeError):
    """The suite could not list its own cases: the infrastructure's fault, never a candidate's."""


class Expectations:
    """Lists on demand, once for each operator and level, from whatever thread asks first."""

    def __init__(
        self, executor: Executor, environment: Environment, run_folder: Path, cache: Path
    ) -> None:
        self._executor = executor
        self._environment = environment
        self._run_folder = run_folder
        self._cache = cache
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()
        self._living: set[Handle] = set()
        self._cancelled = False

    def of(self, operator: Operator, settings: Settings) -> Expectation:
        """The expectation for an operator at the settings' level.

        Raises:
            ListingFailed: the job that lists them did not end well.
        """
        name = f"{operator.name}-{settings.level}"
        with self._guard:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:
            cached = self._cache / f"{self._cache_key(operator, settings)}.json"
            try:
                return parse(Expectation, cached.read_bytes(), str(cached))
            except (FileNotFoundError, ContractError):
                expectation = self._list(operator, settings, name)
            cached.parent.mkdir(parents=True, exist_ok=True)
            write_record(cached, expectation)
            return expectation

    def cancel(self) -> None:
        with self._guard:
            self._cancelled = True
            for handle in self._living:
                handle.kill()

    def _cache_key(self, operator: Operator, settings: Settings) -> str:
        return canonical_sha256(
            [self._environment.model_dump(mode="json"), operator.model_dump(), settings.level]
        )

    def _list(self, operator: Operator, settings: Settings, name: str) -> Expectation:
        launch = make_launch(
            self._executor,
            f"list-{name}",
            self._run_folder,
            self._run_folder / "listing" / name,
            settings,
            profiling=False,
        )
        place(write_listing_inputs(operator, settings), launch.inputs)
        handle = self._executor.submit(launch)
        with self._guard:
            self._living.add(handle)
            if self._cancelled:
                handle.kill()
        outcome = handle.wait()
        with self._guard:
            self._living.discard(handle)
        collected = collect(launch.outputs, launch.folder / "artifacts")
        if outcome.ending is not Ending.EXITED or outcome.exit_code != 0:
            how = outcome.detail or f"{outcome.ending.value}, exit code {outcome.exit_code}"
            raise ListingFailed(f"listing the cases of {name}: {how}; see {launch.log}")
        try:
            cases = parse(
                CaseList, (collected.folder / "report.json").read_bytes(), "the list of cases"
            )
            tests = json.loads((collected.folder / "tests.json").read_bytes())["tests"]
        except (OSError, ValueError, KeyError) as error:
            raise ListingFailed(f"listing the cases of {name}: {error}") from error
        if not cases.case_ids or not tests:
            raise ListingFailed(
                f"the suite has {len(cases.case_ids)} cases and {len(tests)} tests for {name}"
            )
        return Expectation(op=operator.name, level=settings.level, cases=cases, tests=tuple(tests))
