# SPDX-License-Identifier: Apache-2.0
"""Takes a client's requests one by one, judges each, and passes on what is allowed.

Nothing of a client's bytes reaches the engine as it came: the request line is rebuilt from what
was judged, headers are the proxy's own, and a body is parsed and written again. Two readers that
see one byte stream differently (a doubled key, a smuggled second request) therefore cannot be
played against each other.
"""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from typing import Any, NoReturn

import h11

from bench_runner.executors.labels import RUN_LABEL
from bench_runner.images.labels import SUITE_LABEL
from bench_runner.socket_proxy.create_body import Refused, check_create
from bench_runner.socket_proxy.engine import READ_BYTES, Engine, EngineGone, Exchange
from bench_runner.socket_proxy.policy import Policy
from bench_runner.socket_proxy.rules import Allowed, Subject, match

MOST_BODY = 1 << 20
HEADERS_OF_ONE_HOP = {b"connection", b"transfer-encoding", b"keep-alive", b"upgrade"}

log = logging.getLogger("bench_runner.socket_proxy")


class Proxy:
    """Serves clients of a runner."""

    def __init__(self, engine: Engine, policy: Policy) -> None:
        self._engine = engine
        self._policy = policy

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client's connection, from its first request to its end."""
        client = _Client(reader, writer)
        try:
            while await self._one(client):
                client.connection.start_next_cycle()
        except (h11.ProtocolError, OSError, EOFError) as error:
            log.info("a client's connection ended: %s", error)
        finally:
            writer.close()

    async def _one(self, client: _Client) -> bool:
        """One request; answers whether another may follow on this connection."""
        request = await client.event()
        if not isinstance(request, h11.Request):
            return False
        method, target = request.method.decode(), request.target.decode("latin-1")
        body = await client.body()
        try:
            allowed = match(method, target)
            await self._check_subject(allowed, body)
            sent = _normal(body) if allowed.rule.subject is Subject.NEW_CONTAINER else b""
            hijacks = allowed.rule.hijacks
            exchange = await self._engine.send(method, allowed.target, sent, upgrade=hijacks)
        except Refused as refusal:
            log.warning("refused: %s %s: %s", method, target, refusal)
            await client.answer(403, f"the socket proxy refuses this: {refusal}")
            return client.may_go_on
        except EngineGone as gone:
            await client.answer(502, str(gone))
            return client.may_go_on
        try:
            if hijacks:
                await _splice(client, exchange)
                return False
            await _relay(client, exchange)
        finally:
            exchange.close()
        return client.may_go_on

    async def _check_subject(self, allowed: Allowed, body: bytes) -> None:
        subject, name = allowed.rule.subject, allowed.name
        if subject is Subject.NEW_CONTAINER:
            wanted = _parse(body)
            check_create(wanted, self._policy)
            await self._check_image(wanted["Image"])
        elif subject is Subject.OWN_IMAGE:
            await self._check_image(name)
        elif subject is Subject.OWN_CONTAINER:
            found = await self._engine.inspect("containers", name)
            labels = ((found or {}).get("Config") or {}).get("Labels") or {}
            # What is not there is told apart from what is not theirs by the engine's own 404.
            if found is not None and not labels.get(RUN_LABEL, "").startswith(
                f"volume:{self._policy.volume}/"
            ):
                raise Refused(f"container {name} is not the runner's")

    async def _check_image(self, name: str) -> None:
        found = await self._engine.inspect("images", name)
        labels = ((found or {}).get("Config") or {}).get("Labels") or {}
        if found is not None and SUITE_LABEL not in labels:
            raise Refused(f"image {name} is not one of this project's")


class _Client:
    """The runner's side of a connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connection = h11.Connection(h11.SERVER)
        self.reader, self.writer = reader, writer

    async def event(self) -> Any:
        while (event := self.connection.next_event()) is h11.NEED_DATA:
            if self.connection.they_are_waiting_for_100_continue:
                self.send(h11.InformationalResponse(status_code=100, headers=[]))
            self.connection.receive_data(await self.reader.read(READ_BYTES))
        return event

    async def body(self) -> bytes:
        data = bytearray()
        while isinstance(event := await self.event(), h11.Data):
            data += event.data
            if len(data) > MOST_BODY:
                raise EOFError("a body of more than a megabyte")
        return bytes(data)

    def send(self, event: Any) -> None:
        self.writer.write(self.connection.send(event) or b"")

    async def answer(self, status: int, message: str) -> None:
        body = json.dumps({"message": message}).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        self.send(h11.Response(status_code=status, headers=headers))
        self.send(h11.Data(data=body))
        self.send(h11.EndOfMessage())
        await self.writer.drain()

    @property
    def may_go_on(self) -> bool:
        return self.connection.our_state is h11.DONE and self.connection.their_state is h11.DONE


def _parse(body: bytes) -> Any:
    def refuse(word: str) -> NoReturn:
        raise Refused(f"the body holds {word}")

    try:
        return json.loads(body, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise Refused("the body is not JSON") from error


def _normal(body: bytes) -> bytes:
    return json.dumps(_parse(body)).encode()


async def _relay(client: _Client, exchange: Exchange) -> None:
    """Passes the engine's answer on, piece by piece as it comes."""
    while not isinstance(event := await exchange.event(), h11.EndOfMessage):
        if isinstance(event, h11.Response):
            headers = [(k, v) for k, v in event.headers if k.lower() not in HEADERS_OF_ONE_HOP]
            event = h11.Response(status_code=event.status_code, headers=headers)
        if isinstance(event, h11.ConnectionClosed):
            raise EOFError("the engine closed the connection")
        client.send(event)
        await client.writer.drain()
    client.send(h11.EndOfMessage())
    await client.writer.drain()


async def _splice(client: _Client, exchange: Exchange) -> None:
    """Joins the two connections once the engine has agreed to an upgrade; else relays its no."""
    answer = await exchange.event()
    if not (isinstance(answer, h11.InformationalResponse) and answer.status_code == 101):
        client.send(h11.Response(status_code=answer.status_code, headers=[("Connection", "close")]))
        while isinstance(event := await exchange.event(), h11.Data):
            client.send(event)
        client.send(h11.EndOfMessage())
        await client.writer.drain()
        return
    client.writer.write(
        b"HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n"
        b"Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
    )
    early_engine, _ = exchange.connection.trailing_data
    early_client, _ = client.connection.trailing_data
    client.writer.write(early_engine)
    exchange.writer.write(early_client)
    upward = asyncio.create_task(_copy(client.reader, exchange.writer))
    try:
        await _copy(exchange.reader, client.writer)
    finally:
        upward.cancel()
        with suppress(asyncio.CancelledError):
            await upward


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Bytes until the source ends; then the sink's writing half is closed."""
    with suppress(OSError):
        while data := await source.read(READ_BYTES):
            sink.write(data)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()
