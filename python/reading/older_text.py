"""MLIR text of older printers in today's syntax; columns are kept where possible.

Two things changed under the same spelling. Bool constants in hexadecimal held a bit per element,
lowest first, until MLIR gave each a byte. One-dimensional attributes of StableHLO ops were
`dense<...> : tensor<Nxi64>` until StableHLO 0.17 of January 2024 made them `array<i64: ...>`.
"""

import re
from collections.abc import Sequence

from mlir_fp8.base.errors import Fp8Error

_TYPE_ALIAS = re.compile(r"^\s*(![\w$.-]+)\s*=\s*(?:tensor|vector)\s*<([\dx]*)i1>", re.MULTILINE)
# What is in strings and comments stays: no other match begins inside of them.
_OTHER = r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|//[^\n]*'
_HEX = re.compile(
    r'dense<"0x(?P<digits>[0-9A-Fa-f]*)">\s*:\s*'
    r"(?:(?:tensor|vector)\s*<(?P<sizes>[\dx]*)i1>|(?P<alias>![\w$.-]+))" + _OTHER
)
_ATTRIBUTES = (
    "base_dilations broadcast_dimensions broadcast_sizes dimensions edge_padding_high"
    " edge_padding_low fft_length interior_padding known_expanding_dimensions"
    " known_nonexpanding_dimensions lhs_dilation limit_indices permutation rhs_dilation slice_sizes"
    " start_indices strides window_dilations window_dimensions window_reversal window_strides"
)
_DENSE = re.compile(
    rf"\b(?P<name>{'|'.join(_ATTRIBUTES.split())}) = (?P<dense>dense<(?P<body>[^<>]*)>"
    r"\s*:\s*tensor<(?P<size>\d{1,3})x(?P<element>i64|i1)>)" + _OTHER
)
_HEX_BODY = re.compile(r'"0x(?:[0-9A-Fa-f]{2})*"')
_UNPACKED = ["".join(f"0{byte >> bit & 1}" for bit in range(8)) for byte in range(256)]
_MHLO_OP = re.compile(r'(?:^|=)\s*"?mhlo\.\w+"?[ (]', re.MULTILINE)


def unpack_bools(text: str, name: str) -> str:
    """`text` with a byte for each element where a constant of i1 has a bit.

    A splat, one byte of 0, 1 or 255, stays. What can be read in both ways is an `Fp8Error`: the
    byte 1 for 2 to 8 elements; so is a set bit behind the last element. `name` stands for the text.
    """
    if 'dense<"0x' not in text or "i1>" not in text:
        return text
    aliases = {alias[1]: alias[2] for alias in _TYPE_ALIAS.finditer(text)}

    def unpacked(found: re.Match[str]) -> str:
        sizes = found["sizes"] if found["alias"] is None else aliases.get(found["alias"])
        if found["digits"] is None or sizes is None or len(found["digits"]) % 2:
            return found[0]
        count = _product(sizes)
        try:
            digits = _bytes_of_bits(bytes.fromhex(found["digits"]), count)
        except ValueError as error:
            line = text.count("\n", 0, found.start()) + 1
            column = found.start() - text.rfind("\n", 0, found.start())
            raise Fp8Error(f"{name}:{line}:{column}: {error}") from None
        return found[0].replace(found["digits"], digits, 1) if digits else found[0]

    return _HEX.sub(unpacked, text)


def _bytes_of_bits(data: bytes, count: int) -> str:
    """`data` as a byte for each of `count` elements, in hexadecimal; empty where it is that."""
    if len(data) != -(-count // 8):
        return ""
    bits = int.from_bytes(data, "little")
    if len(data) == 1 and bits in (0, 1, 0xFF):
        if bits == 1 and count > 1:
            raise ValueError(
                f'dense<"0x01"> of {count} elements is all true, or the first alone where an older '
                "MLIR wrote it: write the elements as true and false"
            )
        return ""
    if bits >> count:
        raise ValueError(
            f"{8 * len(data)} bits for {count} elements, and not zero behind the last: write the "
            "elements as true and false"
        )
    return "".join(map(_UNPACKED.__getitem__, data))[: 2 * count]


def with_arrays(text: str) -> str | None:
    """`text` with `array<...>` where StableHLO before 0.17 had `dense<...>`; None if nowhere.

    Also None for text with MHLO ops, whose attributes still are `dense<...>`.
    """
    if _MHLO_OP.search(text):
        return None
    changed = _DENSE.sub(_array, text)
    return None if changed == text else changed


def _array(found: re.Match[str]) -> str:
    if found["name"] is None:
        return found[0]
    numbers = _numbers(found["body"].strip(), int(found["size"]), found["element"])
    if numbers is None:
        return found[0]
    listed = f": {', '.join(numbers)}" if numbers else ""
    # What follows keeps its column.
    array = f"array<{found['element']}{listed}>".ljust(len(found["dense"]))
    return f"{found['name']} = {array}"


def _numbers(body: str, count: int, element: str) -> Sequence[str] | None:
    if body.startswith('"'):
        width = 8 if element == "i64" else 1
        data = bytes.fromhex(body[3:-1]) if _HEX_BODY.fullmatch(body) else b""
        numbers = [
            int.from_bytes(data[at : at + width], "little", signed=width == 8)
            for at in range(0, len(data), width)
        ]
        listed = [str(each) if element == "i64" else str(each != 0).lower() for each in numbers]
    else:
        listed = [each.strip() for each in body.strip("[]").split(",") if each.strip()]
    if len(listed) == 1:
        return listed * count
    return listed if len(listed) == count else None


def _product(sizes: str) -> int:
    product = 1
    for size in sizes.split("x")[:-1]:
        product *= int(size)
    return product
