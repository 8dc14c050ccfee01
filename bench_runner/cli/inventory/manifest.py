# SPDX-License-Identifier: Apache-2.0
"""``bench-runner inventory manifest``: record what a suite contains on one platform."""

from __future__ import annotations

import fnmatch
import os
import sys
from pathlib import Path

import click
from rich.table import Table

from bench_runner.cli import terminal
from bench_runner.inventory.discovery import Discovery
from bench_runner.inventory.manifest import Framework, make_manifest, resolve_paths, write_manifest
from bench_runner.inventory.profile import builtin, load_profile
from bench_runner.inventory.records import FileInventory, Manifest


def default_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "bench-runner" / "inventory"


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--platform", "platform", required=True, metavar="NAME|FILE.yaml",
              help=f"Built-in profile ({', '.join(builtin())}) or a file of your own.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True,
              help="File to write.")  # fmt: skip
@click.option("--root", type=click.Path(exists=True, file_okay=False, path_type=Path),
              default=Path("."), show_default=True,
              help="The suite's root; IDs are relative to it.")  # fmt: skip
@click.option("--python", default=sys.executable, metavar="PYTHON",
              help="Interpreter of the suite; needs nothing of this project.")  # fmt: skip
@click.option("--consumers", is_flag=True, help="Add the files that import those given.")
@click.option("--framework", type=click.Choice(["auto", "unittest", "pytest"]), default="auto",
              show_default=True, help="auto asks both and compares them.")  # fmt: skip
@click.option("--shared", is_flag=True,
              help="With --framework pytest: one process for all files.")  # fmt: skip
@click.option("--pytest-arg", "pytest_arguments", multiple=True, metavar="ARG",
              help="Argument for pytest's collection; repeatable.")  # fmt: skip
@click.option("--package", "packages", multiple=True, metavar="NAME",
              help="Record the version of an installed distribution; repeatable.")  # fmt: skip
@click.option("--slow-tests", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="JSON file of slow tests, whose dead keys are reported.")  # fmt: skip
@click.option("--empty-ok", multiple=True, metavar="PATTERN",
              help="Files that may have no test on this platform; repeatable.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1), help="Processes at once (default: cores).")
@click.option("--cache", "cache", type=click.Path(file_okay=False, path_type=Path),
              help="Where answers are kept (default: the user's cache folder).")  # fmt: skip
@click.option("--no-cache", is_flag=True, help="Discover everything again.")
def manifest(
    paths: tuple[Path, ...],
    platform: str,
    output: Path,
    root: Path,
    python: str,
    consumers: bool,
    framework: Framework,
    shared: bool,
    pytest_arguments: tuple[str, ...],
    packages: tuple[str, ...],
    slow_tests: Path | None,
    empty_ok: tuple[str, ...],
    jobs: int | None,
    cache: Path | None,
    no_cache: bool,
) -> None:
    """Record every test of PATHS with all that is known of it, without running one.

    Exit code 1 where a file cannot be imported or has no test; the manifest is written anyway.
    """
    full_root = root.resolve()
    discovery = Discovery(
        root=full_root,
        python=python,
        profile=load_profile(platform),
        cache=(cache or default_cache()).absolute(),
        jobs=jobs or 0,
        pytest_arguments=pytest_arguments,
        use_cache=not no_cache,
    )
    names = resolve_paths(paths, full_root, consumers)
    made = make_manifest(
        names, discovery, framework, tuple(map(str.lower, packages)), slow_tests, shared
    ).model_copy(update={"settings": {"consumers": consumers}})
    write_manifest(output, made)
    _print(made)
    terminal.talk().print(
        f"wrote {output}: {len(made.tests)} tests of {len(made.files)} files on "
        f"{made.platform.name}; {discovery.misses} probes run, {discovery.hits} answers kept",
        soft_wrap=True,
    )
    trouble = list(_troubles(made, empty_ok))
    for line in trouble:
        terminal.talk().print(line, soft_wrap=True)
    sys.exit(1 if trouble else 0)


def _print(made: Manifest) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("file", "tests", "classes", "unittest = pytest", "state"):
        table.add_column(name, no_wrap=True, justify="right" if name == "tests" else "left")
    for path, found in made.files.items():
        classes = sum(item.runnable for item in found.classes.values())
        table.add_row(path, str(len(found.tests)), str(classes), _equality(found), _state(found))
    terminal.print_table(table)


def _equality(found: FileInventory) -> str:
    if not found.pytest_compared:
        return "not compared"
    differing = len(found.loader_only) + len(found.pytest_only)
    return "yes" if not differing else f"no: {differing} differ"


def _state(found: FileInventory) -> str:
    if found.import_failure is None:
        return "" if found.tests else "no tests"
    if found.import_failure.skipped:
        return f"skips itself: {found.import_failure.message}"
    return f"{found.import_failure.type}: {found.import_failure.message}"


def _troubles(made: Manifest, empty_ok: tuple[str, ...]) -> list[str]:
    lines = []
    for path, found in made.files.items():
        failure = found.import_failure
        if failure is not None and not failure.skipped:
            at = f" at {failure.at}" if failure.at else ""
            lines.append(f"{path} cannot be imported: {failure.type}: {failure.message}{at}")
        elif not found.tests and not any(fnmatch.fnmatch(path, item) for item in empty_ok):
            lines.append(f"{path} has no test on {made.platform.name}; --empty-ok accepts that")
        if found.loader_only or found.pytest_only:
            example = [*found.loader_only, *found.pytest_only][0]
            lines.append(f"{path}: unittest and pytest differ, for example on {example}")
    return lines
