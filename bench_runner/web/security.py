# SPDX-License-Identifier: Apache-2.0
"""What every answer says to the browser, and which names the server answers to.

Candidates write names, messages, logs and artifacts. Pages run no script at all and load nothing
from elsewhere; artifacts are saved, never shown. A page of another site that resolves its own name
to this machine is turned away by the Host header.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

LOCAL_NAMES = frozenset(("localhost", "127.0.0.1", "[::1]"))
PAGE_POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

Next = Callable[[Request], Awaitable[Response]]


def guard(extra_names: Iterable[str]) -> Callable[[Request, Next], Awaitable[Response]]:
    """A middleware for a server that is known as localhost and as `extra_names`."""
    names = LOCAL_NAMES | {name.lower() for name in extra_names}

    async def middleware(request: Request, call_next: Next) -> Response:
        host = request.headers.get("host", "").lower()
        name = host if host.endswith("]") else host.rsplit(":", 1)[0]
        if name not in names:
            response: Response = PlainTextResponse(
                "this server does not answer to that name; allow it with --allowed-host\n", 400
            )
        elif request.method not in ("GET", "HEAD"):
            response = PlainTextResponse("this server changes nothing\n", 405)
        else:
            response = await call_next(request)
        for header, value in HEADERS.items():
            response.headers.setdefault(header, value)
        return response

    return middleware
