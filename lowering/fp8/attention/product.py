"""One of the two products of an attention: a dot, or an `fp8.scaled_dot`."""

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.dialects._fp8_product_parts import product_parts
from mlir_fp8.dialects._fp8_product_shapes import result_dimensions
from mlir_fp8.lowering.fp8.attention.repeats import moved, spread_of
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.moves import move_data
from mlir_fp8.lowering.fp8.scaled_dot.operand import Operand, match_operand
from mlir_fp8.lowering.fp8.scaled_dot.product import dot_numbers, fast_accumulation
from mlir_fp8.lowering.fp8.scaled_dot.scale import Scale
from mlir_fp8.lowering.fp8.scaled_dot.spread import Spread, blocks
from mlir_fp8.lowering.fp8.scaled_dot.values import is_small, shape, splat_number
from mlir_fp8.lowering.rewriting.stablehlo import element_type

DOTS = ("stablehlo.dot_general", "stablehlo.dot", "fp8.scaled_dot")
_WIDE = ("f32", "bf16", "f16")


@dataclass(frozen=True)
class Side:
    """An operand of a dot: small data with a scale, or wide data.

    `build` makes the data in the dot's dimensions; `repeats` are the elements that it repeats.
    `element` is what it is dequantized to, None where it is multiplied as it is.
    """

    build: Callable[[], ir.Value]
    repeats: Spread
    scale: Scale | None
    element: ir.Type | None
    is_small: bool


@dataclass(frozen=True)
class Dot:
    """`sides` are those of lhs and rhs; `step` is what both are dequantized to, if they are."""

    op: ir.Operation
    sides: tuple[Side, Side]
    step: ir.Type | None
    alpha: float | None
    addend: ir.Value | None
    fast_accum: bool
    batching: tuple[list[int], list[int]]
    contracting: tuple[int, int]
    free: tuple[list[int], list[int]]


def read_dot(op: ir.Operation) -> Dot | Obstacle:
    """What `op`, of `DOTS`, multiplies, or why it is no product of an attention."""
    numbers = (
        dot_numbers(op) if op.name != "fp8.scaled_dot" else op.attributes["dot_dimension_numbers"]
    )
    of = _stablehlo.DotDimensionNumbers(numbers)
    contracting = (list(of.lhs_contracting_dimensions), list(of.rhs_contracting_dimensions))
    if len(contracting[0]) != 1:
        return _refusal("layout", "contracts other than one dimension", op, "reshape them to one")
    ranks = [len(shape(operand)) for operand in list(op.operands)[:2]]
    batching, *free = result_dimensions(ranks[0], ranks[1], numbers)
    places = (batching, list(of.rhs_batching_dimensions))
    rest = (places, (contracting[0][0], contracting[1][0]), (free[0], free[1]))
    return _scaled(op, *rest) if op.name == "fp8.scaled_dot" else _plain(op, *rest)


def _plain(op: ir.Operation, *rest: object) -> Dot | Obstacle:
    if str(element_type(op.results[0])) not in _WIDE:
        message = f"gives {element_type(op.results[0])}"
        return _refusal("result-type", message, op, "give f32, bf16 or f16")
    sides = [_side(value, name) for value, name in zip(op.operands, ("lhs", "rhs"), strict=True)]
    lhs, rhs = sides
    step = None
    if not (lhs.is_small and rhs.is_small and lhs.scale is None and rhs.scale is None):
        step = element_type(op.operands[0])
        if str(step) not in _WIDE or element_type(op.operands[1]) != step:
            message = f"multiplies {step} by {element_type(op.operands[1])}"
            return _refusal("operand-types", message, op, "give both in one of f32, bf16 and f16")
    types = [element_type(operand) for operand in op.operands]
    fast = fast_accumulation(op, [each for each in types if each is not None])
    if isinstance(fast, Obstacle):
        return fast
    return Dot(op, (lhs, rhs), step, None, None, fast, *rest)  # pyright: ignore[reportArgumentType]


def _scaled(op: ir.Operation, *rest: object) -> Dot | Obstacle:
    parts = product_parts(op)
    result, f32 = element_type(op.results[0]), ir.F32Type.get(op.context)
    has_more = (
        parts.bias is not None
        or parts.d_scale is not None
        or parts.beta is not None
        or parts.activation != "none"
        or parts.amax
        or parts.a_inverse
        or parts.b_inverse
        or str(result) not in _WIDE
    )
    is_stepped = parts.alpha is not None or parts.c is not None
    allowed = (f32,) if is_stepped else (f32, result)
    types = (parts.dot_type, parts.epilogue_type, *((result,) if is_stepped else ()))
    if has_more or any(each not in allowed for each in types):
        return _refusal("epilogue", "has an epilogue of its own", op, "leave it to other ops")
    sides = [
        _small(Operand(data, (), _own_scale(scale, data), parts.operand_type))
        for data, scale in ((parts.a, parts.a_scale), (parts.b, parts.b_scale))
    ]
    return Dot(  # pyright: ignore[reportCallIssue]
        op, (sides[0], sides[1]), parts.operand_type, parts.alpha, parts.c, parts.fast_accum,
        *rest,  # pyright: ignore[reportArgumentType]
    )  # fmt: skip


def _own_scale(value: ir.Value | None, data: ir.Value) -> Scale | None:
    if value is None:
        return None
    element = ir.RankedTensorType(value.type).element_type
    return Scale(blocks(value, shape(data)), (element,), splat_number(value), True)


def _side(value: ir.Value, part: str) -> Side:
    found = match_operand(value, part, assume_finite=False)
    if isinstance(found, Operand) and _is_dequantized(found, element_type(value)):
        return _small(found)
    small = is_small(value)
    return Side(lambda: value, spread_of(value), None, None, small)


def _is_dequantized(found: Operand, element: ir.Type | None) -> bool:
    """Whether the op says it: by scales that multiply, in the type that the dot takes."""
    is_divided = found.scale is not None and found.scale.inverse
    return found.element in (None, element) and not is_divided


def _small(found: Operand) -> Side:
    def make() -> ir.Value:
        return move_data(found.source, found.moves)

    repeats: Spread | None = Spread.whole(found.source)
    for move in found.moves:
        repeats = None if repeats is None or move.adds_zeros else moved(repeats, move.op)
    if repeats is None or repeats.compact_shape is None:
        end = found.moves[-1].op.results[0]
        repeats = Spread(make, Spread.whole(end).dims)
    return Side(make, repeats, found.scale, found.element, True)


def _refusal(kind: str, message: str, op: ir.Operation, edit: str) -> Obstacle:
    return Obstacle(kind, "dot", f"{op.name} {message}", op.location, edit)
