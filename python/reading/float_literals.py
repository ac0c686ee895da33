"""Numbers in MLIR text that their float type has no code for.

MLIR's parser takes another number without a word: 2^-127 for zero in f8E8M0FNU and 4 for -4, NaN or
the largest value for what is beyond a range without infinity. The module that it makes shows
nothing of this, so the text is looked at before.
"""

import re
from collections.abc import Iterator, Mapping

from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
from mlir_fp8.errors import Fp8Error
from mlir_fp8.reading.lost_numbers import lost, spelled

_DECIMAL = r"[-+]?[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?"
_LITERAL = re.compile(rf"(?<![\w.$%#@!])(?:{_DECIMAL}|-?(?:inf|nan)\b)")
_BEFORE_TYPE = re.compile(rf"{_LITERAL.pattern}\s*\Z")
_LONGEST_LITERAL = 64
_DENSE = re.compile(r'dense<(?P<body>[^<>"]*)>(?P<colon>\s*:\s*)?')
_SPARSE = re.compile(r'sparse<(?P<body>[^<>"]*)>(?P<colon>\s*:\s*)')
_GLOBAL = re.compile(
    r'memref\.global\b[^=\n"]*(?:"[^"\n]*"[^=\n"]*)?:\s*(?P<type>memref<[^=\n]*)=\s*\Z'
)
_ALIAS = re.compile(r"^\s*(![\w$.-]+)\s*=\s*(.*)$", re.MULTILINE)
_WORDS = re.compile(r"\b(?:inf|nan)\b")
_QUOTED_OR_COMMENT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|//.*')
# Every other format holds, or rounds to infinity, whatever decimal is written.
_LACKING = re.compile(
    "|".join(name for name, fmt in FORMATS.items() if not (fmt.has_infinity and fmt.has_zero))
)


def refuse_lost_literals(text: str, name: str) -> None:
    """Refuse numbers, `nan` and `inf` in dense, sparse and scalar constants without a code.

    `text` is MLIR; `name` is what the error calls it, which says the place, the number, the type
    and what can be written instead. Codes in hexadecimal are whatever they say.
    """
    if not (_LACKING.search(text) or _WORDS.search(text)):
        return
    for start, literals, fmt in _constants(text, _formats_by_spelling(text)):
        # Few of the numbers in a long constant differ.
        lost = {each for each in set(_LITERAL.findall(literals)) if _reason(each, fmt)}
        for literal in _LITERAL.finditer(literals) if lost else ():
            position = start + literal.start()
            if literal[0] in lost and not _is_quoted_or_comment(text, position):
                line = text.count("\n", 0, position) + 1
                column = position - text.rfind("\n", 0, position)
                reason = _reason(literal[0], fmt)
                raise Fp8Error(f"{name}:{line}:{column}: {literal[0]} {reason}")


def _formats_by_spelling(text: str) -> dict[str, FloatFormat]:
    """The float formats by their names and by the text's type aliases for them or tensors of them.

    An alias may be of an alias before it.
    """
    formats = dict(FORMATS)
    for alias in _ALIAS.finditer(text):
        found = re.match(_type(formats), alias[2])
        if found:
            formats[alias[1]] = formats[found["element"]]
    return formats


def _element(formats: Mapping[str, FloatFormat]) -> str:
    elements = "|".join(map(re.escape, sorted(formats, key=len, reverse=True)))
    return rf"(?P<element>{elements})(?![\w$.-])"


def _type(formats: Mapping[str, FloatFormat]) -> str:
    return rf'(?:(?:tensor|vector|memref)<[^<>"]*?(?:complex<)?)?{_element(formats)}'


def _constants(
    text: str, formats: Mapping[str, FloatFormat]
) -> Iterator[tuple[int, str, FloatFormat]]:
    """Position, text and format of the numbers of each constant; also in strings and comments."""
    type_ = re.compile(_type(formats))
    for constant in (*_DENSE.finditer(text), *_SPARSE.finditer(text)):
        if constant["colon"]:
            found = type_.match(text, constant.end())
        else:
            # The initial value of a memref.global, whose type is before it.
            line = text.rfind("\n", 0, constant.start()) + 1
            declared = _GLOBAL.search(text, line, constant.start())
            found = declared and type_.match(declared["type"])
        if found:
            yield constant.start("body"), constant["body"], formats[found["element"]]
    for scalar in re.finditer(rf":\s*(?=[bf!]){_element(formats)}", text):
        start = max(0, scalar.start() - _LONGEST_LITERAL)
        literal = _BEFORE_TYPE.search(text, start, scalar.start())
        if literal:
            yield literal.start(), literal[0], formats[scalar["element"]]


def _is_quoted_or_comment(text: str, position: int) -> bool:
    """Strings of MLIR end on the line on which they begin."""
    start = text.rfind("\n", 0, position) + 1
    return any(
        start + found.start() <= position < start + found.end()
        for found in _QUOTED_OR_COMMENT.finditer(text[start : position + 1] + '"')
    )


def _reason(literal: str, fmt: FloatFormat) -> str:
    """Why `literal` cannot be read as a number of `fmt`, and what to write; else empty."""
    reason = lost(literal, fmt)
    if reason or literal[-1] not in "fn":
        return reason
    kind, code = ("NaN", fmt.nan_code) if literal[-1] == "n" else ("infinity", fmt.infinity_code)
    assert code is not None, literal  # `lost` has a reason otherwise
    sign = fmt.sign_mask if literal.startswith("-") else 0
    return f"is not what MLIR calls it: write {kind} of {fmt.name} as {spelled(code | sign, fmt)}"
