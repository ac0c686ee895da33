"""`stablehlo.map` becomes its computation; `stablehlo-legalize-to-linalg` refuses most of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf, tensor

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, names
from mlir_fp8.lowering.stablehlo_to_linalg._indexed_loops import replace_all

_ELEMENTWISE = names(
    "stablehlo",
    """abs add and atan2 bitcast_convert cbrt ceil clamp compare complex convert cosine
    count_leading_zeros divide exponential exponential_minus_one floor imag is_finite log
    log_plus_one logistic maximum minimum multiply negate not or popcnt power real reduce_precision
    remainder round_nearest_afz round_nearest_even rsqrt select shift_left shift_right_arithmetic
    shift_right_logical sign sine sqrt subtract tan tanh xor""",
)


@dataclass(frozen=True)
class StablehloInlineMap(ModulePass):
    """Replace every `stablehlo.map`, and `stablehlo.reduce` of no dimension, by its computation.

    On whole tensors where that is made of elementwise ops and constants, else element by element in
    an `scf.for` nest. Such a reduction is its computation on the initial value and each element.
    """

    def run(self, module: ir.Operation) -> None:
        ops = operations(module, inner_first=True)
        replace_all([op for op in ops if _is_map(op)], _lower)


def _is_map(op: ir.Operation) -> bool:
    if op.name == "stablehlo.reduce":
        return not len(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
    return op.name == "stablehlo.map"


def _lower(op: ir.Operation) -> list[ir.Value]:
    *computation, _ = _body(op)
    is_elementwise = all(
        inner.name in _ELEMENTWISE or inner.name == "stablehlo.constant" for inner in computation
    )
    return (_on_tensors if is_elementwise else _on_elements)(op, _inputs(op))


def _body(op: ir.Operation) -> list[ir.Operation]:
    return [inner.operation for inner in op.regions[0].blocks[0].operations]


def _inputs(op: ir.Operation) -> list[ir.Value]:
    """What the arguments of the computation stand for, as tensors of the results' shape."""
    operands = list(op.operands)
    if op.name == "stablehlo.map":
        return operands
    shape, count = op.results[0].type.shape, len(op.results)
    values = [*(_broadcast(value, shape) for value in operands[count:]), *operands[:count]]
    arguments = op.regions[0].blocks[0].arguments
    return [
        convert(value, argument.type.element_type)
        for value, argument in zip(values, arguments, strict=True)
    ]


def _broadcast(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    """`value`, of rank 0, in every place of a tensor of `shape`."""
    type_ = ir.RankedTensorType.get(shape, value.type.element_type)
    nowhere = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
    return build("broadcast_in_dim", type_, [value], nowhere)


def _on_tensors(op: ir.Operation, inputs: Sequence[ir.Value]) -> list[ir.Value]:
    shape = op.results[0].type.shape
    values = dict(zip(op.regions[0].blocks[0].arguments, inputs, strict=True))

    def full(value: ir.Value) -> ir.Value:
        if value not in values:
            # A constant, or a value from outside.
            values[value] = _broadcast(value, shape)
        return values[value]

    *computation, returned = _body(op)
    for inner in computation:
        if inner.name == "stablehlo.constant":
            inner.move_before(op)
            continue
        with inner.location:
            values[inner.results[0]] = ir.Operation.create(
                inner.name,
                results=[ir.RankedTensorType.get(shape, inner.results[0].type.element_type)],
                operands=[full(operand) for operand in inner.operands],
                attributes={name: inner.attributes[name] for name in inner.attributes},
            ).results[0]
    return [full(value) for value in returned.operands]


def _on_elements(op: ir.Operation, inputs: Sequence[ir.Value]) -> list[ir.Value]:
    types = [result.type for result in op.results]
    zero, one, *sizes = [
        arith.constant(ir.IndexType.get(), value) for value in (0, 1, *types[0].shape)
    ]

    def nest(position: list[ir.Value], carried: Sequence[ir.Value]) -> list[ir.Value]:
        if len(position) == len(sizes):
            elements = _elements(op, inputs, position)
            return [tensor.insert(e, t, position) for e, t in zip(elements, carried, strict=True)]
        loop = scf.ForOp(zero, sizes[len(position)], one, list(carried))
        with ir.InsertionPoint(loop.body):
            scf.YieldOp(nest([*position, loop.induction_variable], list(loop.inner_iter_args)))
        return list(loop.results)

    return nest([], [tensor.empty(type_.shape, type_.element_type) for type_ in types])


def _elements(
    op: ir.Operation, inputs: Sequence[ir.Value], position: Sequence[ir.Value]
) -> list[ir.Value]:
    """Move the computation here, on the inputs' elements at `position`."""
    for argument, value in zip(op.regions[0].blocks[0].arguments, inputs, strict=True):
        scalar = tensor.from_elements(argument.type, [tensor.extract(value, position)])
        argument.replace_all_uses_with(scalar)
    *computation, returned = _body(op)
    elements = [tensor.extract(value, []) for value in returned.operands]
    for inner in computation:
        inner.move_before(elements[0].owner)
    return elements
