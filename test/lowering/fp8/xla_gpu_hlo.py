"""StableHLO as XLA's pattern matcher sees it in HLO: what the oracle of FP8 matmuls is made of."""

from torch_mlir import ir


def element(value: ir.Value) -> str:
    return str(ir.ShapedType(value.type).element_type)


def shape(value: ir.Value) -> list[int]:
    return list(ir.ShapedType(value.type).shape)


def is_f8(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType) and element(value).startswith("f8")


def defining(value: ir.Value, *names: str) -> ir.Operation | None:
    """The StableHLO op that makes `value`, if its name is one of `names` (of any, if none)."""
    if not isinstance(value.owner, ir.Operation | ir.OpView):
        return None
    op = value.owner.operation
    return op if not names or op.name.removeprefix("stablehlo.") in names else None


def broadcast_scalar(value: ir.Value) -> ir.Value | None:
    """m::Broadcast(m::Op(&scalar)): what is broadcast; a splat constant counts as one."""
    if (op := defining(value, "broadcast_in_dim")) is not None:
        return op.operands[0]
    return value if splat(value) is not None else None


def splat(value: ir.Value) -> float | None:
    """The number that all elements of a constant are, a broadcast and reshaped one's too."""
    if (op := defining(value, "broadcast_in_dim", "reshape")) is not None:
        return splat(op.operands[0])
    op = defining(value, "constant")
    if op is None:
        return None
    attribute = ir.DenseElementsAttr(op.attributes["value"])
    if not attribute.is_splat:
        return None
    number = attribute.get_splat_value()
    return number.value if isinstance(number, ir.FloatAttr) else None


def is_scalar(value: ir.Value) -> bool:
    return not shape(value) or splat(value) is not None


def is_zero(value: ir.Value) -> bool:
    return splat(value) == 0


def is_lost(scale: ir.Value) -> bool:
    """Whether a convert, of no constant, is between the scale and its broadcast."""
    op = defining(scale, "convert", "reshape")
    if op is None or splat(op.operands[0]) is not None:
        return False
    return op.name == "stablehlo.convert" or is_lost(op.operands[0])


def users(value: ir.Value) -> list[ir.Operation]:
    """The different ops that use `value`; a return is one."""
    found: list[ir.Operation] = []
    for use in value.uses:
        op = use.owner.operation
        if op not in found:
            found.append(op)
    return found


def name(op: ir.Operation) -> str:
    return op.name.removeprefix("stablehlo.")


def other_operands(op: ir.Operation, value: ir.Value) -> list[ir.Value]:
    """In any order: the operands of a binary op that stand beside `value`."""
    left, right = op.operands
    return [b for a, b in ((left, right), (right, left)) if a == value]
