"""Scales: the few numbers behind a tensor that data is multiplied or divided by."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8.scaled_dot.spread import Spread, blocks
from mlir_fp8.lowering.fp8.scaled_dot.values import format_of, holds, rounded, shape, splat_number
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, element_type, names

_WALKED = names("stablehlo", "broadcast_in_dim reshape transpose")
_TYPES = ("f32", "bf16", "f16", "f8E8M0FNU", "f8E4M3FN")


@dataclass(frozen=True)
class Scale:
    """Numbers spread over data.

    `elements` are the types that the numbers are converted to one after another, the root's own
    first and that of the step which uses them last. `number` is the one number of a constant.
    `broadcasts` says that the program repeats them, so that they are no tensor of the data's size.
    """

    spread: Spread
    elements: tuple[ir.Type, ...]
    number: float | None
    broadcasts: bool
    inverse: bool = False

    @property
    def is_single(self) -> bool:
        return self.spread.is_single

    @property
    def is_known_positive(self) -> bool:
        """Whether zero stays positive zero when scaled by it."""
        return self.number is not None and self.number > 0 and math.isfinite(self.number)

    def is_exact_in(self, element: ir.Type) -> bool:
        """Whether every number that it can be is one of `element`."""
        if self.number is not None:
            return rounded(self.number, element) == self.number
        last = next(
            index
            for index in range(len(self.elements))
            if all(holds(each, self.elements[index]) for each in self.elements[index:])
        )
        return any(holds(element, each) for each in self.elements[last:])

    def build(self, wanted: Sequence[int] | None = None, types: Sequence[str] = _TYPES) -> ir.Value:
        """The numbers as an op takes them, who converts them to the last element type itself.

        Of rank 0 where they are one number, else of the data's rank, or of the shape `wanted`.
        """
        compact = () if self.is_single else self.spread.compact_shape
        assert compact is not None
        value = self.spread.compact(compact if wanted is None else wanted)
        first = _first_direct(self.elements, types)
        for element in self.elements[1 : first + 1]:
            value = convert(value, element)
        return value


def _first_direct(elements: Sequence[ir.Type], types: Sequence[str]) -> int:
    """From where on one convert does the same as all of them."""
    for index, element in enumerate(elements):
        if str(element) in types and all(holds(each, element) for each in elements[index:-1]):
            return index
    return len(elements) - 1


def read_scale(value: ir.Value) -> Scale | None:
    """The numbers behind `value`; None where it is no float tensor of a static shape."""
    if (
        format_of(element_type(value)) is None
        or not ir.RankedTensorType(value.type).has_static_shape
    ):
        return None
    number = splat_number(value)
    if number is not None:
        return _constant(value, number)
    root, chain = value, []
    while (op := producer(root)) is not None and _is_walked(op, root):
        chain.append(op)
        root = op.operands[0]
    spread: Spread | None = Spread.whole(root)
    elements = [ir.RankedTensorType(root.type).element_type]
    broadcasts = False
    for op in reversed(chain):
        result = shape(op.results[0])
        if op.name == "stablehlo.convert":
            elements.append(ir.RankedTensorType(op.results[0].type).element_type)
            continue
        if op.name == "stablehlo.reshape":
            moved = spread.reshape(result)
        elif op.name == "stablehlo.transpose":
            moved = spread.transpose(list(ir.DenseI64ArrayAttr(op.attributes["permutation"])))
        else:
            mapping = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
            moved = spread.broadcast_in_dim(mapping, result)
            broadcasts = True
        # A cut that no index tells: the numbers are read after it.
        if moved is None:
            elements = elements[-1:]
            moved, broadcasts = Spread.whole(op.results[0]), False
        spread = moved
    return Scale(spread, tuple(elements), None, broadcasts)


def _is_walked(op: ir.Operation, value: ir.Value) -> bool:
    source = element_type(op.operands[0]) if op.operands else None
    if op.name == "stablehlo.convert":
        return format_of(source) is not None
    # A single number is taken as it is, whatever it was cut out of.
    return op.name in _WALKED and bool(shape(value))


def _constant(value: ir.Value, number: float) -> Scale:
    element = ir.RankedTensorType(value.type).element_type

    def make() -> ir.Value:
        tensor = ir.RankedTensorType.get([], element)
        attribute = ir.FloatAttr.get(element, number)
        splat = ir.DenseElementsAttr.get_splat(tensor, attribute)
        return build("constant", tensor, [], {"value": splat})

    dims = Spread.whole(value).broadcast_in_dim([], shape(value)).dims
    return Scale(Spread(make, dims), (element,), number, True)


def operand_scale(op: ir.Operation) -> Scale:
    """The scale of an `fp8.quantize` or `fp8.dequantize`."""
    value = op.operands[1]
    data, result = (ir.RankedTensorType(each.type) for each in (op.operands[0], op.results[0]))
    step = result.element_type if op.name == "fp8.dequantize" else data.element_type
    own = ir.RankedTensorType(value.type).element_type
    elements = (own,) if own == step else (own, step)
    return Scale(
        blocks(value, shape(op.operands[0])),
        elements,
        splat_number(value),
        True,
        is_set(op, "inverse"),
    )


def is_set(op: ir.Operation, flag: str) -> bool:
    """Whether a flag, a unit or bool attribute, is there and true."""
    return flag in op.attributes and op.attributes[flag] != ir.BoolAttr.get(False)
