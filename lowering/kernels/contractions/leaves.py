"""Strided reads of buffers, as the leaves of what a kernel computes its operands of."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from torch_mlir import ir
from torch_mlir.dialects import arith

from mlir_fp8.lowering.kernels.vector_code.expression import Leaf
from mlir_fp8.lowering.rewriting.stablehlo import names

_RESHAPES = names("memref", "cast collapse_shape expand_shape")


def operand_leaf(value: ir.Value, map_: ir.AffineMap) -> Leaf | None:
    """As `buffer_leaf`, or in a slice of a buffer that begins at offsets of the program."""
    leaf, type_ = buffer_leaf(value, map_), value.type
    if leaf is not None or not isinstance(type_, ir.MemRefType) or not type_.has_static_shape:
        return leaf
    subview = value
    while not isinstance(subview.owner, ir.Block) and subview.owner.operation.name in _RESHAPES:
        subview = subview.owner.operation.operands[0]
    op = None if isinstance(subview.owner, ir.Block) else subview.owner.operation
    if op is None or op.name != "memref.subview" or not _is_static(op.operands[0].type):
        return None
    steps, _ = type_.get_strides_and_offset()
    return None if min(steps, default=0) < 0 else _strided(value, map_, steps, 0, op)


def _is_static(type_: ir.MemRefType) -> bool:
    steps, offset = type_.get_strides_and_offset()
    return type_.has_static_shape and all(number >= 0 for number in [*steps, offset])


def offset_of(subview: ir.Operation) -> ir.Value:
    """The offset of a `memref.subview` in its buffer, in elements, at the insertion point."""
    steps, start = ir.MemRefType(subview.operands[0].type).get_strides_and_offset()
    total = arith.constant(ir.IndexType.get(), start)
    given = iter(list(subview.operands)[1:])
    for offset, step in zip(
        ir.DenseI64ArrayAttr(subview.attributes["static_offsets"]), steps, strict=True
    ):
        index = next(given) if offset < 0 else arith.constant(ir.IndexType.get(), offset)
        step_value = arith.constant(ir.IndexType.get(), step)
        total = arith.addi(total, arith.muli(index, step_value))
    return total


def buffer_leaf(value: ir.Value, map_: ir.AffineMap) -> Leaf | None:
    """A buffer of static layout as `map_` reads it; None where it is not strided."""
    type_ = value.type
    if not isinstance(type_, ir.MemRefType) or not type_.has_static_shape:
        return None
    steps, offset = type_.get_strides_and_offset()
    if any(number < 0 for number in [*steps, offset]):
        return None
    return _strided(value, map_, steps, offset)


def _strided(
    value: ir.Value,
    map_: ir.AffineMap,
    steps: list[int],
    offset: int,
    subview: ir.Operation | None = None,
) -> Leaf | None:
    strides = [0] * map_.n_dims
    for result, step in zip(map_.results, steps, strict=True):
        if isinstance(result, ir.AffineDimExpr):
            strides[result.position] += step
        elif isinstance(result, ir.AffineConstantExpr):
            offset += result.value * step
        else:
            return None
    return Leaf(value, tuple(strides), offset, subview)


def collapsed(buffer: ir.Value) -> list[list[int]]:
    """The dimensions of the allocation that each of `buffer`, which may collapse them, spans."""
    op = None if isinstance(buffer.owner, ir.Block) else buffer.owner.operation
    if op is None or op.name != "memref.collapse_shape":
        return [[dim] for dim in range(ir.MemRefType(buffer.type).rank)]
    groups = ir.ArrayAttr(op.attributes["reassociation"])
    return [[ir.IntegerAttr(dim).value for dim in ir.ArrayAttr(each)] for each in groups]


def spread(leaf: Leaf, spans: Mapping[int, Sequence[tuple[int, int]]], rank: int) -> Leaf | None:
    """`leaf` along `rank` new dimensions; each in `spans` is some of its own, with sizes, as one.

    None where their elements are neither evenly apart nor in groups that are.
    """
    strides, groups, steps = [0] * rank, [1] * rank, [0] * rank
    for new, own in spans.items():
        if any(leaf.group(dim) > 1 for dim, _ in own):
            dims = [dim for dim, size in own if size > 1]
            if len(dims) != 1:
                return None
            strides[new], groups[new] = leaf.strides[dims[0]], leaf.group(dims[0])
            steps[new] = leaf.step(dims[0])
            continue
        merged = _merged([(leaf.strides[dim], size) for dim, size in own if size > 1])
        if merged is None:
            return None
        strides[new], groups[new], steps[new] = merged
    kept = tuple(groups) if max(groups, default=1) > 1 else ()
    return replace(
        leaf, strides=tuple(strides), groups=kept, steps=tuple(steps) if any(steps) else ()
    )


def _merged(steps: Sequence[tuple[int, int]]) -> tuple[int, int, int] | None:
    """Dimensions, strides with sizes, as one: the stride of groups, the size of one, that in it."""
    runs: list[tuple[int, int]] = []
    for stride, size in steps:
        if runs and runs[-1][0] == stride * size:
            runs[-1] = (stride, runs[-1][1] * size)
        else:
            runs.append((stride, size))
    if not runs:
        return 0, 1, 0
    if len(runs) == 1:
        return runs[0][0], 1, 0
    (outer, _), (inner, size) = runs[-2:]
    return (outer, size, inner) if len(runs) == 2 and outer else None
