# SPDX-License-Identifier: Apache-2.0
"""The metrics for those who run no server: a textfile for node_exporter, or a push."""

from __future__ import annotations

from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest, push_to_gateway, write_to_textfile

from bench_runner.errors import InfrastructureFault, UsageFault
from bench_runner.metrics.collector import StoreCollector
from bench_runner.store.view import StoreView

JOB = "bench-runner"


def registry_of(runs_dir: Path, cases: bool = False) -> CollectorRegistry:
    """A registry with the store below `runs_dir` and nothing of this process."""
    view = StoreView(runs_dir)
    view.refresh()
    view.measure()
    return registry_over(view, cases)


def registry_over(view: StoreView, cases: bool = False) -> CollectorRegistry:
    """The same for a view that others read too."""
    # Without auto_describe: it would read the whole store once more to learn the names.
    registry = CollectorRegistry(auto_describe=False)
    registry.register(StoreCollector(view, cases))
    return registry


def as_text(registry: CollectorRegistry) -> str:
    return generate_latest(registry).decode()


def export(
    runs_dir: Path, textfile: Path | None, pushgateway: str | None, cases: bool = False
) -> None:
    """Writes and pushes what is asked for.

    Raises:
        UsageFault: the textfile cannot be written.
        InfrastructureFault: the Pushgateway does not answer, or refuses.
    """
    registry = registry_of(runs_dir, cases)
    if textfile:
        write_textfile(registry, textfile)
    if pushgateway:
        push(registry, pushgateway)


def write_textfile(registry: CollectorRegistry, path: Path) -> None:
    """Writes to a temporary name beside `path` and renames, so that no scrape meets half a file.

    Raises:
        UsageFault: it cannot be written.
    """
    try:
        write_to_textfile(str(path), registry)
    except OSError as error:
        raise UsageFault(f"--textfile {path}: {error.strerror or error}") from error


def push(registry: CollectorRegistry, url: str) -> None:
    """Replaces this job's group at a Pushgateway.

    Raises:
        InfrastructureFault: it does not answer, or refuses.
    """
    try:
        push_to_gateway(url, job=JOB, registry=registry, timeout=30)
    except OSError as error:
        reason = " ".join(str(getattr(error, "reason", "") or error).split())
        raise InfrastructureFault(f"Pushgateway {url}: {reason}") from error
    except ValueError as error:
        raise InfrastructureFault(f"Pushgateway {url}: not a URL ({error})") from error
