# SPDX-License-Identifier: Apache-2.0
"""Decides which package indexes an installation uses, before pip waits for one that is not there.

pip tries an unreachable index for minutes, once a package; one short probe beforehand costs seconds
and can be said in one line.
"""

from __future__ import annotations

import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass

from bench_runner.backends import Backend

PROBE_SECONDS = 5.0
"""A reachable index answers within one; five allow for a slow proxy."""


@dataclass(frozen=True)
class Indexes:
    """The indexes to use, and those left out with the reason."""

    index: str | None
    extra: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    def pip_arguments(self) -> list[str]:
        """The same as arguments of `pip install`."""
        arguments = ["--index-url", self.index] if self.index else []
        for url in self.extra:
            arguments += ["--extra-index-url", url]
        return arguments


def unreachable(url: str, timeout: float = PROBE_SECONDS) -> str | None:
    """None when something answers at `url`, else why not.

    Certificates are not checked: nothing is read here, and pip checks them when it does.
    """
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        request = urllib.request.Request(url, method="HEAD")
        with urllib.request.urlopen(request, timeout=timeout, context=context):
            return None
    except urllib.error.HTTPError as error:
        # Some indexes refuse HEAD or their root and serve packages all the same.
        return None if error.code in (401, 404, 405) else f"HTTP {error.code}"
    except (OSError, ValueError) as error:
        return str(getattr(error, "reason", error)) or type(error).__name__


def choose_indexes(
    backend: Backend,
    *,
    index: str | None = None,
    extra: tuple[str, ...] | None = None,
    also: tuple[str, ...] = (),
    probe: Callable[[str], str | None] = unreachable,
) -> Indexes:
    """The backend's indexes, or the ones given instead; what was given is not probed.

    `extra` None means the table's, an empty tuple none; `also` is added to the table's.
    """
    if extra is not None:
        return Indexes(index or backend.index, extra)
    reasons = [(url, probe(url)) for url in backend.extra_indexes]
    return Indexes(
        index or backend.index,
        (*(url for url, reason in reasons if reason is None), *also),
        tuple((url, reason) for url, reason in reasons if reason is not None),
    )
