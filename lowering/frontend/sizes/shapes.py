"""Ops of the shape dialect: a shape is a rank-1 tensor of i64, a size a rank-0 one.

Errors, of which StableHLO has none, become assertions, and a witness that they hold is nothing.
"""

from collections.abc import Callable, Sequence

from torch_mlir import ir

from mlir_fp8.lowering.frontend.sizes.build import (
    assertion,
    binary,
    both,
    compare,
    concatenate,
    dimension,
    element,
    elements,
    rank,
    select,
    shape,
    shape_of,
    size,
    vector,
)
from mlir_fp8.lowering.rewriting.stablehlo import names

Lowering = Callable[[ir.Operation, list[ir.Value]], ir.Value | None]
_WITNESSES = names("shape", "assuming_all const_witness cstr_broadcastable cstr_eq cstr_require")


def lower(op: ir.Operation, operands: list[ir.Value]) -> ir.Value | None:
    """The tensor for the result of `op`, one of `SHAPES`; None for a witness."""
    return _LOWERINGS[op.name](op, operands)


def gives_witness(op: ir.Operation) -> bool:
    """Whether `op` has a result that no tensor stands for."""
    return op.name in _WITNESSES


def _constant_shape(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    return shape([int(each) for each in ir.DenseIntElementsAttr(op.attributes["shape"])])


def _constant_size(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    return size(ir.IntegerAttr(op.attributes["value"]).value)


def _constant_witness(op: ir.Operation, operands: list[ir.Value]) -> None:
    if not ir.BoolAttr(op.attributes["passing"]).value:
        assertion(both([compare("EQ", size(0), size(1))]), "the witness does not hold")


def _dimension(op: ir.Operation, operands: list[ir.Value]) -> ir.Value | None:
    """Of a tensor, whose index has to be a constant."""
    index = constant_index(op.operands[1])
    return None if index is None else dimension(operands[0], index)


def _extent(op: ir.Operation, operands: list[ir.Value]) -> ir.Value | None:
    index = constant_index(op.operands[1])
    if index is None or not 0 <= index < rank(operands[0]):
        return None
    return element(operands[0], [index])


def constant_index(value: ir.Value) -> int | None:
    """What an index or size is where it is a constant."""
    if not isinstance(value, ir.OpResult):
        return None
    if value.owner.name not in ("arith.constant", "shape.const_size"):
        return None
    attribute = value.owner.attributes["value"]
    return attribute.value if isinstance(attribute, ir.IntegerAttr) else None


def _element_count(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    count = size(1)
    for extent in elements(operands[0]):
        count = binary("multiply", count, extent)
    return count


def _padded(shapes: Sequence[ir.Value]) -> list[ir.Value]:
    """All of the longest's rank: sizes of 1 stand before the others."""
    longest = max(map(rank, shapes))
    return [concatenate([shape([1] * (longest - rank(each))), each]) for each in shapes]


def _broadcast(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    result, *others = _padded(operands)
    for other in others:
        result = select(compare("EQ", result, shape([1] * rank(result))), other, result)
    return result


def _is_broadcastable(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    result, *others = _padded(operands)
    ones = shape([1] * rank(result))
    truths: list[ir.Value] = []
    for other in others:
        is_one = compare("EQ", result, ones)
        fits = binary("or", compare("EQ", result, other), compare("EQ", other, ones))
        truths += elements(binary("or", is_one, fits))
        result = select(is_one, other, result)
    return both(truths)


def _are_equal(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    first, *others = operands
    truths: list[ir.Value] = []
    for other in others:
        if rank(other) != rank(first):
            return compare("EQ", size(0), size(1))
        truths += elements(compare("EQ", first, other))
    return both(truths)


def _require_broadcastable(op: ir.Operation, operands: list[ir.Value]) -> None:
    _require(_is_broadcastable(op, operands), "required broadcastable shapes", operands)


def _require_equal(op: ir.Operation, operands: list[ir.Value]) -> None:
    _require(_are_equal(op, operands), "required equal shapes", operands)


def _require(holds: ir.Value, what: str, shapes: Sequence[ir.Value]) -> None:
    """The texts are upstream's, in `convert-shape-constraints`; the sizes are added."""
    inputs: list[ir.Value] = []
    texts: list[str] = []
    for each in shapes:
        numbers = range(len(inputs), len(inputs) + rank(each))
        texts.append(f"[{', '.join(f'{{{number}}}' for number in numbers)}]")
        inputs += elements(each)
    assertion(holds, f"{what}: {' and '.join(texts)}", inputs)


def _require_truth(op: ir.Operation, operands: list[ir.Value]) -> None:
    assertion(operands[0], ir.StringAttr(op.attributes["msg"]).value)


def _no_witness(op: ir.Operation, operands: list[ir.Value]) -> None:
    """Those before it asserted what it is of."""


def _elementwise(name: str) -> Lowering:
    return lambda op, operands: binary(name, *operands)


def _itself(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    return operands[0]


_LOWERINGS: dict[str, Lowering] = {
    "shape.add": _elementwise("add"),
    "shape.assuming_all": _no_witness,
    "shape.broadcast": _broadcast,
    "shape.concat": lambda op, operands: concatenate(operands),
    "shape.const_shape": _constant_shape,
    "shape.const_size": _constant_size,
    "shape.const_witness": _constant_witness,
    "shape.cstr_broadcastable": _require_broadcastable,
    "shape.cstr_eq": _require_equal,
    "shape.cstr_require": _require_truth,
    "shape.dim": _dimension,
    "shape.div": _elementwise("divide"),
    "shape.from_extent_tensor": _itself,
    "shape.from_extents": lambda op, operands: vector(operands),
    "shape.get_extent": _extent,
    "shape.index_to_size": _itself,
    "shape.is_broadcastable": _is_broadcastable,
    "shape.max": _elementwise("maximum"),
    "shape.min": _elementwise("minimum"),
    "shape.mul": _elementwise("multiply"),
    "shape.num_elements": _element_count,
    "shape.rank": lambda op, operands: size(rank(operands[0])),
    "shape.shape_eq": _are_equal,
    "shape.shape_of": lambda op, operands: shape_of(operands[0]),
    "shape.size_to_index": _itself,
    "shape.to_extent_tensor": _itself,
}
SHAPES = frozenset(_LOWERINGS)
