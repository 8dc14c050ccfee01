# SPDX-License-Identifier: Apache-2.0
"""An index that does not answer is left out with its reason; what a person named is used."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from bench_runner.backends import load_backends
from bench_runner.images.indexes import choose_indexes, unreachable


class _Index(BaseHTTPRequestHandler):
    """Answers HEAD with the status that the path names."""

    def do_HEAD(self) -> None:
        self.send_response(int(self.path.strip("/")))
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def index() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Index)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")


@pytest.mark.parametrize("status", [200, 401, 404, 405])
def test_an_index_that_answers_is_reachable(index, status):
    # Some indexes serve packages and refuse HEAD, their root, or the anonymous.
    assert unreachable(f"{index}/{status}") is None


@pytest.mark.parametrize("status", [403, 500, 503])
def test_an_index_that_refuses_is_not(index, status):
    assert unreachable(f"{index}/{status}") == f"HTTP {status}"


def test_a_closed_port_is_not_reachable():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    assert "refused" in (unreachable(f"http://127.0.0.1:{port}/") or "")


def test_a_silent_server_is_given_up_in_time():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        reason = unreachable(f"http://127.0.0.1:{silent.getsockname()[1]}/", timeout=0.2)
    assert "timed out" in (reason or "")


def test_an_absurd_url_is_a_reason_and_no_exception():
    assert unreachable("http://[/") is not None


def test_the_unreachable_are_left_out_with_their_reason():
    backend = load_backends()["ascend-cann850"]
    dead, alive = backend.extra_indexes
    indexes = choose_indexes(backend, probe=lambda url: "gone" if url == dead else None)
    assert indexes.extra == (alive,)
    assert indexes.left_out == ((dead, "gone"),)
    assert indexes.pip_arguments() == ["--extra-index-url", alive]


def test_what_is_given_replaces_the_table_and_is_not_probed():
    def probe(url: str) -> str | None:
        raise AssertionError(url)

    backend = load_backends()["cpu"]
    indexes = choose_indexes(backend, index="http://i", extra=("http://e",), probe=probe)
    assert indexes.pip_arguments() == ["--index-url", "http://i", "--extra-index-url", "http://e"]
    assert choose_indexes(backend, extra=(), probe=probe).pip_arguments() == []


def test_the_hosts_indexes_join_the_tables():
    backend = load_backends()["cpu"]
    indexes = choose_indexes(backend, also=("http://host",), probe=lambda url: None)
    assert indexes.extra == (*backend.extra_indexes, "http://host")
