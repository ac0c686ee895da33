"""StableHLO programs as text, written op by op; see text_expansion.py."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

Pair = tuple[str, str]
"""The names of the real and the imaginary part."""


@dataclass
class Writer:
    """Collects ops of one real element type; every method gives the name of a new value."""

    element: str
    lines: list[str] = field(default_factory=list)

    def type(self, shape: Sequence[int], element: str = "") -> str:
        return f"tensor<{''.join(f'{size}x' for size in shape)}{element or self.element}>"

    def emit(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = stablehlo.{text}")
        return name

    def constant(self, array: np.ndarray) -> str:
        data = array.astype("<f4" if self.element == "f32" else "<f8").tobytes().hex().upper()
        return self.emit(f'constant dense<"0x{data}"> : {self.type(array.shape)}')

    def binary(self, op: str, left: str, right: str, shape: Sequence[int]) -> str:
        return self.emit(f"{op} {left}, {right} : {self.type(shape)}")

    def scaled(self, value: str, factor: float, shape: Sequence[int]) -> str:
        factors = self.emit(f"constant dense<{factor!r}> : {self.type(shape)}")
        return self.binary("multiply", value, factors, shape)

    def reshape(self, value: str, old: Sequence[int], new: Sequence[int]) -> str:
        return self.emit(f"reshape {value} : ({self.type(old)}) -> {self.type(new)}")

    def transpose(self, value: str, shape: Sequence[int], order: Sequence[int]) -> str:
        new = self.type([shape[dim] for dim in order])
        dims = ", ".join(map(str, order))
        return self.emit(f"transpose {value}, dims = [{dims}] : ({self.type(shape)}) -> {new}")

    def times(self, left: Pair, right: Pair, shape: Sequence[int]) -> Pair:
        """The complex product, element by element."""
        (a, b), (c, d) = left, right
        ac, bd, ad, bc = (
            self.binary("multiply", x, y, shape) for x, y in ((a, c), (b, d), (a, d), (b, c))
        )
        return self.binary("subtract", ac, bd, shape), self.binary("add", ad, bc, shape)

    def roots(self, numerators: np.ndarray, length: int) -> Pair:
        """exp(-2 pi i k / length) for each numerator k."""
        angles = 2 * np.pi * (numerators % length) / length
        return self.constant(np.cos(angles)), self.constant(-np.sin(angles))
