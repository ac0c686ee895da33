"""Which dots and convolutions are quantized, and why the others are left as they are."""

import math
from dataclasses import dataclass
from numbers import Integral

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.context import format_location
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.chlo_ragged_dots import RAGGED_DOT, ragged_numbers
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.fp8.collectives.wire import travelled
from mlir_fp8.lowering.fp8.scaling.contractions import (
    batching_dims,
    contracting_dims,
    is_convolution,
)
from mlir_fp8.lowering.fp8.scaling.gradients import Gradient
from mlir_fp8.lowering.fp8.scaling.origins import origin
from mlir_fp8.lowering.rewriting.stablehlo import element_type, has_static_shape

SKIP = "mlir_fp8.skip"
PRODUCTS = (
    "stablehlo.dot_general",
    "stablehlo.dot",
    "stablehlo.convolution",
    "stablehlo.dynamic_conv",
    "stablehlo.einsum",
    RAGGED_DOT,
)
_WIDE = ("f32", "bf16", "f16")
_STRUCTURED = ("stablehlo.while", "stablehlo.if", "stablehlo.case", "func.func")


@dataclass(frozen=True)
class Selection:
    """What is left out, beside ops with the attribute `mlir_fp8.skip`.

    `min_size`: products with a size of rows, columns or summands below it. `skip_first`,
    `skip_last`: that many forward products, in program order, and their derivatives.
    `skip_batched`: dots with batching dimensions, which attention consists of.
    """

    min_size: int = 0
    skip_first: int = 0
    skip_last: int = 0
    skip_batched: bool = False

    def __post_init__(self) -> None:
        for name in ("min_size", "skip_first", "skip_last"):
            count = getattr(self, name)
            if not isinstance(count, Integral) or count < 0:
                raise Fp8Error(f"{name} is {count}: it is a number, 0 or more")

    def reason_to_leave(self, op: ir.Operation) -> str:
        """Why `op`, one of `PRODUCTS`, is left as it is; nothing if it is quantized."""
        return _unable(op) or self._unwanted(op)

    def _unwanted(self, op: ir.Operation) -> str:
        if reason := is_skipped(op):
            return reason
        if self.skip_batched and batching_dims(op, 0):
            return "has batching dimensions (skip-batched)"
        smallest = min(product_sizes(op)) if self.min_size else 0
        if smallest < self.min_size:
            sizes = "x".join(map(str, product_sizes(op)))
            return f"is of {sizes} rows, columns and summands (min-size {self.min_size})"
        return ""

    def at_the_ends(self, verdicts: dict[ir.Operation, Gradient]) -> dict[ir.Operation, str]:
        """Of ops that would be quantized those that are first or last, and why they are left."""
        forward = [op for op, verdict in verdicts.items() if verdict.operand == "none"]
        first = forward[: self.skip_first]
        last = forward[len(forward) - self.skip_last :] if self.skip_last else []
        left = dict.fromkeys(first, f"is among the first {self.skip_first} (skip-first)")
        left.update(dict.fromkeys(last, f"is among the last {self.skip_last} (skip-last)"))
        for op, verdict in verdicts.items():
            of = verdict.forward
            if verdict.operand != "none" and of is not None and of in left:
                place = format_location(of.location)
                left[op] = f"is the derivative of the op at {place}, which is left"
        return left


def product_sizes(op: ir.Operation) -> tuple[int, int, int]:
    """Rows, columns and summands of a product seen as matrices; of a dot, of each batch."""
    lhs, rhs, result = (
        ir.RankedTensorType(value.type).shape for value in (*op.operands[:2], op.results[0])
    )
    if is_convolution(op):
        numbers = _stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
        columns = numbers.kernel_output_feature_dimension
        summands = math.prod(size for dim, size in enumerate(rhs) if dim != columns)
        features = numbers.output_feature_dimension
        rows = math.prod(size for dim, size in enumerate(result) if dim != features)
        return rows, rhs[columns], summands
    summed = [contracting_dims(op, side) for side in (0, 1)]
    taken = [{*summed[side], *batching_dims(op, side)} for side in (0, 1)]
    if op.name == RAGGED_DOT:
        taken[1].update(ragged_numbers(op)["rhs_group"])
    rows, columns = (
        math.prod(size for dim, size in enumerate(shape) if dim not in taken[side])
        for side, shape in enumerate((lhs, rhs))
    )
    return rows, columns, math.prod(rhs[dim] for dim in summed[1])


def _unable(op: ir.Operation) -> str:
    if op.name == "stablehlo.einsum":
        return "is an equation: stablehlo-einsum-to-dot-general makes dots of it"
    values = [*op.operands[:2], *op.results]
    if op.name == "stablehlo.dynamic_conv" or not all(map(has_static_shape, values)):
        return "has no static shape: stablehlo-refine-dynamism first"
    if any(ir.RankedTensorType(value.type).encoding is not None for value in values):
        return "has types with encodings"
    for value in values:
        element = str(element_type(value))
        if _is_small(element):
            return f"is in {element} already"
        if element not in _WIDE:
            return f"is in {element}, not in f32, bf16 or f16"
    for side, operand in zip(("lhs", "rhs"), op.operands, strict=False):
        if not travelled(operand) and (small := dequantized_from(operand)):
            ways_out = "fp8-fuse-scaled-dot keeps that, fp8-remove-quantizers drops it"
            return f"has a {side} dequantized from {small} already: {ways_out}"
    if "algorithm" in op.attributes:
        return "has an algorithm, which says how it is computed: drop that"
    return place_refusal(op)


def is_skipped(op: ir.Operation) -> str:
    """A reason to leave `op` if it has the attribute `mlir_fp8.skip`."""
    skipped = SKIP in op.attributes and op.attributes[SKIP] != ir.BoolAttr.get(False, op.context)
    return f"has {SKIP}" if skipped else ""


def place_refusal(op: ir.Operation) -> str:
    """Why nothing can be inserted where `op` is; nothing if it can."""
    parent = op.parent
    while parent is not None and parent.operation.name != "builtin.module":
        if parent.operation.name not in _STRUCTURED:
            return f"is inside {parent.operation.name}"
        parent = parent.operation.parent
    return ""


def dequantized_from(operand: ir.Value) -> str:
    """The small float that a wide operand stands for; nothing if it is rounded to none."""
    source = origin(operand, through_scaling=True)
    values = [source.value, *(op.results[0] for op in source.path if len(op.results) == 1)]
    elements = [str(element_type(value)) for value in values]
    return next(filter(_is_small, reversed(elements)), "")


def _is_small(element: str) -> bool:
    return element in FORMATS and FORMATS[element].bits <= 8
