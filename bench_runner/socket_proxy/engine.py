# SPDX-License-Identifier: Apache-2.0
"""The proxy's own side: one connection to the engine for each request, through h11."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import h11

READ_BYTES = 1 << 16
MOST_ANSWER = 16 << 20


class EngineGone(Exception):
    """The engine does not answer; the message says why."""


@dataclass
class Exchange:
    """A request on its way: what h11 knows of the connection, and the connection."""

    connection: h11.Connection
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def event(self) -> Any:
        """The next event from the engine."""
        while (event := self.connection.next_event()) is h11.NEED_DATA:
            self.connection.receive_data(await self.reader.read(READ_BYTES))
        return event

    def close(self) -> None:
        self.writer.close()


class Engine:
    """The engine behind a Unix socket."""

    def __init__(self, socket: str) -> None:
        self.socket = socket

    async def send(
        self, method: str, target: str, body: bytes = b"", upgrade: bool = False
    ) -> Exchange:
        """Sends one request; its answer is read from the exchange.

        Raises:
            EngineGone: nothing listens at the socket.
        """
        try:
            reader, writer = await asyncio.open_unix_connection(self.socket)
        except OSError as error:
            raise EngineGone(f"no engine at {self.socket}: {error.strerror}") from error
        connection = h11.Connection(h11.CLIENT)
        headers = [("Host", "engine"), ("Content-Length", str(len(body)))]
        headers += [("Content-Type", "application/json")] if body else []
        headers += (
            [("Connection", "Upgrade"), ("Upgrade", "tcp")]
            if upgrade
            else [("Connection", "close")]
        )
        request = h11.Request(method=method, target=target, headers=headers)
        parts = [request, *([h11.Data(data=body)] if body else []), h11.EndOfMessage()]
        for part in parts:
            writer.write(connection.send(part) or b"")
        await writer.drain()
        return Exchange(connection, reader, writer)

    async def inspect(self, kind: str, name: str) -> dict[str, Any] | None:
        """What the engine knows of a container or image (`kind`: containers or images).

        None when there is none of that name.

        Raises:
            EngineGone: no answer, or one that is not JSON.
        """
        exchange = await self.send("GET", f"/{kind}/{quote(name, safe='/:@')}/json")
        try:
            response = await exchange.event()
            data = bytearray()
            while isinstance(event := await exchange.event(), h11.Data):
                data += event.data
                if len(data) > MOST_ANSWER:
                    raise EngineGone(f"the engine's answer on {name} has no end")
            if response.status_code == 404:
                return None
            found = json.loads(data)
        except (h11.ProtocolError, ValueError, OSError) as error:
            raise EngineGone(f"the engine's answer on {name} cannot be read: {error}") from error
        finally:
            exchange.close()
        return found if isinstance(found, dict) else None
