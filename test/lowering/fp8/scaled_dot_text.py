"""The text of a StableHLO function, written op by op, with random choices between spellings."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Program:
    """Text of a function `main` that grows line by line; values are (name, shape, element)."""

    random: np.random.Generator
    lines: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    results: list["Value"] = field(default_factory=list)
    count: int = 0

    def chance(self, share: float = 0.5) -> bool:
        return bool(self.random.random() < share)

    def choose(self, choices: tuple[str, ...]) -> str:
        return str(self.random.choice(list(choices)))

    def argument(self, shape: tuple[int, ...], element: str) -> "Value":
        self.arguments.append(spell(shape, element))
        return Value(f"%arg{len(self.arguments) - 1}", shape, element)

    def emit(self, text: str, shape: tuple[int, ...], element: str) -> "Value":
        self.count += 1
        self.lines.append(f"%{self.count} = stablehlo.{text}")
        return Value(f"%{self.count}", shape, element)

    def constant(self, number: float, shape: tuple[int, ...], element: str) -> "Value":
        """A constant, as a splat or as a broadcast of one number."""
        tensor = spell(shape, element)
        if self.chance() or not shape:
            return self.emit(f"constant dense<{number!r}> : {tensor}", shape, element)
        single = self.emit(f"constant dense<{number!r}> : {spell((), element)}", (), element)
        return self.broadcast(single, [], shape)

    def broadcast(self, value: "Value", dims: list[int], shape: tuple[int, ...]) -> "Value":
        tensor = spell(shape, value.element)
        text = f"broadcast_in_dim {value.name}, dims = {dims} : ({value.type}) -> {tensor}"
        return self.emit(text, shape, value.element)

    def convert(self, value: "Value", element: str) -> "Value":
        if value.element == element:
            return value
        text = f"convert {value.name} : ({value.type}) -> {spell(value.shape, element)}"
        return self.emit(text, value.shape, element)

    def reshape(self, value: "Value", shape: tuple[int, ...]) -> "Value":
        text = f"reshape {value.name} : ({value.type}) -> {spell(shape, value.element)}"
        return self.emit(text, shape, value.element)

    def binary(self, name: str, lhs: "Value", rhs: "Value", *, commute: bool = True) -> "Value":
        if commute and self.chance():
            lhs, rhs = rhs, lhs
        return self.emit(f"{name} {lhs.name}, {rhs.name} : {lhs.type}", lhs.shape, lhs.element)

    def text(self, name: str = "main") -> str:
        arguments = ", ".join(f"%arg{i}: {each}" for i, each in enumerate(self.arguments))
        types = ", ".join(value.type for value in self.results)
        names = ", ".join(value.name for value in self.results)
        body = "\n  ".join([*self.lines, f"return {names} : {types}"])
        return f"func.func @{name}({arguments}) -> ({types}) {{\n  {body}\n}}\n"


@dataclass(frozen=True)
class Value:
    name: str
    shape: tuple[int, ...]
    element: str

    @property
    def type(self) -> str:
        return spell(self.shape, self.element)


def spell(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{'x'.join([*map(str, shape), element])}>"
