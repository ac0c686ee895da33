"""Programs in the making: values with what is known of them, and ops in generic form."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from choices import Choices
from elements import ON_GRID, RECIPES, UNSIGNED, array_of, attribute
from grid import Grid
from program import BITS, Op, Program, Value

from mlir_fp8.arrays.tensor_specs import TensorSpec

T = TypeVar("T")

_SIZES = (1, 2, 3, 5, 7, 17, 0)
_MOST_ELEMENTS = 400
_MOST_ARGUMENTS = 4


class Builder:
    """Draws the parts of one program and writes its ops."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self.values: list[Value] = []
        self.arguments: list[tuple[Value, np.ndarray]] = []
        self.functions: list[str] = []
        self.elements: tuple[str, ...] = ()
        self._used: set[str] = set()
        self.mixes_dialects = False
        """Whether some constants are arith's."""
        self._ops: list[Op] = []
        self._count = 0
        self._in_region = False

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
        has_room = len(self.arguments) < _MOST_ARGUMENTS and not self._in_region
        if has_room and not self.chance(25):
            value = Value(f"%arg{len(self.arguments)}", spec, BITS, grid)
            self.arguments.append((value, array))
            self.values.append(value)
            return value
        attributes = f"<{{value = {attribute(array, element)}}}>"
        name = "stablehlo.constant"
        if self.mixes_dialects and element not in UNSIGNED and self.chance(50):
            name = "arith.constant"
        return self.op(name, [], spec, attributes=attributes, grid=grid)

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
        inner: tuple[Op, ...] = (),
    ) -> Value:
        """A new op of one result."""
        return self.ops(
            name,
            operands,
            [spec],
            attributes=attributes,
            region=region,
            check=check,
            grids=[grid],
            inner=inner,
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
        captured: Sequence[Value] = (),
        inner: tuple[Op, ...] = (),
    ) -> list[Value]:
        """A new op of several results, with regions that use the values `captured`."""
        result = self._name()
        names = [result] if len(specs) == 1 else [f"{result}#{i}" for i in range(len(specs))]
        count = "" if len(specs) == 1 else f":{len(specs)}"
        listed = ", ".join(value.name for value in operands)
        types = ", ".join(str(value.spec) for value in operands)
        results = ", ".join(map(str, specs))
        taken = (*operands, *captured)
        self._used.update(value.name for value in taken)
        text = f'  {result}{count} = "{name}"({listed}) {attributes} {region}'.rstrip()
        made = [
            Value(each, spec, check, grid)
            for each, spec, grid in zip(names, specs, grids, strict=True)
        ]
        text = f"{text} : ({types}) -> ({results})"
        self._ops.append(Op(name, text, taken, tuple(made), inner))
        self.values += made
        return made

    def inside(
        self,
        body: Callable[[list[Value]], T],
        operands: Sequence[Value],
        captured: Sequence[Value] = (),
    ) -> tuple[list[Value], T, tuple[Op, ...]]:
        """What `body` makes of `operands` under names of their own, and the ops that do it.

        Beside these it sees the values `captured` of the program, and no others.
        """
        outer = self.values, self._ops, self._in_region
        renamed = [replace(value, name=self._name()) for value in operands]
        self.values, self._ops, self._in_region = [*captured, *renamed], [], True
        result, ops = body(renamed), tuple(self._ops)
        self.values, self._ops, self._in_region = outer
        return renamed, result, ops

    def called(self, body: Callable[[], Value], *calls: Sequence[Value]) -> list[Value]:
        """The values that `body` makes of the operands of each of `calls`, of the same types.

        The calls are to one function, which is written for the first operands.
        """
        renamed, result, ops = self.inside(lambda _: body(), calls[0])
        name = f"callee{len(self.functions)}"
        arguments = ", ".join(f"{value.name}: {value.spec}" for value in renamed)
        text = "\n".join([*(op.text for op in ops), f"  return {result.name} : {result.spec}"])
        self.functions.append(
            f"func.func private @{name}({arguments}) -> {result.spec} {{\n{text}\n}}"
        )
        return [
            self.op(
                "func.call",
                operands,
                result.spec,
                attributes=f"<{{callee = @{name}}}>",
                check=result.check,
                grid=result.grid,
                inner=ops,
            )
            for operands in calls
        ]

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
