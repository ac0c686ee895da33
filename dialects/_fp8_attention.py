"""`fp8.attention`: attention on small floats, softmax in f32, the probabilities in f8 or wide."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import ext

from mlir_fp8.dialects._fp8_attention_rules import attention_refusal
from mlir_fp8.dialects._fp8_dialect import Fp8, report


class Attention(Fp8.Operation, name="attention", traits=[ext.Pure]):
    """out = convert(quantize(softmax(scale * (q * q_scale).(k * k_scale) + bias)).(v * v_scale)).

    `q` is [B, H, T, D], `k` [B, Hk, S, D], `v` [B, Hk, S, E], `out` [B, H, T, E] of f32, bf16 or
    f16. H is a multiple of Hk: query head h reads the keys and values of head h // (H / Hk).
    Each of `q`, `k`, `v` is of f8, f6 or f4, or wide: bf16, f16, f32. Two small ones that are
    multiplied are of one family, as in `ScaledDot`. `q_scale`, `k_scale`, `v_scale` are dequantize
    multipliers of small data in the shapes of `_fp8_scales`: of rank 0, or [1, Hk, 1, 1] per head,
    [B, Hk, S, 1] per token, and so on.

    1. Scores x. With `qk_type` T (bf16, f16, f32), q and k are dequantized to T as by
       `fp8.dequantize` (without a scale converted, which is exact; wide ones are of T), and the dot
       over D is the sum. Without it, both are small, their dot is the sum, then sum * q_scale, then
       * k_scale, each rounded to f32; such scales have size 1 along D. With the flag
       `scale_scores` and `qk_type` both are converted to T, and the sum is scaled so. The sum is in
       f32; it is rounded to `score_type` (bf16, f16; f32 by default). All else is in f32.
    2. x * `scale`, an f32, where given. x + `bias`, converted to f32, where given: bf16, f16, f32
       or f64, of rank 4, each size that of x or 1.
    3. Where key j is hidden from query i, x becomes `mask_value`, an f32, -infinity by default. It
       is hidden where `mask`, i1 of rank 4, each size that of x or 1, is false; with the flag
       `causal` where j > i + offset; with `window` = W >= 1 where j <= i + offset - W.
       `offset` is the position of the first query among the keys, i32 or i64, of rank 0 or [B];
       0 where absent. i + offset, and that less W, are computed in its type and wrap.
    4. m = max of x over keys, and -infinity; e = exp(x - m); p = e / sum(e). With the flag
       `zero_masked_rows`, m is 0 where it is -infinity, and the sum 1 where it is 0: a row whose
       keys are all hidden is 0, not NaN.
       With the flag `scale_p`, p * v_scale, which has size 1 along E, and is not used in 6.
    5. P of `p_type` (f8, f6, f4, bf16, f16, f32; `pv_type` by default): p / `p_scale`, an f32, or
       p * p_scale with the flag `p_inverse`, where given; with the flag `p_saturate` clamped to the
       largest finite values of p_type; converted: nearest, ties to even. p is within 0..1, so
       1 / MAX, 1/448 for f8E4M3FN, uses the whole range. These three are for small p_type only.
    6. With `pv_type` T, P and v are dequantized to T, P by `p_factor`, an f32, where given, and the
       dot over keys is the sum. Without it, both are small, and the sum * p_factor, then * v_scale,
       each rounded to f32; such a v_scale has size 1 along keys. With the flag `scale_out` and
       `pv_type` both are converted to T, and the sum is scaled so.
    7. The sum, in f32, converted to out's element type.
    8. With the flag `lse`: a second result, f32 [B, H, T], m + log(sum(e)), of which
       `fp8.attention_backward` computes the probabilities again.

    The flag `fast_accum` lets hardware add with fewer bits; the value here is the same. The order
    of additions is not part of the rule. Sizes may be 0: without keys, out is 0. Shapes are static.
    """

    q: ir.Value[Any]
    k: ir.Value[Any]
    v: ir.Value[Any]
    out: ir.OpResult[Any]
    q_scale: ir.Value[Any] | None = None
    k_scale: ir.Value[Any] | None = None
    v_scale: ir.Value[Any] | None = None
    bias: ir.Value[Any] | None = None
    mask: ir.Value[Any] | None = None
    offset: ir.Value[Any] | None = None
    # The accessors of results would want an attribute of sizes: read `results`.
    lse: ir.OpResult[Any] | None = None

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        return report(op, attention_refusal(op.operation))
