"""Where a tensor comes from: the value that transposes, reshapes and the like only move.

A scale and an amax are the same before and after a move, so a tensor that dots take in several
arrangements is quantized once, at its origin, and moved as f8.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.fp8.scaling.factors import MOVES, scaled_operand
from mlir_fp8.lowering.rewriting.shardings import gathers, is_constraint
from mlir_fp8.lowering.rewriting.stablehlo import element_type, has_static_shape

Dims = frozenset[int]

_BARRIER = "stablehlo.optimization_barrier"


@dataclass(frozen=True)
class Origin:
    """`value`, of which a tensor is a rearrangement.

    `narrowed` are the element types that converts on the way round to, in order: converts that lose
    nothing are left out. `moves` are the ops that rearrange, from `value` on; `path` has all ops on
    the way. `dims` has for each dimension of the tensor those of `value` that it runs over.
    """

    value: ir.Value
    narrowed: tuple[ir.Type, ...]
    moves: tuple[ir.Operation, ...]
    path: tuple[ir.Operation, ...]
    dims: tuple[Dims, ...]

    def dims_of(self, dims: Iterable[int]) -> Dims:
        """The dimensions of `value` that `dims` of the tensor run over."""
        return frozenset().union(*(self.dims[dim] for dim in dims))


def origin(value: ir.Value, *, through_scaling: bool = False) -> Origin:
    """Where the tensor `value` comes from; for a loop-invariant carried value, its init.

    `through_scaling` looks also through what quantizes and dequantizes: converts of every kind,
    factors and bounds that are one number for all elements, and ops of the `fp8` dialect. And it
    takes a slice at a run-time index for the whole, and the stacked results of a loop for those of
    each iteration: so a derivative's loop has the tensors of the loop that it is derived from.
    """
    dims = tuple(frozenset({i}) for i in range(ir.RankedTensorType(value.type).rank))
    converts: list[ir.Type] = []
    path: list[ir.Operation] = []
    while (source := _source(value, through_scaling)) is not None:
        op = value.owner
        if isinstance(op, ir.OpView | ir.Operation):
            path.append(op.operation)
            if is_constraint(path[-1]):
                pass
            elif path[-1].name in MOVES:
                dims = tuple(source_dims(path[-1], dim) for dim in dims)
            elif element_type(source) != element_type(value):
                converts.append(ir.RankedTensorType(value.type).element_type)
        value = source
    path.reverse()
    moves = tuple(op for op in path if op.name in MOVES or is_constraint(op))
    element = ir.RankedTensorType(value.type).element_type
    narrowed = () if through_scaling else narrowing(element, reversed(converts))
    return Origin(value, narrowed, moves, tuple(path), dims)


def narrowing(element: ir.Type, converts: Iterable[ir.Type]) -> tuple[ir.Type, ...]:
    """Those of `converts`, done in order to a tensor of `element`, that lose something."""
    steps: list[ir.Type] = []
    for target in converts:
        if not _holds(target, element):
            steps.append(target)
            element = target
    return tuple(steps)


def _holds(wide: ir.Type, narrow: ir.Type) -> bool:
    """Whether each value of `narrow` is one of `wide`."""
    if wide == narrow:
        return True
    if str(wide) not in ("f32", "f64"):
        return False
    fmt = FORMATS.get(str(narrow))
    return fmt is not None and fmt.bits < FORMATS[str(wide)].bits


def _source(value: ir.Value, through_scaling: bool) -> ir.Value | None:
    """What `value` is but for its arrangement and type; None where it is something new."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return _before_loop(owner, ir.BlockArgument(value).arg_number)
    op = owner.operation
    if op.name == _BARRIER:
        return op.operands[ir.OpResult(value).result_number]
    if is_constraint(op):
        return op.operands[0] if through_scaling or gathers(op) else None
    if op.name in MOVES:
        return op.operands[0] if has_static_shape(op.operands[0]) else None
    if op.name == "stablehlo.convert":
        both = (str(element_type(op.operands[0])), str(element_type(value)))
        return op.operands[0] if all(name in FORMATS for name in both) else None
    if not through_scaling:
        return None
    if op.name == "stablehlo.dynamic_slice":
        return op.operands[0]
    return _stacked(op, value) if op.name == "stablehlo.while" else scaled_operand(op)


def _stacked(loop: ir.Operation, result: ir.Value) -> ir.Value | None:
    """What an iteration of `loop` puts into `result`, if that stacks a slice per iteration."""
    body = loop.regions[1].blocks[0]
    number = ir.OpResult(result).result_number
    owner = list(body.operations)[-1].operation.operands[number].owner
    if isinstance(owner, ir.Block) or owner.operation.name != "stablehlo.dynamic_update_slice":
        return None
    stack, update = list(owner.operation.operands)[:2]
    return update if stack == body.arguments[number] else None


def _before_loop(block: ir.Block, number: int) -> ir.Value | None:
    """The value of a loop-carried argument that the body yields unchanged: it is loop-invariant."""
    loop = block.owner.operation
    if loop.name != "stablehlo.while" or block != loop.regions[1].blocks[0]:
        return None
    end = list(block.operations)[-1].operation
    return loop.operands[number] if end.operands[number] == block.arguments[number] else None


def source_dims(op: ir.Operation, dims: Dims) -> Dims:
    """The dimensions of the operand of a move that `dims` of its result run over."""
    before = list(ir.RankedTensorType(op.operands[0].type).shape)
    after = list(ir.RankedTensorType(op.results[0].type).shape)
    match op.name:
        case "stablehlo.transpose":
            order = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
            return frozenset(order[dim] for dim in dims)
        case "stablehlo.broadcast_in_dim":
            places = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
            kept = [i for i, at in enumerate(places) if at in dims and before[i] == after[at]]
            return frozenset(kept)
        case "stablehlo.reshape":
            links = _reshape_links(before, after)
            return frozenset(i for i, j in links if j in dims)
        case _:
            return dims


def _reshape_links(before: Sequence[int], after: Sequence[int]) -> set[tuple[int, int]]:
    """Pairs of dimensions that a reshape makes of each other, or splits and merges."""
    if 0 in before:
        return {(i, j) for i in range(len(before)) for j in range(len(after))}
    links: set[tuple[int, int]] = set()
    i = j = 0
    while i < len(before) and j < len(after):
        start_i, start_j, size_i, size_j = i, j, before[i], after[j]
        i, j = i + 1, j + 1
        while size_i != size_j:
            if size_i < size_j:
                size_i, i = size_i * before[i], i + 1
            else:
                size_j, j = size_j * after[j], j + 1
        links |= {(x, y) for x in range(start_i, i) for y in range(start_j, j)}
    return links
