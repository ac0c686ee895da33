"""A clamp to the range of the format that is rounded to next: how frameworks saturate."""

from torch_mlir import ir

from mlir_fp8.lowering._stablehlo import element_type, narrow_format

_SAME_NUMBER = ("stablehlo.broadcast_in_dim", "stablehlo.reshape", "stablehlo.convert")


def saturated_value(op: ir.Operation) -> ir.Value | None:
    """What `op` rounds to a narrow float by way of a clamp to exactly that float's range.

    The clamp is a `clamp`, or `minimum` and `maximum` with constants, as jax writes it.
    """
    if op.name != "stablehlo.convert":
        return None
    fmt = narrow_format(op.results[0])
    if fmt is None:
        return None
    limit = float(fmt.max)
    value = _before_clamp(op.operands[0], limit)
    return None if value == op.operands[0] else value


def _before_clamp(value: ir.Value, limit: float) -> ir.Value:
    op = _owner(value)
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
    op = _owner(value)
    while op is not None and op.name in _SAME_NUMBER:
        op = _owner(op.operands[0])
    if op is None or op.name != "stablehlo.constant":
        return None
    # The bindings have no class for dense complex numbers, and fail on reading them.
    if not isinstance(element_type(op.results[0]), ir.FloatType):
        return None
    attribute = op.attributes["value"]
    if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.is_splat:
        return None
    return float(ir.FloatAttr(attribute.get_splat_value()).value)


def _owner(value: ir.Value) -> ir.Operation | None:
    owner = value.owner
    return owner.operation if isinstance(owner, ir.Operation | ir.OpView) else None
