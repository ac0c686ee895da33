"""The specification's examples: a program for each, its arguments and the results that it gives."""

from dataclasses import dataclass
from typing import Any

from samples import Sample, function


@dataclass(frozen=True)
class Example:
    """One op on the numbers of its example; several results of one op are in order."""

    sample: Sample
    arguments: tuple[Any, ...]
    results: tuple[Any, ...]


def example(
    op: str, arguments: dict[str, Any], results: list[tuple[str, Any]], body: str
) -> Example:
    """`arguments` maps `a: 2x2xi32` to numbers, `results` pairs types with numbers.

    The body gives %0, %1 and so on.
    """
    named = ", ".join(
        f"%{name}: tensor<{type_}>"
        for name, type_ in (each.split(": ", maxsplit=1) for each in arguments)
    )
    types = ", ".join(f"tensor<{type_}>" for type_, _ in results)
    names = ", ".join(f"%{index}" for index in range(len(results)))
    text = function(named, types, f"{body}\n  return {names} : {types}")
    numbers = tuple(number for _, number in results)
    return Example(Sample(op, text), tuple(arguments.values()), numbers)


def elementwise(
    op: str, type_: str, *operands: Any, gives: Any, to: str = "", attributes: str = ""
) -> Example:
    """Operands of one type, results of the same or of type `to`."""
    names = [f"%{chr(ord('a') + index)}" for index in range(len(operands))]
    to = to or type_
    given = ", ".join([f"tensor<{type_}>"] * len(operands))
    body = f'  %0 = "{op}"({", ".join(names)}) {attributes} : ({given}) -> tensor<{to}>'
    arguments = {f"{name[1:]}: {type_}": each for name, each in zip(names, operands, strict=True)}
    return example(op, arguments, [(to, gives)], body)
