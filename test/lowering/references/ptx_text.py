"""Reads the text of PTX: one kernel, its instructions, labels, parameters and shared memory."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

RESERVED = 1024
"""Bytes of shared memory before a kernel's own: as on Hopper, address 0 is nobody's."""
_BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}
_NAME = re.compile(r"(?<![\w.%$])[%$A-Za-z_][\w$]*")


class PtxError(Exception):
    """The kernel did what would be wrong on a GPU."""


@dataclass(frozen=True)
class Instruction:
    guard: str
    """The predicate, `!` in front of one that must not hold; or nothing."""
    name: str
    operands: tuple[str, ...]
    parts: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        return f"{self.name} {', '.join(self.operands)}"[:120]


@dataclass
class Program:
    code: list[Instruction]
    labels: dict[str, int]
    registers: set[str]
    parameters: list[str]
    symbols: dict[str, int]
    """Addresses in shared memory."""
    shared_bytes: int
    """Where static shared memory ends; dynamic shared memory ends behind it."""
    cluster: tuple[int, int, int]


@dataclass
class _Scope:
    number: int
    parent: "_Scope | None"
    names: set[str] = field(default_factory=set[str])

    def resolved(self, name: str) -> str:
        scope: _Scope | None = self
        while scope is not None and scope.parent is not None:
            if name in scope.names:
                return f"{name}@{scope.number}"
            scope = scope.parent
        return name


def read_program(ptx: str, dynamic_bytes: int = 0) -> Program:
    """The one kernel of `ptx`; its dynamic shared memory has `dynamic_bytes`."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", ptx, flags=re.DOTALL)
    text = re.sub(r"(?m)^\s*\.(loc|file)\b[^\n]*$", "", text)
    if text.count(".entry") != 1:
        raise PtxError(f"{text.count('.entry')} kernels where one is run")
    entry = text[text.index(".entry") :]
    header, _, body = entry.partition("{")
    parameters = re.findall(r"\.param\s[^,)]*?([\w$]+)\s*[,)]", header)
    found = re.search(r"\.reqnctapercluster\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", header)
    x, y, z = (int(each or 1) for each in found.groups()) if found else (1, 1, 1)
    symbols, end = _shared(text, dynamic_bytes)
    code, labels, registers = _code(body)
    return Program(code, labels, registers, parameters, symbols, end, (x, y, z))


def _shared(text: str, dynamic_bytes: int) -> tuple[dict[str, int], int]:
    declared = re.findall(
        r"(\.extern\s+)?\.shared\s+(?:\.align\s+(\d+)\s+)?\.[a-z](\d+)\s+([\w$]+)(?:\[(\d*)\])?",
        text,
    )
    symbols: dict[str, int] = {}
    at = RESERVED
    for external, align, bits, name, count in declared:
        if not external:
            at = -(-at // int(align or 1)) * int(align or 1)
            symbols[name] = at
            at += _BYTES[bits] * int(count or 1)
    dynamic = [(int(align or 1), name) for external, align, _, name, _ in declared if external]
    alignment = max((each for each, _ in dynamic), default=1)
    at = -(-at // alignment) * alignment
    symbols |= {name: at for _, name in dynamic}
    return symbols, at + dynamic_bytes


def _statements(body: str) -> Iterator[str]:
    """`{`, `}` of blocks, labels with their colon, and what ends in a semicolon."""
    at, depth = 0, 1
    while depth:
        at = _SPACE.match(body, at).end()  # pyright: ignore[reportOptionalMemberAccess]
        if body[at] in "{}":
            depth += 1 if body[at] == "{" else -1
            yield body[at]
            at += 1
        elif label := _LABEL.match(body, at):
            yield label[0]
            at = label.end()
        else:
            end = body.index(";", at)
            yield " ".join(body[at:end].split())
            at = end + 1


_SPACE = re.compile(r"\s*")
_LABEL = re.compile(r"([%$\w]+)\s*:(?!:)")


def _code(body: str) -> tuple[list[Instruction], dict[str, int], set[str]]:
    scope = _Scope(0, None)
    read: list[tuple[str, _Scope]] = []
    labels: list[tuple[str, _Scope, int]] = []
    registers: set[str] = set()
    number = 0
    for text in _statements(body):
        if text == "{":
            number += 1
            scope = _Scope(number, scope)
        elif text == "}":
            scope = scope.parent or scope
        elif label := _LABEL.fullmatch(text):
            scope.names.add(label[1])
            labels.append((label[1], scope, len(read)))
        elif text.startswith(".reg"):
            scope.names.update(_registers(text))
            registers.update(scope.resolved(each) for each in _registers(text))
        elif text and not text.startswith("."):
            read.append((text, scope))
    code = [_instruction(text, scope) for text, scope in read]
    return code, {scope.resolved(name): at for name, scope, at in labels}, registers


def _registers(text: str) -> Iterator[str]:
    for each in text.split(None, 2)[2].split(","):
        found = re.fullmatch(r"([%$\w]+)(?:<(\d+)>)?", each.strip())
        assert found, text
        yield from [f"{found[1]}{i}" for i in range(int(found[2]))] if found[2] else [found[1]]


def _instruction(text: str, scope: _Scope) -> Instruction:
    found = re.fullmatch(r"(?:@\s*(!?)\s*([%$\w]+)\s+)?([a-z][\w.:]*)(?:\s+(.*))?", text)
    if not found:
        raise PtxError(f"no instruction: {text}")
    negated, guard, name, rest = found.groups()
    operands = tuple(_operands(rest or ""))
    if scope.parent is not None:
        guard = scope.resolved(guard) if guard else guard
        operands = tuple(_NAME.sub(lambda x: scope.resolved(x[0]), each) for each in operands)
    parts = tuple(name.replace("::", "__").split("."))
    parts = tuple(each.replace("__", "::") for each in parts)
    return Instruction(f"{negated}{guard}" if guard else "", name, operands, parts)


def _operands(text: str) -> Iterator[str]:
    depth, start = 0, 0
    for at, each in enumerate(text):
        depth += (each in "[{") - (each in "]}")
        if each == "," and not depth:
            yield text[start:at].strip()
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()


def listed(operand: str) -> list[str]:
    """What is in braces; or the one operand."""
    inside = operand.strip()
    if inside.startswith("{"):
        return [each.strip() for each in inside.strip("{}").split(",")]
    return [inside]
