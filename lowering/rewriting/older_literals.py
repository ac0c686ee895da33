"""LLVM IR text for LLVMs before the 23rd, which spell floats otherwise.

Newer ones write a float as a decimal that is rounded to its type, as a word, or as its type's own
bits: `float 4.4715e-02`, `half -nan(0x1FF)`, `float f0x3727C5AC`. Older ones take decimals only
where they are exact, and bits: 0xH for half, 0xR for bfloat, for the others those of a double.
"""

import re
import struct
from fractions import Fraction

from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.dialects.float_reference import encode

_FORMATS = {
    "half": FORMATS["f16"],
    "bfloat": FORMATS["bf16"],
    "float": FORMATS["f32"],
    "double": FORMATS["f64"],
}
_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"|[%@!][-\w$.]+|\b(?P<type>half|bfloat|float|double)\b'
    r"|(?P<sign>[+-])(?P<kind>inf|qnan|s?nan\(0x(?P<payload>[0-9A-Fa-f]+)\))"
    r"|\bf0x(?P<code>[0-9A-Fa-f]+)\b"
    r"|(?P<minus>-?)\b(?P<decimal>\d+\.\d*(?:e[+-]?\d+)?)"
)


def in_older_words(text: str) -> str:
    """`text` with every float spelled as older LLVMs do; each is of the last type named before."""
    held = "double"

    def rewrite(found: re.Match[str]) -> str:
        nonlocal held
        held = found["type"] or held
        code = _code(held, found)
        return found[0] if code is None else _spelled(held, code)

    return _TOKEN.sub(rewrite, text)


def _code(type_: str, found: re.Match[str]) -> int | None:
    """The bits of a float, None for any other token."""
    fmt = _FORMATS[type_]
    if found["code"] is not None:
        return int(found["code"], 16)
    if found["decimal"] is not None:
        code = encode(fmt, Fraction(found["decimal"]))
        return code | fmt.sign_mask if found["minus"] else code
    if found["kind"] is None:
        return None
    code = int(found["payload"] or "0", 16) | (fmt.infinity_code or 0)
    if found["kind"] == "qnan" or found["kind"].startswith("nan"):
        code |= fmt.nan_code or 0
    return code | fmt.sign_mask if found["sign"] == "-" else code


def _spelled(type_: str, code: int) -> str:
    match type_:
        case "half":
            return f"0xH{code:04X}"
        case "bfloat":
            return f"0xR{code:04X}"
        case "float":
            return f"0x{_of_double(code):016X}"
    return f"0x{code:016X}"


def _of_double(code: int) -> int:
    """The bits of the double that is equal to a float; of a NaN, with its sign and payload."""
    payload = code & 0x7FFFFF
    if code & 0x7F800000 == 0x7F800000:
        return (code >> 31 << 63) | (0x7FF << 52) | (payload << 29)
    (number,) = struct.unpack("<f", code.to_bytes(4, "little"))
    return int.from_bytes(struct.pack("<d", number), "little")
