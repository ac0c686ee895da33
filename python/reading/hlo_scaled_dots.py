"""HLO's `scaled-dot`, which XLA's converters have no op for, as custom calls, and back.

Both are edited in a serialized `HloModuleProto` (openxla/xla, xla/service/hlo.proto), of which
everything else stays byte for byte. Dimension numbers go into the call's `backend_config`.
"""

import json
from collections.abc import Callable, Iterator

from mlir_fp8.base.errors import Fp8Error

SCALED_DOT = "xla.scaled_dot"
"""The target of the calls, of operands as `scaled-dot` has them: data, then scales, of both."""
_OPCODE, _CALL = b"scaled-dot", b"custom-call"
_COMPUTATIONS, _INSTRUCTIONS = 3, 2
_NAME_OF_OP, _TARGET, _DIMENSIONS, _CONFIG, _API_VERSION = 2, 28, 30, 43, 77
_ORIGINAL = 1
_LISTS = (1, 2, 3, 4)
"""Of `DotDimensionNumbers`: contracting dimensions of both sides, then batching ones."""
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5

_Field = tuple[int, int, bytes]
"""A number, a wire type and what is in it: bytes, or those of a number as it is written."""


def scaled_dots_as_calls(proto: bytes) -> bytes:
    """`proto` with custom calls in the place of scaled dots."""
    return _edited(proto, _as_call) if _OPCODE in proto else proto


def calls_as_scaled_dots(proto: bytes) -> bytes:
    """`proto` with scaled dots in the place of such custom calls."""
    return _edited(proto, _as_dot) if SCALED_DOT.encode() in proto else proto


def _edited(proto: bytes, edit: Callable[[list[_Field]], list[_Field]]) -> bytes:
    """A module of which `edit` has seen each instruction."""

    def instructions(data: bytes) -> bytes:
        return _written(edit(list(_fields(data))))

    def computations(data: bytes) -> bytes:
        return _mapped(data, _INSTRUCTIONS, instructions)

    return _mapped(proto, _COMPUTATIONS, computations)


def _mapped(data: bytes, number: int, change: Callable[[bytes], bytes]) -> bytes:
    return _written(
        (n, wire, change(value) if n == number and wire == _LENGTH else value)
        for n, wire, value in _fields(data)
    )


def _as_call(fields: list[_Field]) -> list[_Field]:
    if (_NAME_OF_OP, _LENGTH, _OPCODE) not in fields:
        return fields
    given = next((value for n, _, value in fields if n == _DIMENSIONS), b"")
    held: dict[int, list[int]] = {each: [] for each in _LISTS}
    for n, wire, value in _fields(given):
        held[n] += list(_varints(value)) if wire in (_LENGTH, _VARINT) else []
    config = {"dimension_numbers": [[held[1], held[2]], [held[3], held[4]]]}
    dropped = (_NAME_OF_OP, _TARGET, _DIMENSIONS, _CONFIG, _API_VERSION)
    return [
        *(each for each in fields if each[0] not in dropped),
        (_NAME_OF_OP, _LENGTH, _CALL),
        (_TARGET, _LENGTH, SCALED_DOT.encode()),
        (_CONFIG, _LENGTH, json.dumps(config).encode()),
        (_API_VERSION, _VARINT, _varint(_ORIGINAL)),
    ]


def _as_dot(fields: list[_Field]) -> list[_Field]:
    if (_TARGET, _LENGTH, SCALED_DOT.encode()) not in fields:
        return fields
    config = next((value for n, _, value in fields if n == _CONFIG), b"")
    try:
        (lhs, rhs), (lhs_batch, rhs_batch) = json.loads(config)["dimension_numbers"]
        lists = [b"".join(map(_varint, each)) for each in (lhs, rhs, lhs_batch, rhs_batch)]
    except (KeyError, TypeError, ValueError, RecursionError):
        raise Fp8Error(f"custom call '{SCALED_DOT}' has no dimension_numbers") from None
    numbers = zip(_LISTS, lists, strict=True)
    dropped = (_NAME_OF_OP, _TARGET, _CONFIG, _API_VERSION)
    return [
        *(each for each in fields if each[0] not in dropped),
        (_NAME_OF_OP, _LENGTH, _OPCODE),
        (_DIMENSIONS, _LENGTH, _written((n, _LENGTH, each) for n, each in numbers if each)),
    ]


def _fields(data: bytes) -> Iterator[_Field]:
    at = 0
    while at < len(data):
        key, at = _read(data, at)
        number, wire = key >> 3, key & 7
        start = at
        if wire == _VARINT:
            _, at = _read(data, at)
        elif wire == _LENGTH:
            size, start = _read(data, at)
            at = start + size
        elif wire in (_FIXED64, _FIXED32):
            at += 8 if wire == _FIXED64 else 4
        else:
            raise Fp8Error("not a serialized HloModuleProto")
        yield number, wire, data[start:at]


def _written(fields: Iterator[_Field] | list[_Field]) -> bytes:
    parts: list[bytes] = []
    for number, wire, value in fields:
        parts.append(_varint(number << 3 | wire))
        parts += [_varint(len(value)), value] if wire == _LENGTH else [value]
    return b"".join(parts)


def _read(data: bytes, at: int) -> tuple[int, int]:
    """The number that is written from `at` on, and where the next one begins."""
    value = shift = 0
    while at < len(data):
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
    raise Fp8Error("not a serialized HloModuleProto")


def _varints(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _read(data, at)
        yield value


def _varint(value: int) -> bytes:
    parts: list[int] = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])
