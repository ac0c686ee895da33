"""A fault of a judge, and the pieces that examples of them are made from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from program import Op

from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.dialects.float_reference import encode


@dataclass(frozen=True)
class JudgeFault:
    """One fault of `judges`: where it is to be expected, why, and an example."""

    judges: tuple[str, ...]
    name: str
    applies: Callable[[Op], bool]
    reason: str
    example: str
    """A module with one result."""
    truth: np.ndarray
    """The right result of the example."""
    shown_by: str
    """What says that this is right."""
    arguments: tuple[np.ndarray, ...] = ()
    """What the example is given, where the fault is none of the judge's own constant folding."""


EXACT = "exact rational arithmetic (float_reference.py)"


def codes(element: str, *numbers: Fraction | float) -> np.ndarray:
    """The numbers in `element`, each rounded once, by the exact reference."""
    fmt = FORMATS[element]
    found = [encode(fmt, number) for number in numbers]
    return np.array(found, f"uint{fmt.storage_bits}").view(fmt.dtype)


def module(result: str, *lines: str) -> str:
    """A module that gives the value %r of type `result`."""
    return "\n".join(
        ["func.func @main() -> " + result + " {", *lines, f"return %r : {result}", "}"]
    )


def constant(name: str, type_: str, text: str) -> str:
    return f"%{name} = stablehlo.constant dense<{text}> : {type_}"


def named(*names: str) -> Callable[[Op], bool]:
    full = frozenset(f"stablehlo.{name}" for name in names)
    return lambda op: op.name in full


def gives(op: Op, elements: Sequence[str]) -> bool:
    return any(value.element in elements for value in op.results)


def takes(op: Op, elements: Sequence[str]) -> bool:
    return any(value.element in elements for value in op.operands)
