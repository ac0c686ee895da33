"""Parts of one module, each with operands and results of its own."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

STD = 64.0
"""Of codes that are timed: most are normal numbers, few saturate."""
Operand = tuple[list[int], str, str]
"""Shape, element type, and what it holds: "codes", "normal", "scale", or numbers with commas."""


class Piece(Protocol):
    """A product: `m`, `n` and `k` are those of all its work."""

    @property
    def m(self) -> int: ...
    @property
    def n(self) -> int: ...
    @property
    def k(self) -> int: ...
    @property
    def copies(self) -> int: ...
    def operands(self) -> list[Operand]: ...
    def results(self) -> list[str]: ...
    def lines(self, copy: int, names: Sequence[str]) -> tuple[Iterator[str], list[str]]: ...
    def arguments(self) -> list[dict[str, Any]]: ...
    def text(self) -> str: ...


def place_of(number: int) -> str:
    """The name in the location of all ops of a piece."""
    return f"piece {number}"


def text_of(pieces: Sequence[Piece]) -> str:
    """A module of all `pieces`, whose operands and results follow each other."""
    taken: list[str] = []
    body: list[str] = []
    given: list[str] = []
    results: list[str] = []
    for number, piece in enumerate(pieces):
        operands = piece.operands()
        names = [f"%x{number}_{i}" for i in range(len(operands))]
        for name, (shape, element, _) in zip(names, operands, strict=True):
            taken.append(f"{name}: {type_of(shape, element)}")
        lines, made = piece.lines(number, names)
        body += [f'  {line} loc("{place_of(number)}")\n' for line in lines]
        given += made
        results += piece.results()
    listed = ", ".join(results)
    return (
        f"func.func @main({', '.join(taken)}) -> ({listed}) {{\n{''.join(body)}"
        f"  return {', '.join(given)} : {listed}\n}}\n"
    )


def specs_of(operands: Sequence[Operand]) -> list[dict[str, Any]]:
    """Operands as the script on the card makes them."""
    made: list[dict[str, Any]] = []
    for shape, element, holds in operands:
        spec: dict[str, Any] = {"shape": shape, "dtype": element.lower(), "kind": holds}
        if holds == "scale":
            spec |= {"kind": "value", "value": 1 / STD}
        elif holds[0].isdigit():
            spec |= {"kind": "list", "values": [int(each) for each in holds.split(",")]}
        else:
            spec |= {"std": STD if holds == "codes" else 1.0}
        made.append(spec)
    return made


def type_of(shape: Sequence[int], element: str) -> str:
    return f"tensor<{'x'.join([*map(str, shape), element])}>"
