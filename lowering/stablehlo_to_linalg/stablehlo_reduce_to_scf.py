"""`stablehlo-reduce-to-scf`: window reductions, and bodies that linalg cannot hold, to loops.

`stablehlo-legalize-to-linalg` crashes on some windows, leaves those with base dilations and bodies
that are more than scalar arithmetic, and takes n^2 steps for a cumulative sum.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, has_static_shape, names
from mlir_fp8.lowering.stablehlo_to_linalg._indexed_loops import replace_all
from mlir_fp8.lowering.stablehlo_to_linalg._padding import skips_padding
from mlir_fp8.lowering.stablehlo_to_linalg._prefix_sums import PREFIX_BLOCK, write_prefix_sums
from mlir_fp8.lowering.stablehlo_to_linalg._scalar_body import inline_body
from mlir_fp8.lowering.stablehlo_to_linalg._windows import (
    Window,
    index,
    nest,
    times,
    whole,
    windows,
)
from mlir_fp8.lowering.sums.sum_form import Sum, adds_floats
from mlir_fp8.lowering.sums.sum_levels import Level, fold, sum_levels

_PLAIN = names(
    "stablehlo",
    """abs add and compare constant convert maximum minimum multiply negate or select subtract
    xor""",
)
"""The ops that the body of a reduction left to linalg is made of."""
_Step = Callable[[list[ir.Value], list[ir.Value]], list[ir.Value]]
"""From an offset in a window and the accumulators to the new accumulators."""


@dataclass(frozen=True)
class StablehloReduceToScf(ModulePass):
    """Replace every `reduce_window`, and `reduce` whose body is not plain arithmetic, by scf loops.

    The accumulators are scalars, and the windows are folded from the left: the body gets what is
    accumulated so far, beginning with the initial value, and the next element in row-major order.
    An element of the padding is the initial value. A cumulative sum, product, maximum or minimum
    takes one step per element, from the end where it is reverse.

    Sums of floats over more than 256 elements are folded in blocks of so many, whose sums are
    folded in turn; so are cumulative ones over more than 512 (see `_prefix_sums`).
    """

    def run(self, module: ir.Operation) -> None:
        ops = operations(module, inner_first=True)
        for op in ops:
            if op.name == "stablehlo.reduce":
                # linalg would reduce in the order in which the dimensions are listed.
                dims = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
                if dims != sorted(dims):
                    ordered = ir.DenseI64ArrayAttr.get(sorted(dims), module.context)
                    op.attributes["dimensions"] = ordered
        replace_all([op for op in ops if _is_taken(op)], lambda op: _Reduction(op).emit())


def _is_taken(op: ir.Operation) -> bool:
    if op.name != "stablehlo.reduce":
        return op.name == "stablehlo.reduce_window"
    return has_static_shape(op.operands[0]) and not _is_plain(op)


def _is_plain(reduction: ir.Operation) -> bool:
    """Whether linalg takes its body: arithmetic on the arguments and on constants, of rank 0."""
    *computation, terminator, _ = operations(reduction, inner_first=True)
    if any(op.name not in _PLAIN for op in computation):
        return False
    known = set(reduction.regions[0].blocks[0].arguments)
    known.update(result for op in computation for result in op.results)
    return all(value in known for op in (*computation, terminator) for value in op.operands)


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
        self._inputs, self._initial = values[:count], values[count:]
        self._inits = [tensor.extract(value, []) for value in self._initial]
        self._sums = [Sum(element, "arith.addf") for element in elements]
        self._are_sums = adds_floats(self._body)
        if op.name == "stablehlo.reduce_window":
            self._dims = windows(op)
            self._kept = list(range(len(self._dims)))
            return
        reduced = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
        shape = self._inputs[0].type.shape
        self._dims = [
            Window(size, 1, size) if dim in reduced else _each(size)
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
        pairs = zip(self._inputs, self._initial, strict=True)
        self._inputs = [_padded(value, initial, self._dims) for value, initial in pairs]
        return nest(whole(self._types[0].shape), empty, self._one_result)

    def _one_result(self, position: list[ir.Value], results: list[ir.Value]) -> list[ir.Value]:
        places = dict(zip(self._kept, position, strict=True))

        def add(offset: list[ir.Value], sums: list[ir.Value]) -> list[ir.Value]:
            place = [
                _place(window, places.get(dim), at)
                for dim, (window, at) in enumerate(zip(self._dims, offset, strict=True))
            ]
            elements = [tensor.extract(value, place) for value in self._inputs]
            return inline_body(self._body, [*sums, *elements])

        sizes = [dim.size for dim in self._dims]
        levels = sum_levels({dim: size for dim, size in enumerate(sizes) if size > 1})
        if self._are_sums and len(levels) > 1:
            sums = self._in_blocks(levels, add)
        else:
            sums = nest(whole(sizes), self._inits, add)
        return [tensor.insert(s, r, position) for s, r in zip(sums, results, strict=True)]

    def _in_blocks(self, levels: list[Level], add: _Step) -> list[ir.Value]:
        zero = index(0)
        return fold(
            levels,
            {},
            self._inits,
            [each.neutral() for each in self._sums],
            lambda totals, parts: list(map(Sum.combined, self._sums, totals, parts)),
            lambda at, sums: add([at.get(dim, zero) for dim in range(len(self._dims))], sums),
        )

    def _scanned(self) -> int | None:
        """The dim along which each result is the one before it and one more element, if any."""
        dims = self._dims
        moving = [dim for dim, window in enumerate(dims) if window != _each(window.operand_size)]
        if len(moving) != 1 or len(self._kept) != len(dims):
            return None
        size = dims[moving[0]].operand_size
        running = (Window(size, size, size, low=size - 1), Window(size, size, size, high=size - 1))
        if dims[moving[0]] not in running or not skips_padding(self._body, self._initial):
            return None
        return moving[0]

    def _scan(self, dim: int, empty: list[ir.Value]) -> list[ir.Value]:
        size = self._dims[dim].size
        is_reverse = self._dims[dim].high > 0
        sizes = list(self._types[0].shape)
        sizes[dim] = 1

        def line(position: list[ir.Value], results: list[ir.Value]) -> list[ir.Value]:
            def place(number: ir.Value) -> list[ir.Value]:
                along = arith.subi(index(size - 1), number) if is_reverse else number
                return [*position[:dim], along, *position[dim + 1 :]]

            if is_in_blocks:
                values = self._inputs[0], results[0], self._inits[0]
                return [write_prefix_sums(*values, size, place)]

            def step(turn: list[ir.Value], carried: list[ir.Value]) -> list[ir.Value]:
                at = place(turn[0])
                sums, kept = carried[: len(self._inits)], carried[len(self._inits) :]
                elements = [tensor.extract(value, at) for value in self._inputs]
                sums = inline_body(self._body, [*sums, *elements])
                return [
                    *sums,
                    *(tensor.insert(s, r, at) for s, r in zip(sums, kept, strict=True)),
                ]

            return nest(whole([size]), [*self._inits, *results], step)[len(self._inits) :]

        is_in_blocks = self._are_sums and size > PREFIX_BLOCK
        return nest(whole(sizes), empty, line)


def _each(size: int) -> Window:
    """Windows of one element each, one for every element."""
    return Window(size, size)


def _place(window: Window, window_number: ir.Value | None, offset: ir.Value) -> ir.Value:
    """The place at `offset` of one of the windows, the only one where it has no number."""
    if window_number is None:
        return offset
    start = times(window_number, window.stride)
    return start if window.size == 1 else arith.addi(start, times(offset, window.dilation))


def _padded(value: ir.Value, initial: ir.Value, dims: Sequence[Window]) -> ir.Value:
    """`value` dilated and padded with its initial value."""
    if all((dim.low, dim.high, dim.base_dilation) == (0, 0, 1) for dim in dims):
        return value
    low, high = [dim.low for dim in dims], [dim.high for dim in dims]
    between = [dim.base_dilation - 1 for dim in dims]
    shape = [
        max((size - 1) * dim.base_dilation + 1, 0) + dim.low + dim.high
        for size, dim in zip(value.type.shape, dims, strict=True)
    ]
    attributes = {
        "edge_padding_low": ir.DenseI64ArrayAttr.get(low),
        "edge_padding_high": ir.DenseI64ArrayAttr.get(high),
        "interior_padding": ir.DenseI64ArrayAttr.get(between),
    }
    type_ = ir.RankedTensorType.get(shape, value.type.element_type)
    return build("pad", type_, [value, initial], attributes)
