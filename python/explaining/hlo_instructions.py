"""HLO text as instructions, as far as a reader of products needs them.

XLA's own parser makes StableHLO of it, which has no form for what XLA:GPU's passes leave: fusions,
copies, calls of libraries with their configuration.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir_fp8.explaining.stack_frames import stack_frames

_COMPUTATION = re.compile(r"^\s*(?:ENTRY\s+)?%?([\w.$-]+)\s*(?:\(.*\)\s*->\s*[^=]*)?\{\s*$")
_INSTRUCTION = re.compile(r"^\s*(?:ROOT\s+)?%?([\w.$-]+)\s*=\s*(?=[\w(])")
_OPCODE = re.compile(r"\s*([\w-]+)\(")
_COMMENT = re.compile(r"/\*.*?\*/")
_LAYOUT = re.compile(r"(?<=\])\{[^{}]*\}")
_TYPE = re.compile(r"\w+\[[^][]*\](?:\{[^{}]*\})?")
_ATTRIBUTE = re.compile(
    r"\b(custom_call_target|calls|kind|source_file|source_line|source_column|stack_frame_id)"
    r'="?%?([^",\s}]+)'
)
_OP_NAME = re.compile(r'\bop_name="([^"]*)"')
_CONFIG = re.compile(r"\bbackend_config=(?=[{\"])")
_CLOSING = {"(": ")", "{": "}", "[": "]"}


@dataclass(frozen=True)
class Instruction:
    """One instruction; types are in HLO's words, without layouts."""

    name: str
    opcode: str
    types: Sequence[str]
    """That of its result, or those of the parts of a tuple."""
    operands: Sequence[str]
    """Names of instructions of the same computation."""
    attributes: dict[str, str]
    config: dict[str, Any]
    """Its `backend_config`."""
    line: int
    column: int


@dataclass
class Computation:
    """The instructions of one computation by name, in order."""

    name: str
    instructions: dict[str, Instruction] = field(default_factory=dict)


def computations(text: str) -> list[Computation]:
    """Those of an HLO module in text; what is no instruction is left out."""
    found: list[Computation] = []
    frames = stack_frames(text)
    lines = _lines(text)
    for number, line in enumerate(lines, 1):
        header = _COMPUTATION.match(line)
        if header and header[1] != "HloModule":
            found.append(Computation(header[1]))
        start = _INSTRUCTION.match(line)
        if start and found:
            rest = "\n".join([line[start.end() :], *_continued(lines, number)])
            column = len(line) - len(line.lstrip()) + 1
            instruction = _instruction(start[1], rest, number, column)
            if instruction is not None:
                frame = instruction.attributes.get("stack_frame_id", "")
                instruction.attributes.update(frames.get(frame, {}))
                found[-1].instructions[instruction.name] = instruction
    return found


def is_whole(text: str) -> bool:
    """Whether the entry of an HLO module in text is there, and its last computation has an end."""
    lines = _lines(text)
    headers = [number for number, line in enumerate(lines) if _COMPUTATION.match(line)]
    has_entry = any(lines[number].lstrip().startswith("ENTRY") for number in headers)
    return has_entry and any(line.strip() == "}" for line in lines[headers[-1] :])


def _lines(text: str) -> list[str]:
    """With blanks in the place of comments, which XLA puts before each fifth part of a tuple."""
    return [_COMMENT.sub(lambda each: " " * len(each[0]), line) for line in text.split("\n")]


def _continued(lines: Sequence[str], number: int) -> Iterator[str]:
    """The lines after `number` that belong to the instruction there."""
    for line in lines[number:]:
        if _INSTRUCTION.match(line) or not line.strip() or line.strip() == "}" == line[:1]:
            return
        yield line


def _instruction(name: str, rest: str, line: int, column: int) -> Instruction | None:
    type_end = _end(rest, 0) if rest.startswith("(") else len(rest.split(None, 1)[0])
    opcode = _OPCODE.match(rest, type_end)
    if opcode is None:
        return None
    end = _end(rest, opcode.end() - 1)
    attributes = dict(_ATTRIBUTE.findall(rest, end))
    op_name = _OP_NAME.search(rest, end)
    attributes["op_name"] = op_name[1] if op_name else ""
    operands = [each.split()[-1].lstrip("%") for each in _parts(rest[opcode.end() : end - 1])]
    types = [_LAYOUT.sub("", each) for each in _TYPE.findall(rest[:type_end])]
    config = _CONFIG.search(rest, end)
    held = _config(rest[config.end() :]) if config else {}
    return Instruction(name, opcode[1], types, operands, attributes, held, line, column)


def _parts(listed: str) -> Iterator[str]:
    """What stands between commas that are in no brackets."""
    depth = start = 0
    for index, character in enumerate(listed):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            yield listed[start:index].strip()
            start = index + 1
    if listed[start:].strip():
        yield listed[start:].strip()


def _end(text: str, start: int) -> int:
    """Behind the bracket that closes the one at `start`."""
    depth = 0
    opening, closing = text[start], _CLOSING[text[start]]
    for index in range(start, len(text)):
        depth += (text[index] == opening) - (text[index] == closing)
        if not depth:
            return index + 1
    return len(text)


def _config(text: str) -> dict[str, Any]:
    """The JSON object that `text` starts with, which older XLA quotes as a string."""
    decoder = json.JSONDecoder(strict=False)
    try:
        value = decoder.raw_decode(text)[0]
        value = decoder.raw_decode(value)[0] if isinstance(value, str) else value
    except json.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
