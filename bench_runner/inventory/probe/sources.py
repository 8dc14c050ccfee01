# SPDX-License-Identifier: Apache-2.0
"""Where a function comes from: its file relative to the suite, and what the source says of it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from types import CodeType
from typing import Any

from bench_runner.inventory.probe.syntax import (
    ClassFacts,
    FileFacts,
    FunctionFacts,
    code_digest,
    file_facts,
)


class Sources:
    """Reads each file of the suite once, and keeps what it found by content for later processes."""

    def __init__(self, root: Path, cache: Path | None) -> None:
        self.root = root.resolve()
        self.cache = cache
        self._facts: dict[str, FileFacts] = {}
        self._inside: dict[str, str | None] = {}
        self._digests: dict[CodeType, str] = {}

    def inside(self, path: str) -> str | None:
        """``path`` relative to the root, or None for a file outside the suite."""
        if path not in self._inside:
            real = os.path.realpath(path)
            prefix = str(self.root) + os.sep
            installed = f"{os.sep}site-packages{os.sep}" in real
            known = real.startswith(prefix) and not installed and os.path.isfile(real)
            self._inside[path] = real[len(prefix) :] if known else None
        return self._inside[path]

    def shown(self, path: str) -> str:
        """``path`` without what depends on the machine."""
        relative = self.inside(path)
        if relative is not None:
            return relative
        for folder in sorted((f for f in sys.path if f), key=len, reverse=True):
            prefix = os.path.realpath(folder) + os.sep
            if os.path.realpath(path).startswith(prefix):
                return "<installed>/" + os.path.realpath(path)[len(prefix) :]
        return f"<outside>/{os.path.basename(path)}"

    def facts(self, relative: str) -> FileFacts:
        if relative not in self._facts:
            content = (self.root / relative).read_bytes()
            self._facts[relative] = self._load(content)
        return self._facts[relative]

    def _load(self, content: bytes) -> FileFacts:
        if self.cache is None:
            return file_facts(content.decode())
        own = Path(__file__).with_name("syntax.py").read_bytes()
        key = hashlib.sha256(own + sys.version.encode() + content).hexdigest()
        path = self.cache / f"{key}.json"
        if path.is_file():
            return _decode(json.loads(path.read_text()))
        facts = file_facts(content.decode())
        self.cache.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=self.cache)
        with os.fdopen(handle, "w") as file:
            json.dump(_encode(facts), file)
        os.replace(temporary, path)
        return facts

    def function(self, code: CodeType) -> FunctionFacts | None:
        """What the source says of a compiled function; None where the source is not the suite's."""
        relative = self.inside(code.co_filename)
        if relative is None:
            return None
        return self.facts(relative).functions.get((code.co_firstlineno, code.co_name))

    def body(self, code: CodeType) -> str:
        """Hash of the function's body, from the source where there is one."""
        if code not in self._digests:
            facts = self.function(code)
            self._digests[code] = facts.body if facts else code_digest(code)
        return self._digests[code]


def _encode(facts: FileFacts) -> dict[str, object]:
    return {
        "functions": [
            [line, name, dataclasses.astuple(item)]
            for (line, name), item in facts.functions.items()
        ],
        "classes": {name: dataclasses.astuple(item) for name, item in facts.classes.items()},
    }


def _decode(value: dict[str, Any]) -> FileFacts:
    facts = FileFacts()
    for line, name, (at, body, decorators, arguments) in value["functions"]:
        facts.functions[line, name] = FunctionFacts(at, body, tuple(decorators), tuple(arguments))
    for name, (at, defined, shadowed) in value["classes"].items():
        facts.classes[name] = ClassFacts(at, tuple(defined), tuple(shadowed))
    return facts
