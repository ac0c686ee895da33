"""A custom call of LAPACK, read: which routine, on what sizes, with which options and layouts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.lowering.frontend.stablehlo_expand_custom_calls import lapack_target
from mlir_fp8.lowering.rewriting.stablehlo import has_static_shape

_ELEMENTS = {"s": "f32", "d": "f64", "c": "complex<f32>", "z": "complex<f64>"}
_LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Problem:
    """What a routine's entry in the table asks the custom call for."""

    op: ir.Operation
    letter: str
    routine: str

    @classmethod
    def of(cls, op: ir.Operation) -> Self | None:
        """None for other custom calls; `Fp8Error` for dynamic sizes, and beyond 32-bit integers."""
        target = lapack_target(op)
        if target is None:
            return None
        for value in (*op.operands, *op.results):
            if not has_static_shape(value):
                raise op_error(op, f"on {value.type} needs a static shape: refine shapes first")
            if any(size > _LARGEST for size in value.type.shape):
                raise op_error(op, f"on {value.type} is too large for 32-bit LAPACK: take blocks")
        return cls(op, *target)

    @property
    def element(self) -> str:
        return _ELEMENTS[self.letter]

    @property
    def real(self) -> str:
        return _ELEMENTS[self.letter].removeprefix("complex<").removesuffix(">")

    @property
    def is_complex(self) -> bool:
        return self.letter in "cz"

    def sizes(self, operand: int, rank: int = 2) -> tuple[int, ...]:
        """The last `rank` sizes of an operand."""
        if operand >= len(self.op.operands):
            raise self.error(f"has no operand {operand}")
        shape = self.op.operands[operand].type.shape
        if len(shape) < rank:
            raise self.error(f"has operand {operand} of rank {len(shape)}, not {rank} or more")
        return tuple(shape[len(shape) - rank :])

    def result_sizes(self, number: int) -> tuple[int, ...]:
        """The last two sizes of a result, whatever they are."""
        results = list(self.op.results)
        return tuple(results[number].type.shape[-2:]) if number < len(results) else ()

    def square(self, operand: int) -> int:
        rows, columns = self.sizes(operand)
        if rows != columns:
            raise self.error(f"has operand {operand} of {rows} rows and {columns} columns")
        return rows

    def letter_of(self, name: str, allowed: str) -> int:
        """The option `name`, which is one of the letters `allowed`."""
        value = self.number_of(name)
        if not 0 <= value < 128 or chr(value) not in allowed:
            listed = ", ".join(allowed)
            raise self.error(f"has {name} = {value}: only the codes of {listed} are known")
        return value

    def number_of(self, name: str) -> int:
        attribute = self._option(name)
        if not isinstance(attribute, ir.IntegerAttr):
            raise self.error(f"has {name} = {attribute}, which is no number")
        return attribute.value

    def flag_of(self, name: str) -> bool:
        attribute = self._option(name)
        if not isinstance(attribute, ir.BoolAttr):
            raise self.error(f"has {name} = {attribute}, which is not true or false")
        return attribute.value

    def _option(self, name: str) -> ir.Attribute:
        # JAX writes the first where its consumer may be older than typed options.
        for holder in ("mhlo.backend_config", "backend_config"):
            options = self.op.attributes.get(holder)
            if isinstance(options, ir.DictAttr) and name in options:
                return options[name]
        raise self.error(f"has no option {name}")

    def order(self, side: str, number: int, rank: int) -> list[int]:
        """The dims of an operand or result from the outermost in memory to the innermost."""
        layouts = self.op.attributes.get(f"{side}_layouts")
        if layouts is None:
            return list(range(rank))
        given = list(ir.ArrayAttr(layouts))
        order = [int(dim) for dim in ir.DenseIntElementsAttr(given[number])][::-1]
        if sorted(order) != list(range(rank)):  # the verifier's, but for its word
            raise self.error(f"has a layout of {side} {number} that is no order of its dims")
        return order

    def batch(self) -> tuple[int, ...]:
        """The sizes before those of the first matrix."""
        return tuple(self.op.operands[self._first_matrix()].type.shape[:-2])

    def count(self) -> int:
        return math.prod(self.batch())

    def _first_matrix(self) -> int:
        ranks = [len(operand.type.shape) for operand in self.op.operands]
        return ranks.index(max(ranks))

    def error(self, reason: str) -> Exception:
        target = ir.StringAttr(self.op.attributes["call_target_name"]).value
        return op_error(self.op, f"calls '{target}' and {reason}")


def checked_types(
    problem: Problem, side: str, values: Sequence[ir.Value], wanted: Sequence[str]
) -> None:
    """Refuse operands or results that are not what the routine reads or writes."""
    found = [str(value.type) for value in values]
    if found != list(wanted):
        listed = ", ".join(wanted)
        raise problem.error(f"has {side}s of ({', '.join(found)}), where it takes ({listed})")
