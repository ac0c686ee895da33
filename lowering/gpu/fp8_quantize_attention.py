"""`fp8-quantize-attention`: wide attention in FP8, where a kernel then computes it."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.dialects._fp8_attention_builder import AttentionOptions, build_attention
from mlir_fp8.dialects._fp8_attention_parts import AttentionParts, attention_parts
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8._scales import is_wide
from mlir_fp8.lowering.fp8.scaling.decisions import print_remarks
from mlir_fp8.lowering.fp8.weights.scaled import block_amax, codes_of, scale_of_amax
from mlir_fp8.lowering.gpu.xla.attention import ATTENTION, shape_of
from mlir_fp8.lowering.rewriting.stablehlo import convert

_FORMAT = "f8E4M3FN"
_HEADS = (1, 1, 0, 0)
"""The blocks of a scale of each head: 0 is the whole dimension."""


@dataclasses.dataclass(frozen=True)
class Fp8QuantizeAttention(ModulePass):
    """Make q, k, v and the probabilities of wide `fp8.attention`s f8E4M3FN.

    Each head of q, k and v has a scale, its amax / 448 of this run, and `power-of-two` rounds that
    up to one; probabilities are rounded times 448. Scores, the softmax and sums are in f32. What
    `fp8-kernels-for-xla-gpu{attention=true}` would not compute stays as it is: with `bias` or
    `mask`, of other sizes, or small already. Comes behind `fp8-fuse-attention`, in front of
    `fp8-kernels-for-xla-gpu`. `remarks` prints on stderr what became of each, and why.
    """

    power_of_two: bool = False
    remarks: bool = False

    def run(self, module: ir.Operation) -> None:
        remarks: list[tuple[ir.Location, str]] = []
        with module.context:
            for op in operations(module, ATTENTION):
                parts = attention_parts(op)
                reason = _refusal(parts)
                became = f"stays as it is: {reason}" if reason else "is of f8, with scales of heads"
                remarks.append((op.location, f"'{ATTENTION}' {became}"))
                if not reason:
                    self._quantize(parts)
        if self.remarks:
            print_remarks(remarks)

    def _quantize(self, parts: AttentionParts) -> None:
        op = parts.op
        largest = float(FORMATS[_FORMAT].max)
        with ir.InsertionPoint(op), op.location:
            # Two that are one tensor are quantized once.
            data = {x: self._codes(x) for x in dict.fromkeys((parts.q, parts.k, parts.v))}
            (q, q_scale), (k, k_scale), (v, v_scale) = (
                data[each] for each in (parts.q, parts.k, parts.v)
            )
            options = AttentionOptions(
                q_scale=q_scale,
                k_scale=k_scale,
                v_scale=v_scale,
                offset=parts.offset,
                scale=parts.scale,
                mask_value=None if parts.mask_value == float("-inf") else parts.mask_value,
                window=parts.window,
                causal=parts.causal,
                zero_masked_rows=parts.zero_masked_rows,
                fast_accum=parts.fast_accum,
                p_type=ir.Type.parse(_FORMAT),
                p_scale=largest,
                p_inverse=True,
                p_saturate=True,
                p_factor=1 / largest,
            )
            (out,) = build_attention(q, k, v, op.results[0].type, options)
        op.results[0].replace_all_uses_with(out)
        op.erase()

    def _codes(self, x: ir.Value) -> tuple[ir.Value, ir.Value]:
        x = convert(x, ir.F32Type.get())
        amax = block_amax(x, _HEADS)
        scale = scale_of_amax(amax, _FORMAT, is_power_of_two=self.power_of_two)
        return codes_of(x, scale, _HEADS, _FORMAT), scale


def _refusal(parts: AttentionParts) -> str:
    if not all(is_wide(each) for each in (parts.q, parts.k, parts.v)):
        return "q, k or v is small already"
    shape = shape_of(parts, [_FORMAT] * 4)
    return shape if isinstance(shape, str) else ""
