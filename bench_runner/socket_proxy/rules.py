# SPDX-License-Identifier: Apache-2.0
"""The requests that pass, one line each; whatever matches none is refused.

Query parameters are allowed by name: some change what a harmless path does (`exec`'s detach keys,
the archive's path, a pull by way of `fromImage`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import Enum
from urllib.parse import parse_qs, urlencode, urlsplit

from bench_runner.executors.labels import RUN_LABEL
from bench_runner.socket_proxy.create_body import Refused

VERSION = r"(?:/v1\.[0-9]{1,3})?"
NAME = r"(?P<name>[A-Za-z0-9][A-Za-z0-9_.:-]*)"
IMAGE = r"(?P<image>[A-Za-z0-9][A-Za-z0-9_.:/@-]*)"


class Subject(Enum):
    """What the proxy must look at beyond the path before a request passes."""

    NOTHING = "nothing"
    NEW_CONTAINER = "new container"
    OWN_CONTAINER = "own container"
    OWN_IMAGE = "own image"
    OWN_LIST = "own list"


@dataclass(frozen=True)
class Rule:
    """A method and a path that may pass, with the parameters that may come with it."""

    methods: tuple[str, ...]
    path: str
    parameters: frozenset[str] = frozenset()
    subject: Subject = Subject.NOTHING
    hijacks: bool = False
    """The connection becomes a raw stream after the answer's head."""


@dataclass(frozen=True)
class Allowed:
    """A request that matched, and the container or image it is about."""

    rule: Rule
    target: str
    """Path and query as they are sent on."""
    name: str = ""


def _own(methods: str, verb: str, parameters: str = "", hijacks: bool = False) -> Rule:
    return Rule(
        tuple(methods.split()),
        f"/containers/{NAME}{verb}",
        frozenset(parameters.split()),
        Subject.OWN_CONTAINER,
        hijacks,
    )


RULES = (
    Rule(("GET", "HEAD"), "/_ping"),
    Rule(("GET",), "/version"),
    Rule(("GET",), f"/images/{IMAGE}/json", subject=Subject.OWN_IMAGE),
    Rule(("GET",), "/containers/json", frozenset(("all", "filters", "limit", "size", "trunc_cmd")),
         Subject.OWN_LIST),
    Rule(("POST",), "/containers/create", frozenset(("name",)), Subject.NEW_CONTAINER),
    _own("GET", "/json"),
    _own("GET", "/stats", "stream one-shot"),
    _own("POST", "/start"),
    _own("POST", "/attach", "stdin stdout stderr stream", hijacks=True),
    _own("POST", "/wait", "condition"),
    _own("POST", "/kill", "signal"),
    _own("DELETE", "", "v force link"),
)  # fmt: skip


def match(method: str, target: str) -> Allowed:
    """The rule that lets this request line through.

    Raises:
        Refused: there is none.
    """
    parts = urlsplit(target)
    # The engine cleans and decodes paths; what needs either is not a request of the runner's.
    if parts.scheme or parts.netloc or "%" in parts.path or "//" in parts.path or ".." in target:
        raise Refused(f"{method} {parts.path}: not a plain path")
    query = parse_qs(parts.query, keep_blank_values=True)
    for rule in RULES:
        found = re.fullmatch(VERSION + rule.path, parts.path)
        if found is None or method not in rule.methods:
            continue
        unknown = sorted(set(query) - rule.parameters)
        if unknown:
            raise Refused(f"{method} {parts.path}: parameter {unknown[0]} is not allowed")
        if any(len(values) > 1 for values in query.values()):
            raise Refused(f"{method} {parts.path}: a parameter is given twice")
        asked = {name: values[0] for name, values in query.items()}
        if rule.subject is Subject.OWN_LIST:
            asked["filters"] = _own_filters(asked.get("filters", ""))
        sent = parts.path + (f"?{urlencode(asked)}" if asked else "")
        named = found.groupdict()
        return Allowed(rule, sent, named.get("name") or named.get("image") or "")
    raise Refused(f"{method} {parts.path} is not allowed")


def _own_filters(text: str) -> str:
    """The filters again, if they ask for this project's containers alone.

    Labels of a filter are joined by "and", in either of the two forms that the engine reads.
    """
    try:
        filters = json.loads(text)
        labels = list(filters["label"])
    except (KeyError, ValueError, TypeError) as error:
        raise Refused(f"a list of containers must be filtered by {RUN_LABEL}") from error
    if not any(str(label).partition("=")[0] == RUN_LABEL for label in labels):
        raise Refused(f"a list of containers must be filtered by {RUN_LABEL}")
    return json.dumps(filters)
