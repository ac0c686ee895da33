"""Which arguments and constants of a function are weights, and how each is read."""

import fnmatch
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.chlo_ragged_dots import RAGGED_DOT, ragged_numbers
from mlir_fp8.lowering.fp8.scaling.contractions import (
    batching_dims,
    contracting_dims,
    is_convolution,
    is_product,
)
from mlir_fp8.lowering.fp8.scaling.origins import Dims, source_dims
from mlir_fp8.lowering.fp8.weights.layouts import Blocks, blocks_of, table_blocks
from mlir_fp8.lowering.fp8.weights.moves import moved_result
from mlir_fp8.lowering.fp8.weights.names import own_names
from mlir_fp8.lowering.fp8.weights.scale_rules import F32
from mlir_fp8.lowering.rewriting.stablehlo import element_type, has_static_shape

CONSTANTS = "constants"
_WIDE = ("f32", "bf16", "f16")
_LEAST_RANK = 2


@dataclass(eq=False)
class Weight:
    """A tensor that is to be quantized once: argument number `argument`, or a constant.

    `blocks` are those of its scale, `products` the dots and convolutions that read it, moved or as
    it is, `readers` the names of all ops that do. `channels` are the dimensions that products
    contract or batch over: of a convolution the input features. `smoothing` has a factor for each,
    f32 of the weight's rank, that the weight is multiplied by before.
    """

    name: str
    value: ir.Value
    argument: int | None
    blocks: Blocks = ()
    products: list[ir.Operation] = field(default_factory=list)
    readers: list[str] = field(default_factory=list)
    channels: Dims = frozenset()
    smoothing: np.ndarray | None = None
    rule: str = F32
    """How a scale follows from what is in its block, see `scale_rules`."""
    apart: tuple[int, ...] = ()
    """The dimensions along which NVFP4 has a number for each index."""

    @property
    def type(self) -> ir.RankedTensorType:
        return ir.RankedTensorType(self.value.type)


@dataclass
class _Reads:
    """What reads a tensor: products with the dimensions of it that they contract and repeat."""

    products: list[tuple[ir.Operation, Dims, Dims]] = field(default_factory=list)
    channels: Dims = frozenset()
    tables: list[ir.Operation] = field(default_factory=list)
    others: list[ir.Operation] = field(default_factory=list)


def find_weights(
    function: ir.Operation, patterns: Sequence[str], layout: str
) -> tuple[list[Weight], dict[str, str]]:
    """The weights of `function`, and why other arguments that a pattern matches are none.

    A pattern is a name, or has `*` and `?`; "constants" are those of the module. `Fp8Error` for a
    name that is no argument's, or of an argument that can be no weight.
    """
    arguments = list(function.regions[0].blocks[0].arguments)
    names = own_names(function)
    weights: list[Weight] = []
    left: dict[str, str] = {}
    for number in _matching(function, names, patterns):
        weight, reason = _weight(names[number], arguments[number], number, layout)
        if weight is not None:
            weights.append(weight)
        elif names[number] in patterns:
            raise op_error(function, f"weight '{names[number]}' {reason}: leave it out of weights")
        else:
            left[names[number]] = reason
    if CONSTANTS in patterns:
        weights += _constants(function, layout)
    return weights, left


def _matching(
    function: ir.Operation, names: Sequence[str], patterns: Sequence[str]
) -> Iterator[int]:
    found: set[int] = set()
    for pattern in patterns:
        if pattern == CONSTANTS:
            continue
        own = {number for number, name in enumerate(names) if name == pattern}
        if not own:
            own = {n for n, name in enumerate(names) if fnmatch.fnmatchcase(name, pattern)}
        if not own:
            known = ", ".join(names) or "none"
            raise op_error(function, f"has no argument '{pattern}' (arguments: {known})")
        found |= own
    yield from sorted(found)


def _constants(function: ir.Operation, layout: str) -> list[Weight]:
    found: list[Weight] = []
    for op in operations(function, "stablehlo.constant"):
        value = op.attributes["value"]
        if not isinstance(value, ir.DenseElementsAttr) or value.is_splat:
            continue
        weight, _ = _weight(f"constant{len(found)}", op.results[0], None, layout)
        if weight is not None and weight.readers:
            found.append(weight)
    return found


def _weight(
    name: str, value: ir.Value, number: int | None, layout: str
) -> tuple[Weight | None, str]:
    """A weight with its blocks, or why `value` can be none."""
    if str(element_type(value)) not in _WIDE or not has_static_shape(value):
        return None, f"is {value.type}, not of f32, bf16 or f16 and of a static shape"
    rank = ir.RankedTensorType(value.type).rank
    if rank < _LEAST_RANK:
        return None, f"is {value.type}, of rank {rank}"
    reads = _Reads()
    _read(value, tuple(frozenset({dim}) for dim in range(rank)), reads)
    if not reads.products and not reads.tables and reads.others:
        readers = ", ".join(sorted({op.name for op in reads.others}))
        return None, f"is read by {readers} and by no product and no gather"
    if reads.products:
        _, summed, repeated = reads.products[0]
        blocks = blocks_of(layout, rank, summed, repeated)
    else:
        blocks = table_blocks(layout, rank)
    products = [op for op, _, _ in reads.products]
    readers = sorted({op.name for op in (*products, *reads.tables, *reads.others)})
    return Weight(name, value, number, blocks, products, readers, reads.channels), ""


def _read(value: ir.Value, dims: tuple[Dims, ...], reads: _Reads) -> None:
    """Collect what reads `value`, whose dimension i runs over `dims[i]` of the weight."""
    for use in value.uses:
        op, number = use.owner.operation, use.operand_number
        if is_product(op):
            summed, repeated = _summed(op, number)
            of = [frozenset().union(*(dims[dim] for dim in each)) for each in (summed, repeated)]
            reads.products.append((op, of[0], of[1]))
            both = (*contracting_dims(op, number), *batching_dims(op, number))
            reads.channels |= frozenset().union(*(dims[dim] for dim in both))
        elif op.name == "stablehlo.gather" and number == 0:
            reads.tables.append(op)
        elif (result := moved_result(op, number)) is not None:
            after = tuple(frozenset({dim}) for dim in range(ir.RankedTensorType(result.type).rank))
            sources = [source_dims(op, dim) for dim in after]
            sizes = ir.RankedTensorType(value.type).shape  # one element runs over nothing
            moved = tuple(
                frozenset().union(*(dims[d] for d in each if sizes[d] > 1)) for each in sources
            )
            _read(result, moved, reads)
        else:
            reads.others.append(op)


def _summed(op: ir.Operation, side: int) -> tuple[list[int], list[int]]:
    """The dimensions of operand `side` that `op` sums over, and those that it repeats over."""
    if not is_convolution(op):
        groups = ragged_numbers(op)["rhs_group"] if op.name == RAGGED_DOT and side == 1 else []
        return contracting_dims(op, side), [*batching_dims(op, side), *groups]
    rank = ir.RankedTensorType(op.operands[side].type).rank
    numbers = _stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    kept = numbers.kernel_output_feature_dimension if side == 1 else None
    return [dim for dim in range(rank) if dim != kept], []
