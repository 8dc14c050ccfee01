# SPDX-License-Identifier: Apache-2.0
"""Reads MLIR's generic form, one operation a line, as Triton's printer writes it."""

from __future__ import annotations

import functools
import re

from triton_cpu.ttir.operation import Block, Function, Module, Operation
from triton_cpu.ttir.types import MlirType, parse_type

_OPERATION = re.compile(
    r'(?:(?P<results>%[^=]*?) = )?"(?P<name>[\w.]+)"'
    r"\((?P<operands>[^)]*)\)(?:\[(?P<next>[^\]]*)\])?"
)
_BLOCK = re.compile(r"(\^\w+)(?:\((.*)\))?:")
_PUNCTUATION = re.compile(r'"(?:[^"\\]|\\.)*"|->|[()\[\]{}<>,]')
_ALIAS = re.compile(r"(#loc\d*) = loc\((.*)\)$")
_PLACE = re.compile(r'"([^"]*)":(\d+)')


class ParseError(ValueError):
    """The text is not what MLIR's generic printer writes."""


def closing(text: str, start: int) -> int:
    """The index after the bracket that closes the one at ``start``."""
    depth = 0
    for match in _PUNCTUATION.finditer(text, start):
        mark = match[0]
        if mark in ("(", "[", "{", "<"):
            depth += 1
        elif mark in (")", "]", "}", ">"):
            depth -= 1
            if depth == 0:
                return match.end()
    raise ParseError(f"unclosed bracket: {text[start : start + 60]}")


def split_commas(text: str) -> list[str]:
    """Splits at the commas outside brackets and strings."""
    if not text.strip():
        return []
    parts, depth, begin = [], 0, 0
    for match in _PUNCTUATION.finditer(text):
        mark = match[0]
        if mark in ("(", "[", "{", "<"):
            depth += 1
        elif mark in (")", "]", "}", ">"):
            depth -= 1
        elif mark == "," and depth == 0:
            parts.append(text[begin : match.start()].strip())
            begin = match.end()
    parts.append(text[begin:].strip())
    return parts


@functools.lru_cache(maxsize=4096)
def _attributes(text: str) -> tuple[tuple[str, str], ...]:
    pairs = []
    for part in split_commas(text):
        name, found, value = part.partition(" = ")
        pairs.append((name.strip().strip('"'), value.strip() if found else "unit"))
    return tuple(pairs)


@functools.lru_cache(maxsize=4096)
def _signature(text: str) -> tuple[tuple[MlirType, ...], tuple[MlirType, ...]]:
    end = closing(text, 0)
    operands = tuple(map(parse_type, split_commas(text[1 : end - 1])))
    results = text[end:].strip().removeprefix("->").strip()
    if results.startswith("("):
        results = results[1 : closing(results, 0) - 1]
    return operands, tuple(map(parse_type, split_commas(results)))


def _without_location(text: str) -> tuple[str, str]:
    """Splits ``text loc(...)``."""
    at = text.find(" loc(")
    return (text, "") if at < 0 else (text[:at], text[at + 5 : -1])


class _Parser:
    def __init__(self, text: str) -> None:
        self.lines: list[str] = []
        self.aliases: dict[str, str] = {}
        for line in text.split("\n"):
            line = line.strip()
            if line.startswith("#"):
                alias = _ALIAS.match(line)
                if alias:
                    self.aliases[alias[1]] = alias[2]
            elif line and not line.startswith("//"):
                self.lines.append(line)
        self.position = 0
        self.places: dict[str, str] = {}

    def place(self, location: str) -> str:
        """The first file:line that a location leads to."""
        if location in self.places:
            return self.places[location]
        found = _PLACE.search(location)
        place = f"{found[1]}:{found[2]}" if found else ""
        if not place:
            for alias in re.findall(r"#loc\d*", location):
                place = self.place(self.aliases.get(alias, ""))
                if place:
                    break
        self.places[location] = place
        return place

    def operation(self) -> Operation:
        line = self.lines[self.position]
        match = _OPERATION.match(line)
        if match is None:
            raise ParseError(f"not an operation in generic form: {line[:120]}")
        results: list[str] = []
        for result in (match["results"] or "").split(","):
            name, many, count = result.strip().partition(":")
            if many:
                results += [f"{name}#{index}" for index in range(int(count))]
            elif name:
                results.append(name)
        operation = Operation(
            match["name"],
            results,
            [name.strip() for name in match["operands"].split(",")] if match["operands"] else [],
            {},
        )
        if match["next"]:
            operation.successors = [name.strip() for name in match["next"].split(",")]
        rest = line[match.end() :].lstrip()
        if rest.startswith("<{"):
            end = closing(rest, 0)
            operation.attributes.update(_attributes(rest[2 : end - 2]))
            rest = rest[end:].lstrip()
        if rest.startswith("({"):
            self.position += 1
            while True:
                operation.regions.append(self.region())
                line = self.lines[self.position]
                if line != "}, {":
                    break
                self.position += 1
            if not line.startswith("})"):
                raise ParseError(f"a region of {operation.name} ends in: {line[:120]}")
            rest = line[2:].lstrip()
        if rest.startswith("{"):
            end = closing(rest, 0)
            operation.attributes.update(_attributes(rest[1 : end - 1]))
            rest = rest[end:].lstrip()
        types, location = _without_location(rest.removeprefix(":").strip())
        operation.operand_types, operation.result_types = _signature(types)
        operation.location = self.place(location) if location else ""
        self.position += 1
        return operation

    def region(self) -> list[Block]:
        blocks: list[Block] = []
        while not (line := self.lines[self.position]).startswith("}"):
            if line.startswith("^"):
                match = _BLOCK.match(line)
                if match is None:
                    raise ParseError(f"not a block: {line[:120]}")
                block = Block(match[1], [], [], [])
                for argument in split_commas(match[2] or ""):
                    name, _, kind = argument.partition(":")
                    block.arguments.append(name.strip())
                    block.argument_types.append(parse_type(_without_location(kind)[0]))
                blocks.append(block)
                self.position += 1
                continue
            if not blocks:
                blocks.append(Block("", [], [], []))
            blocks[-1].operations.append(self.operation())
        return blocks


def parse(text: str) -> Module:
    """Raises ParseError when the text is not a module in generic form."""
    parser = _Parser(text)
    try:
        module = parser.operation()
    except IndexError:
        raise ParseError("the text ends inside an operation") from None
    if module.name != "builtin.module":
        raise ParseError(f"expected builtin.module, found {module.name}")
    functions = {}
    for operation in module.regions[0][0].operations:
        if operation.name != "tt.func":
            continue
        uses: dict[str, list[Operation]] = {}
        for inner in operation.walk():
            for operand in inner.operands:
                uses.setdefault(operand, []).append(inner)
        name = operation.text("sym_name")
        public = operation.text("sym_visibility", "public") == "public"
        functions[name] = Function(name, public, operation.regions[0], uses)
    return Module(functions)
