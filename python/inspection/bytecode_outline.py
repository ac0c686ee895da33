"""An artifact without the bulk of its constants, for reading what else is in it.

Constants are nearly all of a large artifact, and the library copies each several times. Here each
large one is replaced, in the bytecode, by one number that is repeated: the module that is read has
the same ops and types, and takes no memory to speak of. What is not of the expected form stays.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from mlir_fp8.inspection.bytecode_header import MAGIC, read_varint

# Below this a constant may stay.
_LARGE = 1 << 16
# A tensor type is a few bytes, an attribute's offset one to nine; damage can claim anything.
_LONGEST_TYPE, _LONGEST_OFFSETS = 4096, 1 << 24
_ATTRIBUTES, _OFFSETS = 2, 3
_ALIGNED = 0x80
_PADDING = b"\xcb"
# What they are in VHLO's encoding, in every version.
_TENSOR_ATTRIBUTE, _TENSOR_TYPE = 15, 20
_ELEMENT_BYTES = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Outline:
    """An artifact with large constants cut to one number each."""

    data: bytes
    elided: frozenset[int]
    """The sizes in bytes of the constants that were cut."""


class _MalformedError(ValueError):
    """Not the bytecode that is understood here."""


@dataclass
class _Section:
    code: int
    alignment: int
    data: memoryview | bytes


@dataclass
class _Entry:
    """An attribute or a type in its section."""

    data: memoryview
    is_custom: bool


@dataclass(frozen=True)
class _Constant:
    size: int
    """Bytes of all its numbers."""
    at: int
    """Where its data is in its entry."""
    first: bytes
    """Its first number."""
    is_splat: bool
    """Whether it is in the file as one number already."""


def outline(artifact: memoryview) -> Outline | None:
    """`artifact` with its large constants cut; None where there are none or it is damaged."""
    try:
        return _outline(artifact)
    except _MalformedError:
        return None


def _outline(artifact: memoryview) -> Outline | None:
    _, start = _number(artifact, len(MAGIC))
    start += bytes(artifact[start : start + 256]).find(b"\0") + 1
    sections = list(_sections(artifact, start))
    by_code = {section.code: section for section in sections}
    if not {_ATTRIBUTES, _OFFSETS} <= by_code.keys():
        raise _MalformedError
    attributes, offsets = by_code[_ATTRIBUTES], by_code[_OFFSETS]
    assert isinstance(attributes.data, memoryview) and isinstance(offsets.data, memoryview)
    if len(offsets.data) > _LONGEST_OFFSETS:
        raise _MalformedError
    numbers = list(_numbers(offsets.data))
    entries, sizes_at = _entries(attributes.data, numbers)
    types = entries[numbers[0] :]
    constants = [_constant(entry, types) for entry in entries[: numbers[0]]]
    splats = {each.size for each in constants if each is not None and each.is_splat}
    elided: set[int] = set()
    for entry, position, constant in zip(entries, sizes_at, constants, strict=False):
        # By its size a constant must be known as one that was cut here.
        if constant is None or constant.is_splat or not _LARGE <= constant.size not in splats:
            continue
        short = bytes(entry.data[: constant.at]) + _varint(len(constant.first)) + constant.first
        entry.data = memoryview(short)
        numbers[position] = len(short) << 1 | entry.is_custom
        elided.add(constant.size)
    if not elided:
        return None
    attributes.data = b"".join(entry.data for entry in entries)
    offsets.data = b"".join(map(_varint, numbers))
    return Outline(_joined(bytes(artifact[:start]), sections), frozenset(elided))


def _sections(data: memoryview, start: int) -> Iterator[_Section]:
    while start < len(data):
        code, alignment = data[start], 1
        length, start = _number(data, start + 1)
        if code & _ALIGNED:
            alignment, start = _number(data, start)
            start += -start % max(1, alignment)
        if start + length > len(data):
            raise _MalformedError
        yield _Section(code & ~_ALIGNED, alignment, data[start : start + length])
        start += length


def _joined(head: bytes, sections: list[_Section]) -> bytes:
    joined = bytearray(head)
    for section in sections:
        is_aligned = section.alignment > 1
        joined.append(section.code | (_ALIGNED if is_aligned else 0))
        joined += _varint(len(section.data))
        if is_aligned:
            joined += _varint(section.alignment)
            joined += _PADDING * (-len(joined) % section.alignment)
        joined += section.data
    return bytes(joined)


def _entries(data: memoryview, numbers: list[int]) -> tuple[list[_Entry], list[int]]:
    """The attributes, then the types; and where in `numbers` the size of each is.

    The numbers: how many attributes and types there are, then groups by dialect: the dialect, how
    many entries follow, and for each its size, doubled, plus one if the dialect encodes it.
    """
    if len(numbers) < 2:
        raise _MalformedError
    entries: list[_Entry] = []
    sizes_at: list[int] = []
    at, start = 2, 0
    while len(entries) < numbers[0] + numbers[1]:
        if at + 1 >= len(numbers) or at + 2 + numbers[at + 1] > len(numbers):
            raise _MalformedError
        for position in range(at + 2, at + 2 + numbers[at + 1]):
            end = start + (numbers[position] >> 1)
            entries.append(_Entry(data[start:end], bool(numbers[position] & 1)))
            sizes_at.append(position)
            start = end
        at += 2 + numbers[at + 1]
    if start != len(data):
        raise _MalformedError
    return entries, sizes_at


def _constant(entry: _Entry, types: list[_Entry]) -> _Constant | None:
    """The constant that `entry` is; None for what is none.

    VHLO encodes one as: what it is, its type, how many bytes, the bytes; and a tensor type as: what
    it is, the rank, the dimensions, zigzag, and the element type.
    """
    try:
        what, at = _number(entry.data, 0)
        type_, at = _number(entry.data, at)
        size, data_at = _number(entry.data, at)
        numbers = list(_numbers(types[type_].data[:_LONGEST_TYPE]))
    except (_MalformedError, IndexError):
        return None
    is_tensor = what == _TENSOR_ATTRIBUTE and numbers[:1] == [_TENSOR_TYPE]
    if not (entry.is_custom and is_tensor and data_at + size == len(entry.data)):
        return None
    if len(numbers) < 2 or len(numbers) < 2 + numbers[1]:
        return None
    elements = prod(number >> 1 for number in numbers[2 : 2 + numbers[1]])
    if elements < 2:
        return None
    if size in _ELEMENT_BYTES and size < elements:
        return _Constant(size * elements, at, b"", is_splat=True)
    element, rest = divmod(size, elements)
    if rest or element not in _ELEMENT_BYTES:
        return None
    return _Constant(size, at, bytes(entry.data[data_at : data_at + element]), is_splat=False)


def _numbers(data: memoryview) -> Iterator[int]:
    at = 0
    while at < len(data):
        number, at = _number(data, at)
        yield number


def _number(data: memoryview, start: int) -> tuple[int, int]:
    number = read_varint(data, start)
    if number is None:
        raise _MalformedError
    return number


def _varint(value: int) -> bytes:
    length = max(1, -(-value.bit_length() // 7))
    if length > 8:
        return b"\0" + value.to_bytes(8, "little")
    return ((value << 1 | 1) << (length - 1)).to_bytes(length, "little")
