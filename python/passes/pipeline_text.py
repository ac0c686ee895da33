"""The syntax of textual pass pipelines: `a,b{x=1 y="2 3"},func.func(c,d)`."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from mlir_fp8.base.errors import Fp8Error

_CLOSERS = {"(": ")", "{": "}", "[": "]"}
_QUOTES = "\"'"


@dataclass(frozen=True)
class Element:
    """`name{options}`, a pass or a named pipeline; or `name(nested)`, passes anchored on an op."""

    name: str
    options: str
    nested: tuple["Element", ...] | None
    text: str

    def passes(self, anchor: str) -> Iterator[tuple[str, "Element"]]:
        """Every pass in this element, with the op it is anchored on."""
        if self.nested is None:
            yield anchor, self
            return
        for element in self.nested:
            yield from element.passes(self.name)


def parse_elements(text: str) -> tuple[Element, ...]:
    """The elements of a comma-separated list; an empty list has none."""
    if not text.strip():
        return ()
    return tuple(parse_element(piece, text) for piece in _split(text, ","))


@lru_cache(1024)  # a compilation reads the same names every time
def parse_element(text: str, whole: str | None = None) -> Element:
    """One element; `whole` is the text it stands in, for errors."""
    text = text.strip()
    if not text and whole is None:
        raise Fp8Error("the pipeline is empty")
    if not text:
        raise Fp8Error(f"pipeline '{whole}' has an empty element")
    start = min((at for at in (text.find("("), text.find("{")) if at >= 0), default=len(text))
    name = text[:start].strip()
    if not name or any(character.isspace() for character in name):
        raise Fp8Error(f"'{text}' in a pipeline is not a pass name, name{{options}} or op(passes)")
    if start == len(text):
        return Element(name, "", None, text)
    end = _closing(text, start)
    if end != len(text) - 1:
        raise Fp8Error(f"unexpected '{text[end + 1 :].strip()}' after '{text[: end + 1]}'")
    inner = text[start + 1 : end]
    if text[start] == "{":
        return Element(name, inner.strip(), None, text)
    return Element(name, "", parse_elements(inner), text)


def parse_options(pass_name: str, text: str) -> dict[str, str | None]:
    """The options of `pass_name{text}`; an option without `=` has the value None."""
    options: dict[str, str | None] = {}
    for piece in _split(text, " \t\r\n"):
        if not piece:
            continue
        key, equals, value = piece.partition("=")
        if key in options:
            raise Fp8Error(f"pass '{pass_name}': option '{key}' is given twice")
        options[key] = _unwrapped(value) if equals else None
    return options


def _unwrapped(value: str) -> str:
    if len(value) >= 2 and (value[0] + value[-1] in ('""', "''", "{}")):
        return value[1:-1]
    return value


def _split(text: str, separators: str) -> list[str]:
    """The pieces of `text` between separators that stand outside all brackets and quotes."""
    pieces: list[str] = []
    start = at = 0
    while at < len(text):
        if text[at] in _CLOSERS or text[at] in _QUOTES:
            at = _closing(text, at)
        elif text[at] in _CLOSERS.values():
            raise Fp8Error(f"unmatched '{text[at]}' at column {at + 1} of pipeline '{text}'")
        elif text[at] in separators:
            pieces.append(text[start:at])
            start = at + 1
        at += 1
    return [*pieces, text[start:]]


def _closing(text: str, start: int) -> int:
    """Where the bracket or quote that opens at `start` closes."""
    if text[start] in _QUOTES:
        end = text.find(text[start], start + 1)
        if end < 0:
            raise _unclosed(text, start)
        return end
    at = start + 1
    while at < len(text):
        if text[at] == _CLOSERS[text[start]]:
            return at
        if text[at] in _CLOSERS.values():
            raise Fp8Error(f"unmatched '{text[at]}' at column {at + 1} of pipeline '{text}'")
        if text[at] in _CLOSERS or text[at] in _QUOTES:
            at = _closing(text, at)
        at += 1
    raise _unclosed(text, start)


def _unclosed(text: str, start: int) -> Fp8Error:
    return Fp8Error(f"'{text[start]}' at column {start + 1} of pipeline '{text}' is never closed")
