"""Numbers in MLIR text that their float type has no code for.

MLIR's parser silently takes another number: 2^-127 for zero in f8E8M0FNU and 4 for -4, NaN or the
largest value beyond a range without infinity. The parsed module does not show this, so the text is
checked first.
"""

import re
from collections.abc import Iterator, Mapping

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
from mlir_fp8.reading.lost_numbers import lost, spelled

# Between any two tokens may be space; comments and strings are blanked before.
_DECIMAL = r"[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?"
_LITERAL = re.compile(rf"(?<![\w.$%#@!])(?:-\s*)?(?:{_DECIMAL}|(?:inf|nan)\b)")
_OF_LITERALS = frozenset("0123456789.eE+-infa \t\r\n")
_BODY = r"<(?P<body>[^<>]*)>"
_ELEMENT = r"(?P<element>![\w$.-]+|[A-Za-wyz]\w*)"
_SHAPE = r"(?:tensor|vector|memref)\s*<[\d?*x\[\]\s]*"
_TYPE = re.compile(rf"(?:{_SHAPE})?(?:complex\s*<\s*)?{_ELEMENT}")
# Each begins with a letter of its own, which is what makes the search fast.
_DENSE = re.compile(rf"dense\s*{_BODY}\s*:\s*(?P<type>)")
_SPARSE = re.compile(rf"sparse\s*{_BODY}\s*:\s*(?P<type>)")
_ARRAY = re.compile(r"array\s*<\s*(?P<type>)[\w!$.-]+\s*:(?P<body>[^<>]*)>")
_GLOBAL = re.compile(
    r"memref\.global\s+(?:constant\s*)?@\s*[\w$.-]*\s*:\s*(?P<type>)memref\s*<[^=@]*=\s*"
    rf"(?:dense|sparse)\s*{_BODY}"
)
_SCALAR = re.compile(rf":\s*(?=[bf!]){_ELEMENT}")
_ALIAS = re.compile(r"(![\w$.-]+)\s*=\s*")
_WORDS = re.compile(r"\b(?:inf|nan)\b")
_QUOTED_OR_COMMENT = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|//[^\n]*')
# Every other format holds, or rounds to infinity, whatever decimal is written.
_LACKING = re.compile(
    "|".join(name for name, fmt in FORMATS.items() if not (fmt.has_infinity and fmt.has_zero))
)


def refuse_lost_literals(text: str, name: str) -> None:
    """Refuse numbers, `nan` and `inf` in constants, of tensors or of one number, without a code.

    `text` is MLIR; `name` is what the error calls it, which says the place, the number, the type
    and what can be written instead. Codes in hexadecimal are whatever they say.
    """
    if not (_LACKING.search(text) or _WORDS.search(text)):
        return
    text = _QUOTED_OR_COMMENT.sub(lambda found: " " * len(found[0]), text)
    for start, literals, fmt in _constants(text, _formats_by_spelling(text)):
        if fmt.has_infinity and fmt.has_zero and not _WORDS.search(literals):
            continue
        # Few of the numbers in a long constant of 8 bits differ.
        if not any(_reason(each, fmt) for each in set(_LITERAL.findall(literals))):
            continue
        for literal in _LITERAL.finditer(literals):
            reason = _reason(literal[0], fmt)
            if reason:
                position = start + literal.start()
                line = text.count("\n", 0, position) + 1
                column = position - text.rfind("\n", 0, position)
                raise Fp8Error(f"{name}:{line}:{column}: {_joined(literal[0])} {reason}")


def _formats_by_spelling(text: str) -> dict[str, FloatFormat]:
    """The float formats by their names and by the text's type aliases for them or tensors of them.

    An alias may be of an alias before it.
    """
    formats = FORMATS | {f"!vhlo.{name}_v1": fmt for name, fmt in FORMATS.items()}
    for alias in _ALIAS.finditer(text):
        fmt = _format_at(text, alias.end(), formats)
        if fmt:
            formats[alias[1]] = fmt
    return formats


def _format_at(text: str, position: int, formats: Mapping[str, FloatFormat]) -> FloatFormat | None:
    """That of the type at `position`, or of its elements."""
    found = _TYPE.match(text, position)
    return formats.get(found["element"]) if found else None


def _constants(
    text: str, formats: Mapping[str, FloatFormat]
) -> Iterator[tuple[int, str, FloatFormat]]:
    """Position, text and format of the numbers of each constant."""
    for form in (_DENSE, _SPARSE, _ARRAY, _GLOBAL):
        for constant in form.finditer(text):
            fmt = _format_at(text, constant.start("type"), formats)
            if fmt:
                yield constant.start("body"), constant["body"], fmt
    for scalar in _SCALAR.finditer(text):
        fmt = formats.get(scalar["element"])
        start = scalar.start()
        while fmt and start and text[start - 1] in _OF_LITERALS:
            start -= 1
        # The last one: what is before it, if anything, belongs to something else.
        for literal in [*_LITERAL.finditer(text, start, scalar.start())][-1:]:
            if fmt and not text[literal.end() : scalar.start()].strip():
                yield literal.start(), literal[0], fmt


def _joined(literal: str) -> str:
    """Without the space that may stand after its sign."""
    return "".join(literal.split())


def _reason(literal: str, fmt: FloatFormat) -> str:
    """Why `literal` cannot be read as a number of `fmt`, and what to write; else empty."""
    literal = _joined(literal)
    reason = lost(literal, fmt)
    if reason or literal[-1] not in "fn":
        return reason
    kind, code = ("NaN", fmt.nan_code) if literal[-1] == "n" else ("infinity", fmt.infinity_code)
    assert code is not None, literal  # `lost` has a reason otherwise
    sign = fmt.sign_mask if literal.startswith("-") else 0
    return f"is not what MLIR calls it: write {kind} of {fmt.name} as {spelled(code | sign, fmt)}"
