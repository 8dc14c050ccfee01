# SPDX-License-Identifier: Apache-2.0
"""`bench-runner images`: plan, build and list the images in which jobs run.

Exit codes: 0 done, 2 bad usage (an unknown backend, a wrong option, a fault in backends.yaml),
3 infrastructure (no engine, no base image, a build that failed).
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import click

from bench_runner.cli import values
from bench_runner.cli.options import FORMAT
from bench_runner.errors import InfrastructureFault, UsageFault

_FOLDER = click.Path(path_type=Path)
BASE_TO_BE_NAMED = "named-with---base"
"""Stands for a base that backends.yaml cannot name, where nothing is built."""
BUILD_OPTIONS = (
    click.option("--base", help="Base image instead of the table's."),
    click.option("--index", help="Package index instead of pip's default."),
    click.option(
        "--extra-index",
        "extra_indexes",
        multiple=True,
        help="Further index; once given, the table's extra indexes are not used. Repeatable.",
    ),
    click.option("--ca-bundle", type=_FOLDER, help="PEM file with the CAs to trust in the build."),
    click.option("--pip-conf", type=_FOLDER, help="pip.conf for the build alone (a secret)."),
    click.option("--lock", type=_FOLDER, help="Install what this file of `resolve` lists."),
    click.option("--wheels", type=_FOLDER, help="Folder of wheels that the build may take from."),
    click.option(
        "--host-pip",
        is_flag=True,
        help="Take index, extra indexes, CA bundle and wheels from this machine's pip settings "
        "where no option gives them.",
    ),
    click.option(
        "--network",
        type=click.Choice(["default", "host"]),
        help="Network of the build's steps; host where the engine's bridge reaches nothing.",
    ),
    click.option("--tag", help="Name of the image instead of bench-runner/BACKEND:latest."),
    click.option("--no-cache", is_flag=True, help="Build every layer anew."),
)


def _build_options(command: Callable[..., Any]) -> Callable[..., Any]:
    return reduce(lambda inner, option: option(inner), reversed(BUILD_OPTIONS), command)


@click.group(name="images")
def images() -> None:
    """Plan, build and list the images in which jobs run."""


@images.command()
@click.argument("backends", nargs=-1, metavar="[BACKEND]...", shell_complete=values.backends)
@_build_options
@FORMAT
def plan(backends: tuple[str, ...], output_format: str, **options: Any) -> None:
    """Print what would be built: base, arguments, contexts, secrets, command (default: all)."""
    plans, problems = _plans(backends, options)
    if output_format == "json":
        unplanned = [{"backend": name, "problem": text} for name, text in problems.items()]
        click.echo(json.dumps([*(p.as_json() for p in plans), *unplanned], indent=2))
        return
    for index, entry in enumerate(plans):
        click.echo(("\n" if index else "") + f"{entry.backend} -> {entry.tag}")
        click.echo(f"  base       {entry.base}")
        for name, value in entry.build_args.items():
            if value and name not in ("BASE", "BACKEND"):
                click.echo(f"  argument   {name}={' '.join(value.split())}")
        for name, folder in entry.contexts.items():
            click.echo(f"  context    {name}={folder}")
        for name, file in entry.secrets.items():
            click.echo(f"  secret     {name}={file}")
        click.echo(f"  command    {shlex.join(entry.command())}")
    for name, text in problems.items():
        click.echo(f"\n{name} -> not planned: {text.partition(': ')[2]}")


@images.command()
@click.argument("backends", nargs=-1, metavar="BACKEND...", shell_complete=values.backends)
@_build_options
@click.option("--if-changed", is_flag=True, help="Leave an image alone that holds this suite.")
@click.option(
    "--check",
    is_flag=True,
    help="Build nothing: have BuildKit expand the Dockerfile for each backend (default: all).",
)
@click.option(
    "--host",
    is_flag=True,
    help="An empty image over which jobs see this machine's own system folders, read-only.",
)
def build(
    backends: tuple[str, ...], if_changed: bool, check: bool, host: bool, **options: Any
) -> None:
    """Build the images of these backends; progress goes to stderr, their tags to stdout."""
    if not backends and not check:
        raise UsageFault("name the backends whose images to build")
    if check and (host or if_changed):
        raise UsageFault("--check builds nothing: leave out --host and --if-changed")
    if check:
        _check(backends, options)
        return
    from bench_runner.images.engine import build as build_image
    from bench_runner.images.engine import import_host_image, list_images

    if host:
        unfit = [name for name, value in options.items() if value and name != "tag"]
        if unfit:
            raise UsageFault(f"--host builds nothing: leave out --{unfit[0].replace('_', '-')}")
        for backend in _selected(backends):
            click.echo(import_host_image(backend, options["tag"]))
        return
    plans, problems = _plans(backends, options)
    for problem in problems.values():
        raise UsageFault(problem)
    for entry in plans:
        existing = list_images([entry.backend]) if if_changed else []
        wanted = (entry.tag, entry.suite, entry.recipe)
        if wanted in [(image.tag, image.suite, image.recipe) for image in existing]:
            click.echo(f"{entry.tag} already holds this suite", err=True)
        else:
            click.echo(f"building {entry.tag} from {entry.base}", err=True)
            started = time.monotonic()
            image = build_image(entry)
            seconds = time.monotonic() - started
            click.echo(f"built {entry.tag}: {image.size / 1e9:.2f} GB, {seconds:.0f} s", err=True)
        click.echo(entry.tag)


def _check(backends: tuple[str, ...], options: dict[str, Any]) -> None:
    from bench_runner.images.check import expand, problems

    plans, unplanned = _plans(backends, options, base=BASE_TO_BE_NAMED)
    for text in unplanned.values():
        raise UsageFault(text)
    faults = []
    for plan in plans:
        expansion = expand(plan)
        found = problems(plan, expansion)
        faults += [f"{plan.backend}: {problem}" for problem in found]
        if not found:
            secrets = ", ".join(expansion.secrets)
            click.echo(
                f"{plan.backend}: expands from {plan.base}, {len(expansion.arguments)} arguments, "
                f"secrets {secrets}"
            )
    if faults:
        raise UsageFault("; ".join(faults))


@images.command()
@click.argument("backends", nargs=-1, metavar="[BACKEND]...", shell_complete=values.backends)
@_build_options
@click.option(
    "--write-lock",
    type=_FOLDER,
    help="Write exact versions with their hashes, for `build --lock`. One backend.",
)
@FORMAT
def resolve(
    backends: tuple[str, ...], write_lock: Path | None, output_format: str, **options: Any
) -> None:
    """Ask pip what the images' requirements come to (default: all). Builds nothing.

    Exit code 3 when a requirement is on none of the indexes that answer.
    """
    from bench_runner.images.resolve import resolve as resolve_plan

    if write_lock and len(backends) != 1:
        raise UsageFault("--write-lock is for one backend: name it")
    plans, unplanned = _plans(backends, options, base=BASE_TO_BE_NAMED)
    for text in unplanned.values():
        raise UsageFault(text)
    found = [resolve_plan(plan) for plan in plans]
    if output_format == "json":
        click.echo(json.dumps([resolution.as_json() for resolution in found], indent=2))
    else:
        for resolution in found:
            named = [p for p in (*resolution.packages, *resolution.overlays) if p.requested]
            names = [f"{p.name}=={p.version}" for p in named]
            click.echo(
                f"{resolution.backend}: Python {resolution.python}, "
                f"{len(resolution.packages)} packages: {' '.join(names)}"
            )
            for requirement, why in resolution.unresolved:
                click.echo(f"{resolution.backend}: {requirement} {why}")
    if write_lock:
        text = found[0].lock()
        temporary = write_lock.with_name(f".{write_lock.name}.new")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(write_lock)
    lacking = [resolution.backend for resolution in found if resolution.unresolved]
    if lacking:
        raise InfrastructureFault(f"not resolved as a whole: {', '.join(lacking)}")


@images.command(name="list")
@click.argument("backends", nargs=-1, metavar="[BACKEND]...", shell_complete=values.backends)
@FORMAT
def list_(backends: tuple[str, ...], output_format: str) -> None:
    """List the images that exist and whether each holds this checkout's suite."""
    from bench_runner.images.engine import list_images

    _, suite = _suite()
    found = list_images([backend.name for backend in _selected(backends)])
    if output_format == "json":
        click.echo(json.dumps([image.as_json(suite) for image in found], indent=2))
        return
    if not found:
        click.echo("no image yet; build one with: bench-runner images build cpu", err=True)
        return
    rows = [("BACKEND", "IMAGE", "ID", "SIZE", "CREATED", "SUITE")]
    for image in found:
        rows.append(
            (
                image.backend,
                image.tag,
                image.id.removeprefix("sha256:")[:12],
                f"{image.size / 1e9:.2f} GB",
                image.created[:19].replace("T", " "),
                "this checkout's" if image.suite == suite else "another: build again",
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(map(str.ljust, row, widths)).rstrip())


def _plans(
    backends: tuple[str, ...], options: dict[str, Any], base: str | None = None
) -> tuple[list[Any], dict[str, str]]:
    """The plans of the selected backends, and by name the one-line reason where there is none.

    Args:
        base: taken where neither an option nor the table names one.
    """
    from bench_runner.images.build_plan import BuildOptions, PlanError, plan_build
    from bench_runner.images.host_pip import read_host_pip
    from bench_runner.images.indexes import choose_indexes

    index: str | None = options.pop("index")
    extra: tuple[str, ...] = options.pop("extra_indexes")
    left_out: list[tuple[str, str]] = []
    host_extra: tuple[str, ...] = ()
    if options.pop("host_pip"):
        host = read_host_pip()
        index = index or host.index
        host_extra = host.extra
        options["ca_bundle"] = options["ca_bundle"] or host.ca_bundle
        options["wheels"] = options["wheels"] or host.wheels
        left_out += host.left_out
    root, suite = _suite()
    plans = []
    problems: dict[str, str] = {}
    for backend in _selected(backends):
        indexes = choose_indexes(backend, index=index, extra=extra or None, also=host_extra)
        left_out += indexes.left_out
        chosen = {**options, "base": options["base"] or backend.image.base or base}
        try:
            plans.append(plan_build(backend, BuildOptions(**chosen), indexes, root, suite))
        except PlanError as error:
            problems[backend.name] = str(error)
    for what, reason in dict(left_out).items():
        click.echo(f"leaving out {what} ({reason})", err=True)
    return plans, problems


def _selected(names: tuple[str, ...]) -> list[Any]:
    """The named backends of the table in the order given, or all of them."""
    from bench_runner.backends import load_backends

    table = load_backends()
    for name in names:
        if name not in table:
            raise UsageFault(f"unknown backend {name}; known are {', '.join(table)}")
    return [table[name] for name in names] if names else list(table.values())


def _suite() -> tuple[Path, str]:
    from bench_runner.suite import suite_fingerprint, suite_root

    root = suite_root()
    return root, suite_fingerprint(root)
