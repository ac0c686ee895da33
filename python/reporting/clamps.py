"""A clamp to the range of the format that is rounded to next: how frameworks saturate."""

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.rewriting.stablehlo import element_type, narrow_format

_SAME_NUMBER = ("stablehlo.broadcast_in_dim", "stablehlo.reshape", "stablehlo.convert")


def rounded_value(op: ir.Operation) -> tuple[ir.Value, bool] | None:
    """What `op` rounds, and whether by way of a clamp; None where a convert's operand tells it.

    The clamp, to exactly the range of a narrow float, is a `clamp`, or `minimum` and `maximum` with
    constants, as jax writes it. An `fp8.convert` becomes a convert of what is rounded already.
    """
    if op.name not in ("stablehlo.convert", "fp8.convert"):
        return None
    fmt, operand = narrow_format(op.results[0]), op.operands[0]
    if fmt is None:
        return None
    value = _before_clamp(operand, float(fmt.max))
    return (
        None if value == operand and op.name == "stablehlo.convert" else (value, value != operand)
    )


def _before_clamp(value: ir.Value, limit: float) -> ir.Value:
    op = producer(value)
    if op is None:
        return value
    operands = list(op.operands)
    if op.name == "stablehlo.clamp":
        bounds = _constant(operands[0]), _constant(operands[2])
        return operands[1] if bounds == (-limit, limit) else value
    bound = {"stablehlo.minimum": limit, "stablehlo.maximum": -limit}.get(op.name)
    if bound is None:
        return value
    for one, other in (operands, reversed(operands)):
        if _constant(one) == bound:
            return _before_clamp(other, limit)
    return value


def _constant(value: ir.Value) -> float | None:
    """The number that all elements of `value` are, where the program says so."""
    op = producer(value)
    while op is not None and op.name in _SAME_NUMBER:
        op = producer(op.operands[0])
    if op is None or op.name != "stablehlo.constant":
        return None
    # The bindings have no class for dense complex numbers, and fail on reading them.
    if not isinstance(element_type(op.results[0]), ir.FloatType):
        return None
    attribute = op.attributes["value"]
    if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.is_splat:
        return None
    return float(ir.FloatAttr(attribute.get_splat_value()).value)
