"""Programs as data: values with what is known of them, ops as text, and what is returned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from grid import Grid

from mlir_fp8.arrays.tensor_specs import TensorSpec

CHECKS = BITS, VALUES, ZEROS, NEAR, CLOSE = "bits", "values", "zeros", "near", "close"
"""How a result is compared: NaN payloads too; NaNs alike; zeros of both signs alike; within few
steps; within a tolerance."""

_CONSTANTS = ("stablehlo.constant", "arith.constant")


@dataclass(frozen=True)
class Value:
    """An SSA value and what is known of the numbers in it."""

    name: str
    spec: TensorSpec
    check: str = BITS
    grid: Grid | None = None
    """Where its numbers are finite multiples of a power of two."""

    @property
    def shape(self) -> tuple[int, ...]:
        return self.spec.shape

    @property
    def element(self) -> str:
        return self.spec.element

    @property
    def is_exact(self) -> bool:
        """Whether it has one right value, which further arithmetic may build on."""
        return self.check in (BITS, VALUES)

    @property
    def has_known_bits(self) -> bool:
        """Whether its bits are known, those of a NaN too."""
        return self.check == BITS or (self.is_exact and self.grid is not None)


def weakest(values: Sequence[Value]) -> str:
    """How a result is compared that moves data of all `values`."""
    return max((value.check for value in values), key=CHECKS.index, default=BITS)


def joined(values: Sequence[Value]) -> Grid | None:
    """The grid that holds all `values`."""
    found: Grid | None = None
    for value in values:
        if value.grid is None:
            return None
        found = value.grid if found is None else found.joined(value.grid)
    return found


@dataclass(frozen=True)
class Op:
    """One op as text, with what it takes and gives."""

    name: str
    text: str
    operands: tuple[Value, ...]
    results: tuple[Value, ...]
    inner: "tuple[Op, ...]" = ()
    """The ops of the function that a call is to."""


@dataclass(frozen=True)
class Program:
    """Functions, the ops of `main`, the arrays for its arguments, and what it returns."""

    functions: tuple[str, ...]
    arguments: tuple[Value, ...]
    arrays: tuple[np.ndarray, ...]
    ops: tuple[Op, ...]
    results: tuple[Value, ...]

    @property
    def text(self) -> str:
        """The module."""
        arguments = ", ".join(f"{value.name}: {value.spec}" for value in self.arguments)
        types = ", ".join(str(spec) for spec in self.specs)
        returned = f"  return {', '.join(value.name for value in self.results)} : {types}"
        body = "\n".join([*(op.text for op in self.ops), returned if types else "  return"])
        main = f"func.func @main({arguments}) -> ({types}) {{\n{body}\n}}\n"
        return "\n".join([*self.functions, main])

    @property
    def specs(self) -> tuple[TensorSpec, ...]:
        """The types of the results."""
        return tuple(value.spec for value in self.results)

    def whole(self) -> "Program":
        """The same program with every value as a result, in order."""
        made = (value for op in self.ops for value in op.results)
        return replace(self, results=tuple(made))

    def single(self, op: Op, values: Mapping[str, np.ndarray]) -> "Program":
        """A program of `op` alone, on `values` by name; constants stay constants."""
        names = {value.name: value for value in op.operands}
        constants = tuple(
            made for made in self.ops if made.name in _CONSTANTS and made.results[0].name in names
        )
        kept = {made.results[0].name for made in constants}
        taken = tuple(value for value in names.values() if value.name not in kept)
        arrays = tuple(values[value.name] for value in taken)
        text = op.text
        for value in taken:
            text = text.replace(value.name, _plain(value.name)) if "#" in value.name else text
        arguments = tuple(replace(value, name=_plain(value.name)) for value in taken)
        operands = tuple(replace(value, name=_plain(value.name)) for value in op.operands)
        single = Op(op.name, text, operands, op.results, op.inner)
        return Program(self.functions, arguments, arrays, (*constants, single), op.results)

    def __repr__(self) -> str:
        return self.text


def _plain(name: str) -> str:
    """A name that an argument may have: those of one result of several are not."""
    return name.replace("%", "%of").replace("#", "_") if "#" in name else name
