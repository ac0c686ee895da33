"""`fp8.update_scale`: the scale of the next step from the largest values of the steps before."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import ext

from mlir_fp8.dialects._fp8_attributes import (
    FLAG,
    Form,
    attributes_refusal,
    float_of,
    one_of,
    string_of,
    type_among,
)
from mlir_fp8.dialects._fp8_dialect import Fp8, report
from mlir_fp8.dialects._fp8_scales import DATA_TYPES
from mlir_fp8.dialects.scaling_recipes import ALGORITHMS, RECIPES

_MARGIN_LIMIT = 126
"""Beyond it 2^margin is no normal number of f32."""


class UpdateScale(Fp8.Operation, name="update_scale", traits=[ext.Pure]):
    """(new_scale, new_history) of a scale, the amax of past steps and this step's `amax`.

    All of f32: `scale` and `amax` of rank 0, `history` of rank 1 with N >= 1 elements. `scale` is a
    dequantize multiplier, in units of x per unit of q; `amax` is max |x| of this step. `format` is
    the small float whose largest finite value MAX the largest x shall become; `margin` (f32, 0 by
    default) leaves room for 2^margin times it. In f32, each step rounded once:

        s = A / MAX * 2^margin
        new_scale = s, if 2^-126 <= s < infinity; else K

    With `power_of_two` new_scale is then rounded up to a power of two, from 2^-50 to 2^63 (NaN
    stays NaN), so that the product of two scales, and a bf16 sum times that, are exact.

    | recipe | the amax A | K | new_history |
    | --- | --- | --- | --- |
    | "flax" | of `history` as it comes | `scale` | h = history rolled by -1; h[0] = amax |
    | "transformer_engine" | of `history` with [0] = amax | `scale` | that, rolled; h[0] = 0 |
    | "current" | `amax` | 1 | as "flax" |

    A of a history h is max(h) with `algorithm` "max" (the default) and h[0] with "most_recent";
    "current" has no algorithm. Rolled by -1, each element moves one index down, the first to the
    end. So an A that is zero, infinite, NaN, or so small that s would be subnormal (which hardware
    takes for zero) gives K. A NaN or infinity stays in a history for as long as any amax does.

    The recipes are those of flax (`fp8_ops.update_fp8_meta`) and TransformerEngine
    (`DelayedScaling`, `Float8CurrentScaling`), which compute the reciprocal of s: their scales may
    differ from these in the last places.
    """

    scale: ir.Value[Any]
    history: ir.Value[Any]
    amax: ir.Value[Any]
    recipe: ir.StringAttr
    format: ir.TypeAttr
    new_scale: ir.OpResult[Any]
    new_history: ir.OpResult[Any]

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        return report(op, update_scale_refusal(op.operation))


def _is_f32(attribute: ir.Attribute) -> bool:
    return isinstance(attribute, ir.FloatAttr) and str(attribute.type) == "f32"


_FORMS: dict[str, Form] = {
    "recipe": one_of(tuple(RECIPES)),
    "algorithm": one_of(ALGORITHMS),
    "margin": ("a float of f32", _is_f32),
    "power_of_two": FLAG,
    "format": type_among(DATA_TYPES),
}


def update_scale_refusal(op: ir.Operation) -> str:
    """What is wrong with an `fp8.update_scale`, or nothing."""
    if len(op.operands) != 3 or len(op.results) != 2:
        return "takes a scale, a history and an amax, and gives a new scale and a new history"
    if reason := attributes_refusal(op, _FORMS, required=("recipe", "format")):
        return reason
    recipe = RECIPES[string_of(op, "recipe", "")]
    if not recipe.has_history and "algorithm" in op.attributes:
        return f"has an algorithm, which the recipe {recipe.name} has none of: drop it"
    margin = float_of(op, "margin") or 0.0
    if not abs(margin) <= _MARGIN_LIMIT:
        return f"has margin = {margin}: it is between -{_MARGIN_LIMIT} and {_MARGIN_LIMIT}"
    return _types_refusal(op)


def _types_refusal(op: ir.Operation) -> str:
    scale, history, amax, new_scale, new_history = (
        value.type for value in (*op.operands, *op.results)
    )
    for type_, what in ((scale, "scale"), (amax, "amax"), (new_scale, "new_scale")):
        if str(type_) != "tensor<f32>":
            return f"has {what} of type {type_}: it is a tensor<f32>"
    is_vector = isinstance(history, ir.RankedTensorType) and history.rank == 1
    is_good = is_vector and history.has_static_shape and history.shape[0] > 0
    if not is_good or str(history) != f"tensor<{history.shape[0]}xf32>":
        return f"has history of type {history}: it is a tensor<Nxf32> with N >= 1"
    if new_history != history:
        return f"has new_history of type {new_history}: it is that of history, {history}"
    return ""
