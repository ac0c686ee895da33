"""Programs of one `fp8.scaled_dot` each, put together into one module."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mlir_fp8.dialects.float_formats import FORMATS

OPERANDS = ("a", "b", "a_scale", "b_scale", "c", "bias", "d_scale")
MATRICES = "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]"


@dataclass(frozen=True)
class Program:
    """One op: types such as "64x32xf8E4M3FN" (without `tensor<>`) by the names of its operands."""

    name: str
    operands: dict[str, str]
    results: Sequence[str]
    attributes: str = ""
    dims: str = MATRICES
    constants: dict[str, float] = field(default_factory=dict)
    """Operands that are constants, of rank 0."""

    @property
    def arguments(self) -> list[str]:
        return [name for name in OPERANDS if name in self.operands and name not in self.constants]

    def text(self, number: int) -> str:
        """The lines of the op; its values end in `number`."""
        lines = [
            f"%{name}_{number} = stablehlo.constant dense<{value}> : tensor<{self.operands[name]}>"
            for name, value in self.constants.items()
        ]
        present = [name for name in OPERANDS if name in self.operands]
        sizes = ", ".join(str(int(name in self.operands)) for name in OPERANDS)
        attributes = ", ".join(
            each
            for each in (
                f"dot_dimension_numbers = #stablehlo.dot<{self.dims}>",
                f"operandSegmentSizes = array<i32: {sizes}>",
                self.attributes,
            )
            if each
        )
        values = ", ".join(f"%{name}_{number}" for name in present)
        types = ", ".join(f"tensor<{self.operands[name]}>" for name in present)
        results = ", ".join(f"tensor<{each}>" for each in self.results)
        count = f":{len(self.results)}" if len(self.results) > 1 else ""
        lines.append(
            f'%r_{number}{count} = "fp8.scaled_dot"({values}) {{{attributes}}}'
            f" : ({types}) -> ({results})"
        )
        return "\n".join(lines)

    def values(self, number: int) -> list[str]:
        if len(self.results) == 1:
            return [f"%r_{number}"]
        return [f"%r_{number}#{index}" for index in range(len(self.results))]


def module_text(programs: Sequence[Program]) -> str:
    """`main` takes the arguments of all programs, and gives all their results, in order."""
    arguments, bodies, values, types = [], [], [], []
    for number, program in enumerate(programs):
        arguments += [
            f"%{name}_{number}: tensor<{program.operands[name]}>" for name in program.arguments
        ]
        bodies.append(program.text(number))
        values += program.values(number)
        types += [f"tensor<{each}>" for each in program.results]
    return (
        f"func.func @main({', '.join(arguments)}) -> ({', '.join(types)}) {{\n"
        + "\n".join(bodies)
        + f"\nreturn {', '.join(values)} : {', '.join(types)}\n}}"
    )


def sample(programs: Sequence[Program], seed: int = 0) -> list[NDArray[np.generic]]:
    """An argument for each of `main`: data of a few magnitudes, scales around 1."""
    random = np.random.default_rng(seed)
    arrays: list[NDArray[np.generic]] = []
    for program in programs:
        for name in program.arguments:
            *sizes, element = re.split("x", program.operands[name])
            shape = tuple(map(int, sizes))
            wide = random.standard_normal(shape) * 2
            if name.endswith("scale"):
                wide = random.uniform(0.3, 3.0, shape)
            arrays.append(np.asarray(wide, np.float32).astype(FORMATS[element].dtype))
    return arrays
