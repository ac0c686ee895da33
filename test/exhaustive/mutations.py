"""Damage: what storage, transport, tools and enemies do to artifacts, bytecode and text."""

import random
import re
from collections.abc import Callable, Sequence
from itertools import pairwise

Mutation = Callable[[random.Random, bytes, Sequence[bytes]], bytes]

_MAGIC = b"ML\xefR"
_CLAIMS = (1 << 31, (1 << 31) - 1, 1 << 32, 3 << 30, 1 << 40, 1 << 62, (1 << 64) - 1)


def mutate(seed: int, originals: Sequence[bytes], *, text: bool = False) -> tuple[str, bytes]:
    """The name of a mutation, and one of `originals` after it, both chosen by `seed`."""
    rng = random.Random(seed)
    mutations = (*ANYTHING, *TEXT) if text else (*ANYTHING, *BYTECODE)
    mutation = rng.choice(mutations)
    return mutation.__name__, mutation(rng, rng.choice(originals), originals)


def flip_one_bit(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    return _flip(rng, data, 1)


def flip_few_bits(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    return _flip(rng, data, rng.randint(2, 8))


def flip_many_bits(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    return _flip(rng, data, rng.randint(9, 9 + len(data) // 8))


def replace_byte(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([rng.choice((0, 1, 0x7F, 0x80, 0xFF))]) + data[at + 1 :]


def truncate(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    edge = rng.choice((0, 1, 4, 5, 21, len(data) - 1, rng.randrange(len(data))))
    return data[:edge]


def insert_bytes(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.randbytes(rng.choice((1, 1, 2, 8, 100))) + data[at:]


def delete_bytes(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice((1, 1, 2, 8, 100)) :]


def repeat_bytes(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at : at + rng.randint(1, 200)] * rng.randint(2, 5) + data[at:]


def zero_bytes(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data))
    size = min(rng.choice((8, 64, 512, 4096)), len(data) - at)
    return data[:at] + bytes(size) + data[at + size :]


def splice(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others)
    return data[: rng.randint(0, len(data))] + other[rng.randrange(len(other)) :]


def transplant(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others)
    start, at = rng.randrange(len(other)), rng.randrange(len(data))
    part = other[start : start + rng.randint(1, 400)]
    return data[:at] + part + data[at + len(part) :]


def random_bytes(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    start = data[: rng.choice((0, 4, 5, 21, 22, 40))]
    return start + rng.randbytes(rng.choice((0, 1, 20, 1000)))


def claim_anywhere(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + _varint(rng) + data[at + 1 :]


def claim_section_length(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    _, length_at, start, _ = rng.choice(sections(data))
    return data[:length_at] + _varint(rng) + data[start:]


def claim_in_section(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A huge count in a section whose length is right."""
    _, length_at, start, end = rng.choice(sections(data))
    at = start + rng.choice((0, 0, rng.randrange(max(1, end - start))))
    payload = data[start:at] + _varint(rng) + data[at + 1 : end]
    return data[:length_at] + _wide_varint(len(payload)) + payload + data[end:]


def swap_sections(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    parts = _section_bytes(data)
    first, second = rng.sample(range(1, len(parts)), 2)
    parts[first], parts[second] = parts[second], parts[first]
    return b"".join(parts)


def drop_or_repeat_section(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    parts = _section_bytes(data)
    at = rng.randrange(1, len(parts))
    return b"".join([*parts[:at], *[parts[at]] * rng.choice((0, 2)), *parts[at + 1 :]])


def foreign_section(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    parts, theirs = _section_bytes(data), _section_bytes(rng.choice(others))
    at = rng.randrange(1, min(len(parts), len(theirs)))
    return b"".join([*parts[:at], theirs[at], *parts[at + 1 :]])


def patch_header(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    end = data.index(b"\0", 5)
    version = bytes([rng.randrange(256)]) if rng.random() < 0.5 else data[4:5]
    producers = (b"StableHLO_v%d.%d.%d", b"StableHLO_v%d", b"StableHLO_%d.%d", b"MLIR%d", b"")
    producer = rng.choice(producers)
    numbers = tuple(rng.choice((0, 1, 9, 19, 99, 10**30)) for _ in range(producer.count(b"%d")))
    return _MAGIC + version + producer % numbers + rng.choice((b"\0", b"\0", b"")) + data[end + 1 :]


def change_number(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    numbers = ("0", "-1", "3", "64", "4294967296", "9223372036854775807", "9" * 30)
    return _replace(rng, data, r"\d+", numbers)


def change_type(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    types = (
        "i0", "i16777215", "f80", "complex<f80>", "complex<i3>", "tuple<>", "index", "none",
        "!quant.uniform<f8E4M3FN:f32, 0.1>", "!quant.uniform<i8:f32, 0.1>", "vector<2xf32>",
        "tensor<2xf32>", "memref<*xf32>", "f4E2M1FN", "f8E8M0FNU", "i4",
    )  # fmt: skip
    return _replace(rng, data, r"\b(?:[fb]f?\d+(?:E\w+)?|u?i\d+)\b", types)


def change_op(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    names = re.findall(r"stablehlo\.\w+", rng.choice(others).decode())
    return _replace(rng, data, r"stablehlo\.\w+", names or ("stablehlo.add",))


def delete_line(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    lines = data.splitlines(keepends=True)
    del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def nest_deeply(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + rng.choice((b"[", b"(", b"<", b"tuple<", b"{", b"-")) * 50_000 + data[at:]


ANYTHING: tuple[Mutation, ...] = (
    flip_one_bit, flip_few_bits, flip_many_bits, replace_byte, truncate, insert_bytes, delete_bytes,
    repeat_bytes, zero_bytes, splice, transplant, random_bytes,
)  # fmt: skip
BYTECODE: tuple[Mutation, ...] = (
    claim_anywhere, claim_section_length, claim_in_section, claim_in_section, swap_sections,
    drop_or_repeat_section, foreign_section, patch_header,
)  # fmt: skip
TEXT: tuple[Mutation, ...] = (
    change_number, change_number, change_type, change_type, change_op, delete_line, nest_deeply,
)  # fmt: skip


def sections(data: bytes) -> list[tuple[int, int, int, int]]:
    """Of every section of MLIR bytecode: where it, its length, its content and its end are."""
    at = data.index(b"\0", 5) + 1
    found: list[tuple[int, int, int, int]] = []
    while at < len(data):
        length, start = _read_varint(data, at + 1)
        if data[at] & 0x80:  # aligned content: alignment and padding stand before it
            _, start = _read_varint(data, start)
            while data[start] == 0xCB:
                start += 1
        found.append((at, at + 1, start, start + length))
        at = start + length
    return found


def _section_bytes(data: bytes) -> list[bytes]:
    """The header, then each section."""
    starts = [0, *(section[0] for section in sections(data)), len(data)]
    return [data[start:end] for start, end in pairwise(starts)]


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A number whose length is told by the lowest set bit of its first byte."""
    if data[at] == 0:
        return int.from_bytes(data[at + 1 : at + 9], "little"), at + 9
    size = (data[at] & -data[at]).bit_length()
    return int.from_bytes(data[at : at + size], "little") >> size, at + size


def _wide_varint(value: int) -> bytes:
    return b"\0" + value.to_bytes(8, "little")


def _varint(rng: random.Random) -> bytes:
    return _wide_varint(rng.choice(_CLAIMS))


def _flip(rng: random.Random, data: bytes, times: int) -> bytes:
    flipped = bytearray(data)
    for _ in range(times):
        flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(flipped)


def _replace(rng: random.Random, data: bytes, pattern: str, by: Sequence[str]) -> bytes:
    text = data.decode()
    for _ in range(rng.choice((1, 1, 2, 5))):
        places = list(re.finditer(pattern, text))
        if places:
            place = rng.choice(places)
            text = text[: place.start()] + rng.choice(by) + text[place.end() :]
    return text.encode()
