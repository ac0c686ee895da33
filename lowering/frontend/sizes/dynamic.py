"""Which ops have dynamic shapes, or operands that determine sizes."""

from torch_mlir import ir

from mlir_fp8.base.operations import call_target, function_type
from mlir_fp8.lowering.rewriting.stablehlo import names

# How many operands come before those that determine sizes.
_OPERANDS_BEFORE = {
    "stablehlo.dynamic_broadcast_in_dim": 1,
    "stablehlo.dynamic_conv": 2,
    "stablehlo.dynamic_gather": 2,
    "stablehlo.dynamic_iota": 0,
    "stablehlo.dynamic_pad": 2,
    "stablehlo.dynamic_reshape": 1,
    "stablehlo.real_dynamic_slice": 1,
    "stablehlo.set_dimension_size": 1,
}
DYNAMIC = names("stablehlo", "get_dimension_size") | _OPERANDS_BEFORE.keys()
# How many of the last operands determine sizes in JAX's calls (dynamic_calls.py).
_LAST_OPERANDS = {
    "stablehlo.dynamic_reduce_window": 5,
    "stablehlo.dynamic_rng_bit_generator": 1,
    "stablehlo.dynamic_top_k": 1,
}
_ASSERTION = "shape_assertion"
_OF_SIZES = "indices_of_shape_operands"


def is_dynamic_type(type_: ir.Type) -> bool:
    return isinstance(type_, ir.ShapedType) and not (type_.has_rank and type_.has_static_shape)


def is_static_signature(function: ir.Operation) -> bool:
    type_ = function_type(function)
    return not any(map(is_dynamic_type, (*type_.inputs, *type_.results)))


def is_assertion(op: ir.Operation) -> bool:
    """Whether `op` is a shape assertion."""
    return op.name == "stablehlo.custom_call" and call_target(op) == _ASSERTION


def is_dynamic(op: ir.Operation) -> bool:
    """Whether `stablehlo-refine-dynamism` has work to do on `op`."""
    if op.name in DYNAMIC or any(is_dynamic_type(result.type) for result in op.results):
        return True
    if op.name == "stablehlo.custom_call":
        return call_target(op) == _ASSERTION or call_target(op).startswith("stablehlo.dynamic_")
    return op.name == "func.func" and not is_static_signature(op)


def size_operands(op: ir.Operation) -> list[int]:
    """The numbers of the operands that determine sizes, or of an assertion's truth value."""
    count = len(op.operands)
    if op.name in _OPERANDS_BEFORE:
        return list(range(_OPERANDS_BEFORE[op.name], count))
    if is_assertion(op):
        return list(range(count))
    if op.name != "stablehlo.custom_call":
        return []
    if _OF_SIZES in op.attributes:
        return [int(each) for each in ir.DenseIntElementsAttr(op.attributes[_OF_SIZES])]
    last = _LAST_OPERANDS.get(call_target(op), 0)
    return list(range(count - last, count))
