"""Ops that may be in an epilogue: elementwise ones, and maximum reductions to a scalar."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering.kernels.contractions.contraction import loop_sizes
from mlir_fp8.lowering.kernels.contractions.leaves import buffer_leaf
from mlir_fp8.lowering.kernels.vector_code.expression import Leaf
from mlir_fp8.lowering.rewriting.linalg_ops import indexing_maps


@dataclass(frozen=True)
class Following:
    """A `linalg.generic` on buffers, in its own iteration space."""

    sizes: list[int]
    inputs: dict[ir.Value, Leaf | ir.Value]
    """By used body argument: the element of a buffer that it is, or the scalar."""
    outs: list[tuple[ir.Value, Leaf]]
    """Yielded values and the leaves that they are stored to; empty for a maximum."""
    largest: ir.Value | None
    """The operand of the maximum reduction."""
    captured: list[ir.Value]
    """Scalars that the body captures."""


def following(op: ir.Operation) -> Following | None:
    """`op` where it is elementwise, or the maximum reduction of an elementwise body."""
    if op.name != "linalg.generic" or len(op.results):
        return None
    maps = indexing_maps(op)
    iterators = {str(each) for each in ir.ArrayAttr(op.attributes["iterator_types"])}
    block = op.regions[0].blocks[0]
    *body, last = [inner.operation for inner in block.operations]
    if not maps[0].n_dims or not all(map(_is_scalar_op, body)):
        return None
    count = len(last.operands)
    arguments, operands = list(block.arguments), list(op.operands)
    largest = None
    if iterators == {"#linalg.iterator_type<reduction>"}:
        largest = _largest(last, arguments[-1]) if not maps[-1].results else None
        if largest is None:
            return None
        arguments, operands = arguments[:-1], operands[:-1]
    elif iterators != {"#linalg.iterator_type<parallel>"} or not all(
        map_.is_permutation for map_ in maps[-count:]
    ):
        return None
    leaves: list[Leaf | ir.Value | None] = [
        buffer_leaf(operand, map_) if isinstance(operand.type, ir.MemRefType) else operand
        for operand, map_ in zip(operands, maps, strict=False)
    ]
    inputs: dict[ir.Value, Leaf | ir.Value] = {}
    for argument, leaf in zip(arguments, leaves, strict=True):
        if list(argument.uses):
            if leaf is None:
                return None
            inputs[argument] = leaf
    outs = []
    for value, leaf in zip(last.operands, leaves[-count:], strict=True) if largest is None else ():
        if not isinstance(leaf, Leaf):
            return None
        outs.append((value, leaf))
    used = [value for inner in (*body, last) for value in inner.operands]
    captured = [value for value in dict.fromkeys(used) if _block_of(value) != block]
    return Following(loop_sizes(op, maps), inputs, outs, largest, captured)


def _is_scalar_op(op: ir.Operation) -> bool:
    if op.name.partition(".")[0] not in ("arith", "math") or len(op.results) != 1:
        return False
    return isinstance(op.results[0].type, ir.IntegerType | ir.FloatType)


def _largest(last: ir.Operation, total: ir.Value) -> ir.Value | None:
    """The f32 operand of the maximum with `total`, which has no other use."""
    combiner = last.operands[0].owner
    if isinstance(combiner, ir.Block) or combiner.operation.name != "arith.maximumf":
        return None
    others = [value for value in combiner.operation.operands if value != total]
    is_only = len(list(total.uses)) == 1 and len(list(last.operands[0].uses)) == 1
    if not is_only or len(others) != 1 or not isinstance(total.type, ir.F32Type):
        return None
    return others[0]


def _block_of(value: ir.Value) -> ir.Block:
    return value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block
