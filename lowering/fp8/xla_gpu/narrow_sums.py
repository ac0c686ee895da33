"""A product whose type is the one that its f32 sum is converted to: XLA's call then gives it.

What XLA:GPU fuses it finds at the product itself, not behind a convert: of an f32 product that is
scaled and converted to bf16 it makes a call that writes f32, and a kernel that converts.
"""

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.dialects.fp8 import Product
from mlir_fp8.lowering.fp8.ops.power_of_two import is_power_of_two
from mlir_fp8.lowering.fp8.scaling.quantizers import erase_unused
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, element_type, with_element

_HALVES = {"bf16", "f16"}


def scales_are_powers_of_two(parts: Product) -> bool:
    """Whether the sum is scaled, and by powers of two alone: where it is makes no difference."""
    if not parts.is_dot or parts.operand_type is not None:
        return False
    scales = [each for each in (parts.a_scale, parts.b_scale) if each is not None]
    return bool(scales) and all(map(is_power_of_two, scales))


def scales_bf16(parts: Product) -> bool:
    """Whether a sum becomes bf16 right after it is scaled, or might be scaled as bf16."""
    if not parts.is_dot or parts.operand_type is not None or parts.a_inverse or parts.b_inverse:
        return False
    bf16 = ir.BF16Type.get()
    if parts.dot_type == bf16:
        return parts.epilogue_type == bf16
    follow = (parts.alpha, parts.c, parts.bias, parts.d_scale)
    is_last = not parts.amax and parts.activation == "none" and follow == (None,) * 4
    is_f32 = parts.dot_type == parts.epilogue_type == ir.F32Type.get()
    return is_f32 and is_last and element_type(parts.op.results[0]) == bf16


def rounded_at_once(op: ir.Operation, values: list[ir.Value], *, narrow: bool) -> list[ir.Value]:
    """`values` of the product `op`, which gives the type that its f32 sum is converted to.

    The same numbers, unless the sum is scaled between: that happens only if `narrow`, to bf16. The
    factor is then rounded to bf16, and applied to the rounded sum; with factors that are powers of
    two (from 2^-100 to 2^126) the numbers are the same then too.
    """
    chain = _chain(op)
    rounded = chain[-1].results[0] if chain else None
    if rounded is None or chain[-1].name != "stablehlo.convert":
        return values
    element, factors = str(element_type(rounded)), chain[:-1]
    if factors and not (narrow and element == "bf16"):
        return values
    if element not in _allowed(op, is_bf16=bool(factors)):
        return values
    _give(op, element_type(rounded))
    with ir.InsertionPoint(chain[-1]), chain[-1].location:
        x = op.results[0]
        for factor in factors:
            x = build("multiply", x.type, [x, _narrowed(factor.operands[1])])
    values = [x if value == rounded else value for value in values]
    rounded.replace_all_uses_with(x)
    spread = [producer(factor.operands[1]) for factor in factors]
    erase_unused([*(op for op in spread if op is not None), *chain])
    return values


def _chain(op: ir.Operation) -> list[ir.Operation]:
    """The factors of the sum, and the convert behind them; each is all that uses the one before."""
    chain: list[ir.Operation] = []
    while not chain or chain[-1].name == "stablehlo.multiply":
        value = (chain[-1] if chain else op).results[0]
        users = [use.owner.operation for use in value.uses]
        if len(users) != 1 or users[0].name not in ("stablehlo.multiply", "stablehlo.convert"):
            return []
        if users[0].name == "stablehlo.multiply" and users[0].operands[0] != value:
            return []
        chain.append(users[0])
    return chain


def _allowed(op: ir.Operation, *, is_bf16: bool) -> set[str]:
    """The types that XLA has such a product in."""
    (operand,) = {str(element_type(each)) for each in op.operands}
    if operand.startswith("f8") and op.name == "stablehlo.dot_general":
        return _HALVES
    if is_bf16 and all(map(_is_f8, op.operands)):
        return {"bf16"}  # its operands become that, which holds all of f8
    return {operand} & _HALVES


def _is_f8(operand: ir.Value) -> bool:
    """Whether `operand` is an f8 tensor converted to f32."""
    op = producer(operand)
    if op is None or op.name != "stablehlo.convert":
        return False
    return str(element_type(op.operands[0])).startswith("f8")


def _give(op: ir.Operation, element: ir.Type | None) -> None:
    """Let the product `op` give `element`, of operands in a type that XLA has it of."""
    assert element is not None
    for index, operand in enumerate(list(op.operands)):
        if element_type(operand) == ir.F32Type.get() and _is_f8(operand):
            cast = ir.OpResult(operand).owner.operation
            with ir.InsertionPoint(op), op.location:
                op.operands[index] = convert(cast.operands[0], element)
            cast.erase()
    op.results[0].set_type(with_element(op.results[0].type, element))


def _narrowed(factor: ir.Value) -> ir.Value:
    """`factor`, f32, in bf16: what is spread is converted before."""
    element = ir.BF16Type.get()
    op = producer(factor)
    if op is None or op.name not in ("stablehlo.broadcast_in_dim", "stablehlo.reshape"):
        return convert(factor, element)
    attributes = {name: op.attributes[name] for name in op.attributes}
    name = op.name.removeprefix("stablehlo.")
    return build(name, with_element(factor.type, element), [_narrowed(op.operands[0])], attributes)
