# SPDX-License-Identifier: Apache-2.0
"""Which request lines pass."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from bench_runner.executors.labels import RUN_LABEL
from bench_runner.socket_proxy.create_body import Refused
from bench_runner.socket_proxy.rules import match

LISTING = "/v1.45/containers/json?all=1&filters=" + quote(json.dumps({"label": [RUN_LABEL]}))


@pytest.mark.parametrize(
    ("method", "target", "name"),
    [
        ("GET", "/_ping", ""),
        ("HEAD", "/_ping", ""),
        ("GET", "/version", ""),
        ("GET", "/v1.45/images/bench-runner/cpu:latest/json", "bench-runner/cpu:latest"),
        ("GET", LISTING, ""),
        ("POST", "/v1.45/containers/create?name=bench-a", ""),
        ("POST", "/v1.45/containers/abc/start", "abc"),
        ("POST", "/v1.45/containers/abc/attach?stdin=1&stdout=1&stderr=1&stream=1", "abc"),
        ("GET", "/v1.45/containers/abc/stats?stream=False&one-shot=True", "abc"),
        ("DELETE", "/v1.45/containers/abc?v=True&link=False&force=True", "abc"),
    ],
)
def test_what_the_runner_asks_passes(method: str, target: str, name: str) -> None:
    allowed = match(method, target)
    assert allowed.name == name
    assert parse_qs(urlsplit(allowed.target).query) == parse_qs(urlsplit(target).query)


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("POST", "/v1.45/containers/abc/exec"),
        ("POST", "/v1.45/exec/abc/start"),
        ("GET", "/v1.45/containers/abc/archive?path=/"),
        ("HEAD", "/v1.45/containers/abc/archive?path=/"),
        ("PUT", "/v1.45/containers/abc/archive?path=/"),
        ("GET", "/v1.45/containers/abc/export"),
        ("POST", "/v1.45/containers/abc/update"),
        ("POST", "/v1.45/containers/abc/rename?name=b"),
        ("POST", "/v1.45/commit?container=abc"),
        ("POST", "/v1.45/build"),
        ("POST", "/v1.45/images/create?fromImage=x"),
        ("DELETE", "/v1.45/images/x"),
        ("GET", "/v1.45/images/json"),
        ("GET", "/v1.45/info"),
        ("GET", "/v1.45/volumes"),
        ("POST", "/v1.45/volumes/create"),
        ("POST", "/v1.45/networks/create"),
        ("GET", "/v1.45/secrets"),
        ("POST", "/v1.45/swarm/init"),
        ("POST", "/v1.45/plugins/pull?remote=x"),
        ("POST", "/session"),
        ("GET", "/v1.45/containers/json"),
        ("GET", "/v1.45/containers/json?filters=%7B%7D"),
        ("GET", "/v1.45/containers/json?filters=nonsense"),
        ("GET", "/v1.45/containers/json?filters=" + quote('{"label": ["another"]}')),
        ("POST", "/v1.45/containers/create?name=a&name=b"),
        ("POST", "/v1.45/containers/create?platform=x"),
        ("POST", "/v1.45/containers/abc/attach?detachKeys=x"),
        ("POST", "/v1.45/containers//create"),
        ("POST", "/v1.45/containers/a%2F..%2Fcreate/start"),
        ("POST", "/v1.45/containers/../build"),
        ("GET", "http://engine/_ping"),
        ("GET", "/_ping/"),
        ("GET", "/V1.45/_ping"),
        ("POST", "/_ping"),
    ],
)
def test_everything_else_is_refused(method: str, target: str) -> None:
    with pytest.raises(Refused):
        match(method, target)


def test_a_doubled_key_of_the_filters_is_not_passed_on() -> None:
    doubled = '{"label": {"x": true}, "label": ["' + RUN_LABEL + '"]}'
    allowed = match("GET", "/containers/json?filters=" + quote(doubled))
    sent = parse_qs(urlsplit(allowed.target).query)["filters"][0]
    assert sent == json.dumps({"label": [RUN_LABEL]})
