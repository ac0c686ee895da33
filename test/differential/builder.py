"""Programs in the making: values with what is known of them, and ops in generic form."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from choices import Choices
from elements import ON_GRID, RECIPES, array_of, attribute
from grid import Grid

from mlir_fp8.arrays import TensorSpec

T = TypeVar("T")
CHECKS = BITS, VALUES, ZEROS, NEAR, CLOSE = "bits", "values", "zeros", "near", "close"
"""How a result is compared: NaN payloads too; NaNs alike; zeros of both signs alike; within few
steps; within a tolerance."""

_SIZES = (1, 2, 3, 5, 7, 17, 0)
_MOST_ELEMENTS = 400
_MOST_ARGUMENTS = 4


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
            made
            for made in self.ops
            if made.name == "stablehlo.constant" and made.results[0].name in names
        )
        kept = {made.results[0].name for made in constants}
        taken = tuple(value for value in names.values() if value.name not in kept)
        arrays = tuple(values[value.name] for value in taken)
        text = op.text
        for value in taken:  # an argument cannot have the name of one result of several
            text = text.replace(value.name, _plain(value.name)) if "#" in value.name else text
        arguments = tuple(replace(value, name=_plain(value.name)) for value in taken)
        operands = tuple(replace(value, name=_plain(value.name)) for value in op.operands)
        single = Op(op.name, text, operands, op.results)
        return Program(self.functions, arguments, arrays, (*constants, single), op.results)

    def __repr__(self) -> str:
        return self.text


def _plain(name: str) -> str:
    return name.replace("#", ".")


class Builder:
    """Draws the parts of one program and writes its ops."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self.values: list[Value] = []
        self.arguments: list[tuple[Value, np.ndarray]] = []
        self.functions: list[str] = []
        self.elements: tuple[str, ...] = ()
        self._used: set[str] = set()
        self._ops: list[Op] = []
        self._count = 0
        self._in_callee = False

    def one_of(self, items: Sequence[T]) -> T:
        """One of `items`; the first is the simplest."""
        return self._choices.one_of(items)

    def integer(self, least: int, most: int) -> int:
        return self._choices.integer(least, most)

    def chance(self, percent: int) -> bool:
        return self.integer(0, 99) >= 100 - percent

    def permutation(self, count: int) -> list[int]:
        return self._choices.permutation(count)

    def subset(self, count: int) -> list[int]:
        """Some of `range(count)`, in order."""
        return [index for index in range(count) if self.chance(50)]

    def element(self, wanted: Sequence[str]) -> str:
        """One of `wanted`, if possible one that the program has already."""
        common = [element for element in self.elements if element in wanted]
        return self.one_of(common if common and self.chance(80) else wanted)

    def shape(self, least: int = 0, most: int = 4) -> tuple[int, ...]:
        """Sizes of `least` to `most` dims, odd ones and 0 among them."""
        shape: list[int] = []
        room = _MOST_ELEMENTS
        for _ in range(self.integer(least, most)):
            shape.append(self.one_of([size for size in _SIZES if size <= room]))
            room //= max(shape[-1], 1)
        return tuple(shape)

    def existing(self, fits: Callable[[Value], bool]) -> Value | None:
        """One of the values that fit; the latest is the simplest."""
        found = [value for value in reversed(self.values) if fits(value)]
        return self.one_of(found) if found else None

    def value(self, fits: Callable[[Value], bool], elements: Sequence[str]) -> Value:
        """A value that fits, one of the program's or a new one of any shape."""
        found = self.existing(lambda value: value.element in elements and fits(value))
        if found is not None and not self.chance(10):
            return found
        return self.fresh(self.shape(), self.element(elements))

    def like(self, shape: Sequence[int], element: str, *, on_grid: bool = False) -> Value:
        """A value of this shape and type, exact; one of the program's if it has one."""
        spec = TensorSpec(tuple(shape), element)
        found = self.existing(
            lambda value: (
                value.spec == spec and value.is_exact and (not on_grid or value.grid is not None)
            )
        )
        if found is not None and not self.chance(20):
            return found
        return self.fresh(shape, element, *([ON_GRID] if on_grid else []))

    def on_grid(self, elements: Sequence[str], least: int = 0, most: int = 4) -> Value:
        """A value on a grid, of `least` to `most` dims; one of the program's or a new one."""
        found = self.existing(
            lambda value: (
                value.element in elements
                and value.is_exact
                and value.grid is not None
                and least <= len(value.shape) <= most
            )
        )
        if found is not None and not self.chance(20):
            return found
        return self.fresh(self.shape(least, most), self.element(elements), ON_GRID)

    def fresh(self, shape: Sequence[int], element: str, recipe: str = "") -> Value:
        """A new argument, or a constant, of numbers by `recipe` or any."""
        seed = self.integer(0, 1 << 32)
        array, grid = array_of(recipe or self.one_of(RECIPES), shape, element, seed)
        return self.given(array, element, grid)

    def given(self, array: np.ndarray, element: str, grid: Grid | None = None) -> Value:
        """`array` as an argument or a constant."""
        spec = TensorSpec(array.shape, element)
        has_room = len(self.arguments) < _MOST_ARGUMENTS and not self._in_callee
        if has_room and not self.chance(25):
            value = Value(f"%arg{len(self.arguments)}", spec, BITS, grid)
            self.arguments.append((value, array))
            self.values.append(value)
            return value
        attributes = f"<{{value = {attribute(array, element)}}}>"
        return self.op("stablehlo.constant", [], spec, attributes=attributes, grid=grid)

    def scalars(self, specs: Sequence[TensorSpec]) -> list[str]:
        """New names, for the arguments of a body."""
        return [self._name() for _ in specs]

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        spec: TensorSpec,
        *,
        attributes: str = "",
        region: str = "",
        check: str = BITS,
        grid: Grid | None = None,
    ) -> Value:
        """A new op of one result."""
        return self.ops(
            name, operands, [spec], attributes=attributes, region=region, check=check, grids=[grid]
        )[0]

    def ops(
        self,
        name: str,
        operands: Sequence[Value],
        specs: Sequence[TensorSpec],
        *,
        attributes: str = "",
        region: str = "",
        check: str = BITS,
        grids: Sequence[Grid | None],
    ) -> list[Value]:
        """A new op of several results."""
        result = self._name()
        names = [result] if len(specs) == 1 else [f"{result}#{i}" for i in range(len(specs))]
        count = "" if len(specs) == 1 else f":{len(specs)}"
        listed = ", ".join(value.name for value in operands)
        types = ", ".join(str(value.spec) for value in operands)
        results = ", ".join(map(str, specs))
        self._used.update(value.name for value in operands)
        text = f'  {result}{count} = "{name}"({listed}) {attributes} {region}'.rstrip()
        made = [
            Value(each, spec, check, grid)
            for each, spec, grid in zip(names, specs, grids, strict=True)
        ]
        text = f"{text} : ({types}) -> ({results})"
        self._ops.append(Op(name, text, tuple(operands), tuple(made)))
        self.values += made
        return made

    def called(self, body: "Callable[[], Value]", operands: Sequence[Value]) -> Value:
        """The value that `body` makes of the program's `operands`, by a function of its own."""
        outer = self.values, self._ops
        renamed = [replace(value, name=self._name()) for value in operands]
        self.values, self._ops, self._in_callee = list(renamed), [], True
        result = body()
        self._in_callee = False
        ops, name = self._ops, f"callee{len(self.functions)}"
        self.values, self._ops = outer
        arguments = ", ".join(f"{value.name}: {value.spec}" for value in renamed)
        text = "\n".join([*(op.text for op in ops), f"  return {result.name} : {result.spec}"])
        self.functions.append(
            f"func.func private @{name}({arguments}) -> {result.spec} {{\n{text}\n}}"
        )
        attributes = f"<{{callee = @{name}}}>"
        return self.op(
            "func.call",
            operands,
            result.spec,
            attributes=attributes,
            check=result.check,
            grid=result.grid,
        )

    def _name(self) -> str:
        self._count += 1
        return f"%{self._count}"

    def program(self) -> Program:
        """The program whose results are the values that no op uses, and some others."""
        return Program(
            tuple(self.functions),
            tuple(value for value, _ in self.arguments),
            tuple(array for _, array in self.arguments),
            tuple(self._ops),
            tuple(v for v in self.values if v.name not in self._used or self.chance(10)),
        )
