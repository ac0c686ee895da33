"""Lint: scales that are no numbers to scale by, applied twice, or of the wrong value."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.base.operations import producer
from mlir_fp8.dialects._fp8_product_parts import product_parts
from mlir_fp8.dialects._fp8_ragged_parts import ragged_parts
from mlir_fp8.explaining.numbers import numbers
from mlir_fp8.lowering.fp8._quantizers import MOVES, quantizer
from mlir_fp8.lowering.fp8._scales import (
    Scale,
    dialect_scale,
    scale_of,
    small_format,
    widens_or_rounds,
)
from mlir_fp8.lowering.fp8.scaled_dot.values import splat_number
from mlir_fp8.lowering.rewriting.stablehlo import element_type, names

Finding = Iterator[tuple[str, str]]

_BINARY = names("stablehlo", "multiply divide")
_CLAMPS = names("stablehlo", "clamp minimum maximum")
_CONVERSIONS = names("fp8", "quantize dequantize")
_FUSED = names("fp8", "scaled_dot scaled_convolution")
_LONGEST_PATH = 16
_FACTORS = 4
_ABOUT_ONE = 0.01


def scale_constant(op: ir.Operation) -> Finding:
    """A constant scale that is 0, infinite or NaN, or becomes that in the type it is converted to.

    Scales are the other factor of a dequantize (a product with what is converted from FP8) and of a
    quantize (a product that is rounded to FP8), and operands of the `fp8` dialect's ops.
    """
    for value in _scales(op):
        wrong = _wrong_number(value)
        if wrong is not None:
            yield f"the scale {wrong}", "take a finite scale above 0, in a type that holds it"


def _scales(op: ir.Operation) -> list[ir.Value]:
    if op.name in _CONVERSIONS:
        return [op.operands[1]]
    if op.name in _FUSED:
        parts = product_parts(op)
        scales = (parts.a_scale, parts.b_scale, parts.d_scale)
        return [scale for scale in scales if scale is not None]
    if op.name == "fp8.scaled_ragged_dot":
        ragged = ragged_parts(op)
        return [scale for scale in (ragged.a_scale, ragged.b_scale) if scale is not None]
    if op.name not in _BINARY:
        return []
    dequantized = [i for i in (0, 1) if _is_dequantized(op.operands[i])]
    if dequantized:
        return [op.operands[1 - i] for i in dequantized]
    if not _is_quantized(op.results[0]):
        return []
    return list(op.operands)[1:] if op.name == "stablehlo.divide" else list(op.operands)


def _wrong_number(value: ir.Value) -> str | None:
    """What is wrong with a constant that `value` is, behind converts and moves."""
    path: list[ir.Operation] = []
    op = producer(value)
    while op is not None and (op.name in MOVES or widens_or_rounds(op)):
        path.insert(0, op)
        op = producer(op.operands[0])
    found = None if op is None else numbers(op)
    if op is None or found is None or not found.size or _is_mask(found, value):
        return None
    before, element = found, str(element_type(op.results[0]))
    if _trouble(before):
        return f"is {_trouble(before)}"
    for each in path:
        element = str(element_type(each.results[0]))
        with np.errstate(over="ignore", under="ignore"):
            after = before.astype(element_dtype(element)).astype(np.float64)
        if _trouble(after):
            worst = before[~np.isfinite(after) | (after == 0)][0]
            return f"{worst:g} is {_trouble(after)} in {element}"
        before = after
    return None


def _is_mask(constant: np.ndarray, value: ir.Value) -> bool:
    """Zeros and one other number, an own one for each element: no scale, which has no zeros."""
    is_per_element = constant.size == math.prod(ir.RankedTensorType(value.type).shape) > 1
    return is_per_element and len(np.unique(constant)) == 2 and bool((constant == 0).any())


def _trouble(found: np.ndarray) -> str | None:
    if np.isnan(found).any():
        return "NaN"
    if np.isinf(found).any():
        return "infinite"
    return "0" if (found == 0).any() else None


def double_scale(op: ir.Operation) -> Finding:
    """What is converted from FP8 multiplied, or divided, twice by one scale."""
    outer = _factors(op)
    for data, scale in outer:
        inner = _behind(data)
        for data_before, scale_before in _factors(inner) if inner is not None else ():
            if _is_dequantized(data_before) and scale.is_plausible and scale.undoes(scale_before):
                verb = "divided" if scale.inverse else "multiplied"
                yield (
                    f"the dequantized value is {verb} by its scale a second time",
                    "apply the scale once",
                )
                return


def mismatched_scale(op: ir.Operation) -> Finding:
    """A dequantize that does not undo the quantize before it.

    Only where that is certain: one scale in the same direction twice, another scale in the inverse
    direction, or constants that do not cancel. A scale and its reciprocal as two arguments are
    taken for a pair.
    """
    for q, scale in _dequantizes(op):
        origin = quantizer(_unmoved(q))
        if isinstance(origin, str) or not origin.origins or not scale.is_plausible:
            continue
        reasons = [_mismatch(before, scale) for _, before in origin.origins]
        if all(reasons):
            edit = "dequantize with the scale that it was quantized with: x / s, then q * s"
            yield str(reasons[0]), edit


def _mismatch(before: Scale, after: Scale) -> str | None:
    if before.undoes(after) or after.undoes(before) or before.spread != after.spread:
        return None
    a, b = splat_number(before.root), splat_number(after.root)
    if a is not None and b is not None:
        cancels = before.inverse != after.inverse and abs(a * b - 1) < _ABOUT_ONE
        return None if cancels else f"quantized with {a:g} and dequantized with {b:g}"
    if _is_made_of(after.root, before.root) or _is_made_of(before.root, after.root):
        return None
    if before.inverse == after.inverse:
        return "quantized with one scale and dequantized with another"
    if before.root == after.root:
        return "quantize and dequantize apply the scale in one direction: it is applied twice"
    return None


def _is_made_of(scale: ir.Value, part: ir.Value, depth: int = _FACTORS) -> bool:
    """Whether `scale` is a product or quotient that has `part` in it: another factor came along."""
    op = producer(scale)
    if op is None or op.name not in _BINARY or not depth:
        return False
    roots = [scale_of(operand).root for operand in op.operands]
    return part in roots or any(_is_made_of(root, part, depth - 1) for root in roots)


def amax_of_scaled(op: ir.Operation) -> Finding:
    """An amax, the largest absolute value, of what is scaled already: of the value that is rounded
    to FP8, or of the rounded one. A scale made from it is relative to the scale before.
    """
    if op.name != "stablehlo.reduce" or not _is_max(op):
        return
    value = _through(op.operands[0], lambda each: each.name in MOVES or widens_or_rounds(each))
    absolute = producer(value)
    if absolute is None or absolute.name != "stablehlo.abs":
        return
    edit = "take amax of the value before it is scaled"
    value = absolute.operands[0]
    origin = _through(value, lambda each: each.name in MOVES or widens_or_rounds(each))
    if small_format(origin) is not None or _converts_small(origin):
        yield "amax is of the FP8 value, which is scaled and clamped", edit
        return
    clamp = producer(origin)
    if clamp is not None and clamp.name == "stablehlo.clamp":
        origin = clamp.operands[1]
    for _, scale in _factors(producer(origin)):
        # Rows are divided by their sums, too: one number alone is certainly a scale.
        is_scale = scale.is_plausible and not scale.spread and splat_number(scale.root) is None
        if is_scale and _is_quantized(origin):
            yield "amax is of the value after its scaling for FP8", edit
            return


def _is_max(op: ir.Operation) -> bool:
    body = [each.operation.name for each in op.regions[0].blocks[0].operations]
    return body[:1] == ["stablehlo.maximum"] and len(body) == 2


def _factors(op: ir.Operation | None) -> list[tuple[ir.Value, Scale]]:
    """The data and the scale of a product or quotient: of a product, both ways."""
    if op is None or op.name not in _BINARY:
        return []
    a, b = op.operands
    if op.name == "stablehlo.divide":
        return [(a, scale_of(b, inverse=True))]
    return [(a, scale_of(b)), (b, scale_of(a))]


def _dequantizes(op: ir.Operation) -> Iterator[tuple[ir.Value, Scale]]:
    """The FP8 value that `op` dequantizes, and the scale."""
    if op.name == "fp8.dequantize":
        yield op.operands[0], dialect_scale(op)
    for data, scale in _factors(op):
        convert = producer(_through(data, lambda each: each.name in MOVES))
        if convert is not None and _is_widening(convert):
            yield convert.operands[0], scale


def _unmoved(q: ir.Value) -> ir.Value:
    return _through(q, lambda each: each.name in MOVES)


def _through(value: ir.Value, passes: Callable[[ir.Operation], bool]) -> ir.Value:
    """What `value` is behind the ops that `passes` lets pass."""
    op = producer(value)
    while op is not None and passes(op):
        value = op.operands[0]
        op = producer(value)
    return value


def _behind(value: ir.Value) -> ir.Operation | None:
    return producer(_through(value, lambda each: each.name in MOVES or widens_or_rounds(each)))


def _is_widening(op: ir.Operation) -> bool:
    return op.name == "stablehlo.convert" and small_format(op.operands[0]) is not None


def _converts_small(value: ir.Value) -> bool:
    op = producer(value)
    return op is not None and _is_widening(op)


def _is_dequantized(value: ir.Value) -> bool:
    """Whether `value` is FP8 converted to a wider type, moved or not, without a scale."""
    return _converts_small(_through(value, lambda each: each.name in MOVES))


def _is_quantized(value: ir.Value, depth: int = 0) -> bool:
    """Whether `value` is rounded to FP8: by a convert after clamps, moves and converts alone."""
    if depth > _LONGEST_PATH:
        return False
    for use in value.uses:
        op = use.owner.operation
        if op.name == "stablehlo.convert" and small_format(op.results[0]) is not None:
            return True
        is_step = op.name in MOVES or op.name in _CLAMPS or widens_or_rounds(op)
        if is_step and _is_quantized(op.results[0], depth + 1):
            return True
    return False
