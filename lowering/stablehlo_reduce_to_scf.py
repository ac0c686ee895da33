"""`stablehlo-reduce-to-scf`: reductions of windows, or with bodies beyond linalg's, to loops.

`stablehlo-legalize-to-linalg` crashes on some windows, leaves those with base dilations and bodies
that are more than scalar arithmetic, and takes n^2 steps for a cumulative sum.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf, tensor

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering._indexed_loops import check_types
from mlir_fp8.lowering._padding import skips_padding
from mlir_fp8.lowering._retype import operations
from mlir_fp8.lowering._scalar_body import inline_body
from mlir_fp8.lowering._stablehlo import convert, has_static_shape, names
from mlir_fp8.lowering._windows import Bounds, Window, clipped, index, nest, starts, whole, windows

_PLAIN = names(
    "stablehlo",
    """abs add and compare constant convert divide maximum minimum multiply negate or select
    subtract xor""",
)
"""The ops that the body of a reduction left to linalg is made of."""


@dataclass(frozen=True)
class StablehloReduceToScf(ModulePass):
    """Replace every `reduce_window`, and `reduce` whose body is not plain arithmetic, by scf loops.

    The accumulators are scalars, and the windows are folded from the left: the body gets what is
    accumulated so far, beginning with the initial value, and the next element in row-major order.
    An element of the padding is the initial value, and is left out where that changes nothing. A
    cumulative sum, product, maximum or minimum takes one step per element.
    """

    def run(self, module: ir.Operation) -> None:
        reductions = [op for op in operations(module, inner_first=True) if _is_taken(op)]
        for op in reductions:
            check_types(op)
        for op in reductions:
            with op.location, ir.InsertionPoint(op):
                results = _Reduction(op).emit()
            for old, new in zip(op.results, results, strict=True):
                old.replace_all_uses_with(new)
            op.erase()


def _is_taken(op: ir.Operation) -> bool:
    if op.name != "stablehlo.reduce":
        return op.name == "stablehlo.reduce_window"
    return has_static_shape(op.operands[0]) and not _is_plain(op.regions[0].blocks[0])


def _is_plain(body: ir.Block) -> bool:
    """Whether linalg takes it: arithmetic on the arguments and on constants, to rank-0 results."""
    ops = [op.operation for op in body.operations]
    known = {*body.arguments, *(result for op in ops for result in op.results)}
    *computation, _ = ops
    return all(op.name in _PLAIN for op in computation) and all(
        value in known for op in ops for value in op.operands
    )


class _Reduction:
    """Emits one reduction, at the current insertion point."""

    def __init__(self, op: ir.Operation) -> None:
        self._body = op.regions[0].blocks[0]
        self._types = [result.type for result in op.results]
        count = len(self._types)
        elements = [type_.element_type for type_ in self._types]
        values = [
            convert(value, element)
            for value, element in zip(op.operands, [*elements, *elements], strict=True)
        ]
        self._inputs, initial = values[:count], values[count:]
        self._inits = [tensor.extract(value, []) for value in initial]
        self._skips_padding = skips_padding(self._body, initial)
        if op.name == "stablehlo.reduce_window":
            self._dims = windows(op)
            self._kept = list(range(len(self._dims)))
            return
        reduced = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
        shape = self._inputs[0].type.shape
        self._dims = [
            Window(size, 1, size) if dim in reduced else Window(size, size)
            for dim, size in enumerate(shape)
        ]
        self._kept = [dim for dim in range(len(shape)) if dim not in reduced]

    def emit(self) -> list[ir.Value]:
        empty = [tensor.empty(type_.shape, type_.element_type) for type_ in self._types]
        if 0 in self._types[0].shape:
            return empty
        scanned = self._scanned()
        if scanned is not None:
            return self._scan(scanned, empty)
        return nest(whole(self._types[0].shape), empty, self._one_result)

    def _one_result(self, position: list[ir.Value], results: list[ir.Value]) -> list[ir.Value]:
        places = dict(zip(self._kept, position, strict=True))
        zero = index(0)
        corner = starts(self._dims, [places.get(d, zero) for d in range(len(self._dims))])
        bounds = [self._bounds(*each) for each in zip(self._dims, corner, strict=True)]

        def fold(offset: list[ir.Value], sums: list[ir.Value]) -> list[ir.Value]:
            return inline_body(self._body, [*sums, *self._elements(corner, offset)])

        sums = nest(bounds, self._inits, fold)
        return [tensor.insert(s, r, position) for s, r in zip(sums, results, strict=True)]

    def _bounds(self, dim: Window, start: ir.Value) -> Bounds:
        if not dim.is_inside and dim.base_dilation == 1 and self._skips_padding:
            return clipped(dim, start)
        return None if dim.size == 1 else (index(0), index(dim.size))

    def _elements(
        self, corner: Sequence[ir.Value], offset: Sequence[ir.Value]
    ) -> Sequence[ir.Value]:
        """What is at `offset` of the window at `corner`: in padding, the initial values."""
        if 0 in self._inputs[0].type.shape:
            return self._inits
        place, condition = [], None
        for dim, start, at in zip(self._dims, corner, offset, strict=True):
            step = arith.muli(at, index(dim.dilation)) if dim.dilation != 1 else at
            along = arith.addi(start, step) if dim.size != 1 else start
            if not (dim.is_inside or (self._skips_padding and dim.base_dilation == 1)):
                # Unsigned: what is before the operand is beyond its end, too.
                check = arith.cmpi(arith.CmpIPredicate.ult, along, index(dim.extent))
                condition = check if condition is None else arith.andi(condition, check)
            if dim.base_dilation != 1:
                step = index(dim.base_dilation)
                is_element = arith.cmpi(arith.CmpIPredicate.eq, arith.remui(along, step), index(0))
                condition = arith.andi(condition, is_element)
                along = arith.divui(along, step)
            place.append(along)
        if condition is None:
            return [tensor.extract(value, place) for value in self._inputs]
        branch = scf.IfOp(condition, [value.type for value in self._inits], has_else=True)
        with ir.InsertionPoint(branch.then_block):
            scf.YieldOp([tensor.extract(value, place) for value in self._inputs])
        with ir.InsertionPoint(branch.elseRegion.blocks[0]):
            scf.YieldOp(self._inits)
        return list(branch.results)

    def _scanned(self) -> int | None:
        """The dim along which each result is the one before it and one more element, if any."""
        moving = [dim for dim, window in enumerate(self._dims) if window != _each(window)]
        if len(moving) != 1 or not self._skips_padding:
            return None
        window = self._dims[moving[0]]
        size = window.size
        running = (Window(size, size, size, low=size - 1), Window(size, size, size))
        return moving[0] if window in running and len(self._kept) == len(self._dims) else None

    def _scan(self, dim: int, empty: list[ir.Value]) -> list[ir.Value]:
        size = self._dims[dim].size
        is_reverse = not self._dims[dim].low
        sizes = list(self._types[0].shape)
        sizes[dim] = 1

        def line(position: list[ir.Value], results: list[ir.Value]) -> list[ir.Value]:
            def step(turn: list[ir.Value], carried: list[ir.Value]) -> list[ir.Value]:
                along = arith.subi(index(size - 1), turn[0]) if is_reverse else turn[0]
                place = [*position[:dim], along, *position[dim + 1 :]]
                sums, kept = carried[: len(self._inits)], carried[len(self._inits) :]
                elements = [tensor.extract(value, place) for value in self._inputs]
                sums = inline_body(self._body, [*sums, *elements])
                return [
                    *sums,
                    *(tensor.insert(s, r, place) for s, r in zip(sums, kept, strict=True)),
                ]

            return nest(whole([size]), [*self._inits, *results], step)[len(self._inits) :]

        return nest(whole(sizes), empty, line)


def _each(window: Window) -> Window:
    """Windows of one element each, one for every element."""
    return Window(window.operand_size, window.operand_size)
