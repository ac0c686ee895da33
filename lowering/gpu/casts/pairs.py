"""Vectors in pairs of elements, as conversion instructions take them."""

from collections.abc import Callable

from torch_mlir import ir
from torch_mlir.dialects import arith

from mlir_fp8.lowering.codec.float_codec import constant, with_element


def lanes_of(type_: ir.Type) -> int:
    """Of a vector of one dimension; 1 of a scalar."""
    return type_.shape[0] if isinstance(type_, ir.VectorType) else 1


def integer(bits: int) -> ir.Type:
    return ir.IntegerType.get_signless(bits)


def in_pairs(
    x: ir.Value, target: ir.Type, made: Callable[[ir.Value], ir.Value], word: ir.Type
) -> ir.Value:
    """What `made` gives for each pair of elements of `x`, as elements of type `target`.

    `made` takes a vector of two and gives a value of type `word`, as wide as two of `target`. A
    scalar or the last of an odd number has a zero beside it.
    """
    lanes = lanes_of(x.type)
    element = x.type.element_type if isinstance(x.type, ir.VectorType) else x.type
    pair = ir.VectorType.get([2], element)
    zero = constant(element, element, 0)
    words: list[ir.Value] = []
    for at in range(0, lanes, 2):
        ends = [_lane(x, at), _lane(x, at + 1) if at + 1 < lanes else zero]
        words.append(made(_operation("vector.from_elements", pair, *ends)))
    joined = _operation("vector.from_elements", ir.VectorType.get([len(words)], word), *words)
    whole = ir.VectorType.get([2 * len(words)], target)
    found = _operation("vector.bitcast", whole, joined)
    if not isinstance(x.type, ir.VectorType):
        return _lane(found, 0)
    if lanes == 2 * len(words):
        return found
    ends = [_lane(found, at) for at in range(lanes)]
    return _operation("vector.from_elements", ir.VectorType.get([lanes], target), *ends)


def bits_of(x: ir.Value, width: int) -> ir.Value:
    """The bits of floats, of `width` each."""
    return arith.bitcast(with_element(x.type, integer(width)), x)


def _lane(x: ir.Value, at: int) -> ir.Value:
    if not isinstance(x.type, ir.VectorType):
        return x
    position = ir.DenseI64ArrayAttr.get([at])
    return _operation("vector.extract", x.type.element_type, x, static_position=position)


def _operation(
    name: str, result: ir.Type, *operands: ir.Value, **attributes: ir.Attribute
) -> ir.Value:
    op = ir.Operation.create(name, results=[result], operands=list(operands), attributes=attributes)
    return op.results[0]
