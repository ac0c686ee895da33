"""Finds the attentions of a module and fuses each into one op."""

from torch_mlir import ir

from mlir_fp8.base.operations import erase_with_producers, operations
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.attention.axes import read_axes
from mlir_fp8.lowering.fp8.attention.build import build_fused
from mlir_fp8.lowering.fp8.attention.placing import misplaced
from mlir_fp8.lowering.fp8.attention.product import DOTS
from mlir_fp8.lowering.fp8.attention.repeats import MOVES
from mlir_fp8.lowering.fp8.attention.scores import Scores, is_of_product, match_scores
from mlir_fp8.lowering.fp8.attention.sight import read_sight
from mlir_fp8.lowering.fp8.attention.softmax import Softmax, match_softmax
from mlir_fp8.lowering.fp8.attention.weighed import Weighed, match_weighed
from mlir_fp8.lowering.fp8.attention.wide_scales import widen_scales
from mlir_fp8.lowering.fp8.composite_to_fp8 import CompositeToFp8
from mlir_fp8.lowering.fp8.scaled_dot.findings import Finding, Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.uses import users
from mlir_fp8.lowering.rewriting.inlining import inline_calls
from mlir_fp8.lowering.rewriting.stablehlo import has_static_shape

_WEIGHING = MOVES | {f"stablehlo.{each}" for each in ("convert", "divide", "multiply")}
_KEPT = ("stablehlo.custom_call", "stablehlo.infeed", "stablehlo.recv")


def fuse_attention(module: ir.Operation, *, allow_excess_precision: bool = False) -> list[Finding]:
    """Fuse what can be, in place, and say of each softmax next to products what became of it.

    Calls of private functions are inlined first. The results of the module are the same, but for
    the order in which sums add, and the payload and sign of NaNs; with `allow_excess_precision`
    also but for a rounding of scores that are scaled in bf16 or f16.
    """
    load_fp8_dialect(module.context)
    with module.context:
        CompositeToFp8().run(module)
        inline_calls(module)
        if allow_excess_precision:
            widen_scales(module)
        found = [_fuse_one(op) for op in operations(module, "stablehlo.exponential")]
    return [each for each in found if each is not None]


def _fuse_one(exponential: ir.Operation) -> Finding | None:
    type_, location = str(exponential.results[0].type), exponential.location  # it may be erased
    if has_static_shape(exponential.results[0]):
        softmax = match_softmax(exponential) or _without_largest(exponential)
    else:
        message, edit = f"the softmax is of {type_}, a dynamic shape", "refine shapes first"
        softmax = Obstacle("open-shape", "softmax", message, location, edit)
    if isinstance(softmax, Obstacle):
        is_between = is_of_product(exponential.operands[0]) and _weighs(exponential.results[0])
        fused = softmax if is_between else None
    else:
        fused = _fused(softmax)
    if fused is None:
        return None
    if isinstance(fused, Obstacle):
        return Finding("softmax", location, type_, None, (fused,), type_)
    return Finding("softmax", location, type_, fused, (), type_)


def _without_largest(exponential: ir.Operation) -> Obstacle:
    message = "what is subtracted before the exponential is not the largest of the last dimension"
    edit = "let the softmax run over the last dimension, and subtract the largest, as JAX does"
    return Obstacle("softmax-form", "softmax", message, exponential.location, edit)


def _weighs(e: ir.Value, limit: int = 6) -> bool:
    """Whether exponentials go on into a product, as they are or as quotients."""
    return limit > 0 and any(
        op.name in DOTS or (op.name in _WEIGHING and _weighs(op.results[0], limit - 1))
        for op in users(e)
    )


def _fused(softmax: Softmax) -> ir.Operation | Obstacle | None:
    """The op in the place of all, or what is in the way; None where a product is missing."""
    scores = match_scores(softmax.x, softmax.largest)
    if not isinstance(scores, Scores):
        return scores
    weighed = match_weighed(softmax.p, scores.spread)
    if not isinstance(weighed, Weighed):
        return weighed
    if reason := _mismatch(scores, weighed):
        return reason
    sight = read_sight(scores)
    found = read_axes(scores, weighed, sight.rows)
    if isinstance(found, Obstacle):
        return found
    if reason := misplaced(scores, weighed, found):
        return reason
    op, out = build_fused(scores, sight, weighed, found, is_safe=softmax.is_safe)
    if isinstance(out, str):
        erase_with_producers(op, lambda each: _may_go(each, set()))
        edit = "change the operands to formats and shapes that the op takes"
        return Obstacle("refused", "dot", out, scores.dot.op.location, edit)
    last = ir.OpResult(weighed.value).owner.operation
    weighed.value.replace_all_uses_with(out)
    products = {scores.dot.op, last, weighed.dot.op if weighed.dot else last}
    erase_with_producers(last, lambda each: _may_go(each, products))
    return op


def _mismatch(scores: Scores, weighed: Weighed) -> Obstacle | None:
    """What one op cannot say of both products at once."""
    first, second = scores.dot, weighed.dot
    assert second is not None
    for dot, left in ((first, None), (second, weighed.side)):
        is_swapped = left == 1 or (left is None and _is_key_first(scores))
        scales = [side.scale for side in dot.sides]
        if dot.step is None and is_swapped and all(each is not None for each in scales):
            message = (
                f"{dot.op.name} scales by its operands in the other order, which rounds elsewhere"
            )
            edit = "swap its operands"
            return Obstacle("scale-order", "dot", message, dot.op.location, edit)
    return None


def _is_key_first(scores: Scores) -> bool:
    last = scores.spread.dims[-1]
    batch, free = len(scores.dot.batching[0]), len(scores.dot.free[0])
    return bool(last) and last[0].key is not None and last[0].key[0] < batch + free


def _may_go(op: ir.Operation, products: set[ir.Operation]) -> bool:
    if op.name in DOTS:
        return op in products
    is_plain = not len(op.regions) or op.name == "stablehlo.reduce"
    return op.name.startswith(("stablehlo.", "fp8.")) and op.name not in _KEPT and is_plain
