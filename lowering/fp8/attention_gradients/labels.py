"""Which axis of an attention each dimension of a tensor is.

A label is the number of a dimension of the scores, or `DEPTH` or `WIDTH`, of heads of q and k and
of v; None is a dimension of size 1, `SPREAD` one along which all is the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8.ops.attention import reshaped
from mlir_fp8.lowering.fp8.ops.scaling import with_shape
from mlir_fp8.lowering.fp8.scaled_dot.values import holds, shape
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, element_type

DEPTH, WIDTH, SPREAD = -1, -2, -3
Labels = tuple[int | None, ...]
MOVES = tuple(f"stablehlo.{each}" for each in ("transpose", "reshape", "broadcast_in_dim"))


@dataclass(frozen=True)
class Named:
    """A value, which nothing moved, and its labels."""

    value: ir.Value
    labels: Labels


def named(value: ir.Value, labels: Labels) -> Named:
    """What `value` is moved from, with the labels that it has."""
    while (op := producer(value)) is not None and op.name in MOVES:
        before = before_move(op, labels)
        if before is None:
            break
        value, labels = op.operands[0], before
    return Named(value, labels)


def narrowed(each: Named) -> Named:
    """What conversions that never round made `each` of."""
    while (op := producer(each.value)) is not None and op.name == "stablehlo.convert":
        source = op.operands[0]
        if not holds(element_type(each.value), element_type(source)):
            break
        each = named(source, each.labels)
    return each


def before_move(op: ir.Operation, labels: Labels) -> Labels | None:
    """Labels of the operand of an op of `MOVES`; None where it repeats, cuts or joins."""
    sizes = shape(op.operands[0])
    if op.name == "stablehlo.transpose":
        found: list[int | None] = [None] * len(sizes)
        order = ir.DenseI64ArrayAttr(op.attributes["permutation"])
        for label, dim in zip(labels, order, strict=True):
            found[dim] = label
        return tuple(found)
    if _long(sizes) != _long(shape(op.results[0])):
        return None
    if op.name == "stablehlo.broadcast_in_dim":
        places = ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"])
        return tuple(labels[dim] for dim in places)
    return _refilled(sizes, labels, shape(op.results[0]))


def after_move(op: ir.Operation, labels: Labels) -> Labels | None:
    """Labels of the result of an op of `MOVES`; None where it cuts or joins."""
    sizes, result = shape(op.operands[0]), shape(op.results[0])
    if op.name == "stablehlo.transpose":
        return tuple(labels[dim] for dim in ir.DenseI64ArrayAttr(op.attributes["permutation"]))
    if op.name == "stablehlo.broadcast_in_dim":
        found = [SPREAD if size > 1 else None for size in result]
        for at, dim in enumerate(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"])):
            if sizes[at] > 1:
                found[dim] = labels[at]
        return tuple(found)
    return _refilled(result, labels, sizes) if _long(sizes) == _long(result) else None


def _long(sizes: Sequence[int]) -> list[int]:
    return [size for size in sizes if size != 1]


def _refilled(sizes: Sequence[int], labels: Labels, of: Sequence[int]) -> Labels:
    """`labels`, of a tensor of sizes `of`, of the same numbers with other dimensions of size 1."""
    left = iter([label for label, size in zip(labels, of, strict=True) if size != 1])
    return tuple(None if size == 1 else next(left) for size in sizes)


@dataclass(frozen=True)
class DotNumbers:
    """Dimensions of both operands of a `dot_general`."""

    batching: tuple[list[int], list[int]]
    contracting: tuple[list[int], list[int]]

    @staticmethod
    def of(dot: ir.Operation) -> "DotNumbers":
        numbers = _stablehlo.DotDimensionNumbers(dot.attributes["dot_dimension_numbers"])
        return DotNumbers(
            (list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)),
            (list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)),
        )

    def free(self, dot: ir.Operation, side: int) -> list[int]:
        taken = {*self.batching[side], *self.contracting[side]}
        return [dim for dim in range(len(shape(dot.operands[side]))) if dim not in taken]


def of_result(dot: ir.Operation, labels: tuple[Labels, Labels]) -> Labels | None:
    """Labels of a dot's result by those of its operands; None where these do not meet."""
    numbers = DotNumbers.of(dot)
    for pairs in (numbers.batching, numbers.contracting):
        if any(labels[0][a] != labels[1][b] for a, b in zip(*pairs, strict=True)):
            return None
    kept = [labels[0][dim] for dim in numbers.batching[0]]
    for side in range(2):
        kept += [labels[side][dim] for dim in numbers.free(dot, side)]
    return tuple(kept)


def of_other(dot: ir.Operation, side: int, labels: Labels, free: int) -> Labels | None:
    """Labels of the operand that is not `side`, whose one free dimension is `free`."""
    numbers, other = DotNumbers.of(dot), 1 - side
    found: list[int | None] = [None] * len(shape(dot.operands[other]))
    for pairs in (numbers.batching, numbers.contracting):
        for mine, theirs in zip(pairs[side], pairs[other], strict=True):
            found[theirs] = labels[mine]
    own = [dim for dim in numbers.free(dot, other) if shape(dot.operands[other])[dim] != 1]
    if len(own) != 1:
        return None
    found[own[0]] = free
    return tuple(found)


def of_operands(dot: ir.Operation, labels: Labels, contracted: int) -> list[Labels] | None:
    """Labels of both operands by those of the result, of a dot over one dimension."""
    numbers = DotNumbers.of(dot)
    if len(numbers.contracting[0]) != 1:
        return None
    found: list[Labels] = []
    at = len(numbers.batching[0])
    for side in range(2):
        own: list[int | None] = [None] * len(shape(dot.operands[side]))
        for place, dim in enumerate(numbers.batching[side]):
            own[dim] = labels[place]
        for dim in numbers.free(dot, side):
            own[dim] = labels[at]
            at += 1
        own[numbers.contracting[side][0]] = contracted
        found.append(tuple(own))
    return found


def gathered(each: Named, order: Sequence[int], sizes: Sequence[int]) -> ir.Value:
    """The value with its dimensions in `order`, in the shape `sizes`."""
    long = [
        size
        for size, label in zip(shape(each.value), each.labels, strict=True)
        if label is not None
    ]
    labels = [label for label in each.labels if label is not None]
    value = reshaped(each.value, long)
    value = _permuted(value, [labels.index(label) for label in order if label in labels])
    return reshaped(value, sizes)


def placed(
    value: ir.Value, order: Sequence[int], sizes: Mapping[int, int], like: ir.Value, labels: Labels
) -> ir.Value:
    """The inverse: what has the dimensions `order` as `like`, which has `labels`."""
    order = [label for label in order if sizes.get(label, 1) != 1]
    value = reshaped(value, [sizes[label] for label in order])
    wanted = [label for label in labels if label is not None]
    value = _permuted(value, [order.index(label) for label in wanted])
    element = element_type(like)
    assert element is not None
    return convert(reshaped(value, shape(like)), element)


def _permuted(value: ir.Value, order: Sequence[int]) -> ir.Value:
    if list(order) == sorted(order):
        return value
    type_ = with_shape(value, [shape(value)[dim] for dim in order])
    attributes = {"permutation": ir.DenseI64ArrayAttr.get(list(order))}
    return build("transpose", type_, [value], attributes)
