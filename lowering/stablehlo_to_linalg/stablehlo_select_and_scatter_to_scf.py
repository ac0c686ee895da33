"""`stablehlo.select_and_scatter` to loops.

`stablehlo-legalize-to-linalg` has a pattern for windows that do not overlap alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import build, convert
from mlir_fp8.lowering.stablehlo_to_linalg._indexed_loops import replace_all
from mlir_fp8.lowering.stablehlo_to_linalg._scalar_body import inline_body
from mlir_fp8.lowering.stablehlo_to_linalg._windows import (
    Window,
    index,
    nest,
    times,
    whole,
    windows,
)


@dataclass(frozen=True)
class StablehloSelectAndScatterToScf(ModulePass):
    """Replace every `stablehlo.select_and_scatter` by an `scf.for` nest that carries the result.

    The windows are visited in row-major order, and so are their elements: `select` gets the element
    chosen so far, beginning with the window's first, and the next one. Padding is never chosen, and
    a window of padding alone scatters nothing.
    """

    def run(self, module: ir.Operation) -> None:
        ops = operations(module, "stablehlo.select_and_scatter", inner_first=True)
        replace_all(ops, lambda op: _SelectAndScatter(op).emit())


class _SelectAndScatter:
    """Emits one op, at the current insertion point."""

    def __init__(self, op: ir.Operation) -> None:
        self._select, self._scatter = (region.blocks[0] for region in op.regions)
        self._type = op.results[0].type
        # `scatter` may be wider than the operand.
        element = self._type.element_type
        self._operand = op.operands[0]
        self._source, self._initial = (convert(value, element) for value in list(op.operands)[1:])
        self._dims = windows(op)

    def emit(self) -> list[ir.Value]:
        nowhere = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
        result = build("broadcast_in_dim", self._type, [self._initial], nowhere)
        shape = self._source.type.shape
        if 0 in shape or 0 in self._operand.type.shape:
            return [result]
        return nest(whole(shape), [result], self._one_window)

    def _one_window(self, position: list[ir.Value], results: list[ir.Value]) -> list[ir.Value]:
        corner = [
            arith.subi(times(at, dim.stride), index(dim.low)) if dim.low else times(at, dim.stride)
            for dim, at in zip(self._dims, position, strict=True)
        ]
        bounds = [_inside(*each) for each in zip(self._dims, corner, strict=True)]
        is_met = None
        for dim, (first, end) in zip(self._dims, bounds, strict=True):
            if not _always_meets_operand(dim):
                check = arith.cmpi(arith.CmpIPredicate.ult, first, end)
                is_met = check if is_met is None else arith.andi(is_met, check)
        # A loop instead of a branch, in which bufferization would copy.
        once = None if is_met is None else (index(0), arith.index_castui(index(0).type, is_met))

        def update(_: list[ir.Value], carried: list[ir.Value]) -> list[ir.Value]:
            place = self._selected(corner, bounds)
            source = tensor.extract(self._source, position)
            (value,) = inline_body(self._scatter, [tensor.extract(carried[0], place), source])
            return [tensor.insert(value, carried[0], place)]

        return nest([once], results, update)

    def _selected(
        self, corner: Sequence[ir.Value], bounds: Sequence[tuple[ir.Value, ir.Value]]
    ) -> list[ir.Value]:
        """The place in the operand that `select` leaves of the window."""
        first = [arith.addi(s, low) for s, (low, _) in zip(corner, bounds, strict=True)]
        moving = [dim for dim, window in enumerate(self._dims) if window.size != 1]
        if not moving:
            return first

        def choose(offset: list[ir.Value], carried: list[ir.Value]) -> list[ir.Value]:
            value, *chosen = carried
            place = list(first)
            for dim, at in zip(moving, offset, strict=True):
                place[dim] = arith.addi(corner[dim], at)
            other = tensor.extract(self._operand, place)
            (stays,) = inline_body(self._select, [value, other])
            pairs = zip([value, *chosen], [other, *(place[dim] for dim in moving)], strict=True)
            return [arith.select(stays, old, new) for old, new in pairs]

        inits = [tensor.extract(self._operand, first), *(first[dim] for dim in moving)]
        _, *chosen = nest([bounds[dim] for dim in moving], inits, choose)
        for dim, at in zip(moving, chosen, strict=True):
            first[dim] = at
        return first


def _last_start(dim: Window) -> int:
    return (dim.count - 1) * dim.stride - dim.low


def _always_meets_operand(dim: Window) -> bool:
    """Whether every window holds an element that is not padding."""
    return dim.size > dim.low and _last_start(dim) < dim.operand_size


def _inside(dim: Window, start: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The first w of the window from `start` that is in the operand, and the end of those.

    The end may come before the first.
    """
    zero, size = index(0), index(dim.size)
    first, end = zero, size
    if dim.low > 0:
        first = arith.maxsi(arith.subi(zero, start), zero)
    if _last_start(dim) + dim.size > dim.operand_size:
        after = arith.maxsi(arith.subi(index(dim.operand_size), start), zero)
        # Unsigned, though nothing is negative: LLVM's SLP vectorizer narrows a signed minimum with
        # 1 to one bit, where 1 is -1.
        end = arith.minui(after, size)
    return first, end
