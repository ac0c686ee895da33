"""Traces the operand of a dot back to the f8 tensor that it was dequantized from."""

from dataclasses import dataclass, field, replace

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.dialects._fp8_scales import DATA_TYPES
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.moves import Move, move_scale, moves_through
from mlir_fp8.lowering.fp8.scaled_dot.scale import Scale, operand_scale, read_scale
from mlir_fp8.lowering.fp8.scaled_dot.unscaled import not_fp8, open_shape, wide_operand
from mlir_fp8.lowering.fp8.scaled_dot.values import holds, is_small
from mlir_fp8.lowering.rewriting.stablehlo import element_type, has_static_shape

_LIMIT = 64
"""How many ops are looked at between an f8 tensor and the dot."""


@dataclass(frozen=True)
class Operand:
    """`source`, of f8, moved by `moves` (the first one first), scaled by `scale` in `element`.

    Without a scale `element` is None: the numbers are those of the f8 tensor.
    """

    source: ir.Value
    moves: tuple[Move, ...]
    scale: Scale | None
    element: ir.Type | None


@dataclass(frozen=True)
class _Path:
    """The ops from the f8 tensor to the dot, found from the dot on; the last one is the first."""

    source: ir.Value
    steps: tuple[Move | ir.Operation, ...] = ()
    scaling: tuple[int, Scale] | None = field(default=None)
    """The index in `steps` of the op that scales, and the scale."""


def match_operand(value: ir.Value, part: str, *, assume_finite: bool) -> Operand | Obstacle:
    """The f8 tensor behind `value`, or what is in the way of it.

    `assume_finite` says that zero times any scale is zero, so that scaled data padded with zeros is
    padded data scaled.
    """
    path = _Tracer(part).trace(value, _LIMIT)
    if not isinstance(path, Obstacle):
        return _follow(path, part, assume_finite)
    return wide_operand(value, part, path) if path.kind == "not-fp8" else path


class _Tracer:
    def __init__(self, part: str) -> None:
        self._part = part
        self._known: dict[ir.Value, _Path | Obstacle] = {}

    def trace(self, value: ir.Value, limit: int) -> _Path | Obstacle:
        if value not in self._known:
            self._known[value] = self._trace(value, limit)
        return self._known[value]

    def _trace(self, value: ir.Value, limit: int) -> _Path | Obstacle:
        if is_small(value):
            return _Path(value)
        if str(element_type(value)) in DATA_TYPES:
            return open_shape(value, self._part)
        op = producer(value)
        if op is None or not limit:
            return not_fp8(value, self._part)
        if op.name == "stablehlo.convert":
            return _extended(self.trace(op.operands[0], limit - 1), op)
        if op.name in ("stablehlo.multiply", "stablehlo.divide", "fp8.dequantize"):
            return self._trace_scaled(op, limit)
        moves = moves_through(op) if has_static_shape(value) else []
        tried = [_extended(self.trace(op.operands[m.operand], limit - 1), m) for m in moves]
        found = next((each for each in tried if isinstance(each, _Path)), None)
        return found or (*tried, not_fp8(value, self._part))[0]

    def _trace_scaled(self, op: ir.Operation, limit: int) -> _Path | Obstacle:
        if op.name == "fp8.dequantize":
            return _Path(op.operands[0], (op,), (0, operand_scale(op)))
        inverse = op.name == "stablehlo.divide"
        obstacles = []
        for data, factor in ((0, 1),) if inverse else ((0, 1), (1, 0)):
            path = self.trace(op.operands[data], limit - 1)
            if isinstance(path, Obstacle):
                obstacles.append(path)
                continue
            scale = _scale_or_obstacle(op, op.operands[factor], self._part)
            if isinstance(scale, Obstacle):
                obstacles.append(scale)
            elif path.scaling is not None:
                obstacles.append(_scaled_twice(op, self._part))
            else:
                scaled = replace(scale, inverse=inverse)
                return replace(path, steps=(*path.steps, op), scaling=(len(path.steps), scaled))
        # That one side is no f8 matters less than what is wrong with the scale of the other.
        found = next((each for each in obstacles if each.kind != "not-fp8"), None)
        return found or not_fp8(op.results[0], self._part)


def _extended(path: _Path | Obstacle, step: Move | ir.Operation) -> _Path | Obstacle:
    return path if isinstance(path, Obstacle) else replace(path, steps=(*path.steps, step))


def _scale_or_obstacle(op: ir.Operation, value: ir.Value, part: str) -> Scale | Obstacle:
    scale = read_scale(value)
    if scale is None:
        message = f"the scale is {value.type}, which is no float tensor of a static shape"
        edit = "scale by an f32, bf16 or f16 tensor of a static shape"
        return Obstacle("scale-type", part, message, op.location, edit)
    if not scale.is_single and not scale.broadcasts:
        message = f"{op.name} takes {value.type}, a number for each element, which is no scale"
        edit = "scale by a broadcast of one number, of one per row or column, or of one per block"
        return Obstacle("scale-per-element", part, message, op.location, edit)
    return scale


def _scaled_twice(op: ir.Operation, part: str) -> Obstacle:
    message = f"{op.name} scales what is scaled already, which rounds once more"
    edit = "multiply the scales first, as scalars, and the f8 data by their product"
    return Obstacle("scale-twice", part, message, op.location, edit)


def _follow(path: _Path, part: str, assume_finite: bool) -> Operand | Obstacle:
    """Goes from the f8 tensor to the dot and looks at what each step does to the numbers."""
    moves: list[Move] = []
    scale: Scale | None = None
    element: ir.Type | None = None
    numbers = element_type(path.source)
    for index, step in enumerate(path.steps):
        if isinstance(step, Move):
            moves.append(step)
            if scale is not None:
                moved = _moved(scale, step, part, assume_finite)
                if isinstance(moved, Obstacle):
                    return moved
                scale = moved
            continue
        result = ir.RankedTensorType(step.results[0].type).element_type
        if path.scaling is not None and index == path.scaling[0]:
            scale, numbers, element = path.scaling[1], result, result
        elif not holds(result, numbers):
            if not _rounds_the_product(scale, path.source, element, result):
                return _rounded_twice(step, numbers, result, part)
            numbers = element = result
    if scale is not None and not scale.is_single and scale.spread.compact_shape is None:
        message = "the scales are tiled: neighbours along a dimension have different ones"
        edit = "give each block of neighbours one scale, broadcast along the block"
        location = path.source.location
        return Obstacle("scale-layout", part, message, location, edit)
    return Operand(path.source, tuple(moves), scale, element)


def _rounds_the_product(
    scale: Scale | None, source: ir.Value, element: ir.Type | None, result: ir.Type
) -> bool:
    """Whether a product in f32, then rounded to `result`, is what a product in `result` gives.

    That is how the product of two numbers of bf16 or f16 is defined here (docs/numerics.md).
    """
    return (
        scale is not None
        and isinstance(element, ir.F32Type)
        and holds(result, element_type(source))
        and str(result) in ("bf16", "f16")
        and scale.is_exact_in(result)
    )


def _moved(scale: Scale, move: Move, part: str, assume_finite: bool) -> Scale | Obstacle:
    location, name = move.op.location, move.op.name
    if move.adds_zeros and not scale.is_known_positive and not assume_finite:
        message = f"{name} adds zeros to scaled data, but zero times an infinite scale is NaN"
        edit = f"apply {name} to the f8 tensor, or run the pass with assume-finite-scales"
        return Obstacle("zeros-after-scale", part, message, location, edit)
    spread = move_scale(scale.spread, move)
    if spread is None:
        message = f"{name} before the dot cuts or mixes the blocks that the scales belong to"
        edit = f"apply {name} to the f8 tensor, and scale its result"
        return Obstacle("scale-moved", part, message, location, edit)
    return replace(scale, spread=spread)


def _rounded_twice(
    op: ir.Operation, numbers: ir.Type | None, result: ir.Type, part: str
) -> Obstacle:
    message = f"{op.name} rounds to {result} what was rounded to {numbers} before"
    edit = f"drop the convert, or give the scale as {result} and multiply in {result}"
    return Obstacle("rounds-twice", part, message, op.location, edit)
