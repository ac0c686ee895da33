"""`fp8-quantize-attention`: wide attention in FP8, where a kernel then computes it."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.dialects._fp8_attention_builder import AttentionOptions, build_attention
from mlir_fp8.dialects._fp8_attention_parts import AttentionParts, attention_parts
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8._scales import is_wide
from mlir_fp8.lowering.fp8.scaling.decisions import print_remarks
from mlir_fp8.lowering.fp8.weights.scaled import block_amax, codes_of, scale_of_amax
from mlir_fp8.lowering.gpu.xla.attention import ATTENTION, heads_refusal, shape_of
from mlir_fp8.lowering.rewriting.stablehlo import convert, element_type

_FORMAT = "f8E4M3FN"


@dataclasses.dataclass(frozen=True)
class Fp8QuantizeAttention(ModulePass):
    """Make wide q, k, v and the probabilities of an `fp8.attention` f8E4M3FN.

    Each head has a scale, its amax / 448 of this run, and `power-of-two` rounds that up to one;
    heads of q that have one query each and share k and v have one scale. What is f8 already, as
    caches are, keeps its scales, which multiply the sums then. Probabilities are rounded times 448.
    Scores, the softmax and sums are in f32. What `fp8-kernels-for-xla-gpu{attention=true}` would
    not compute stays as it is: with `bias`, `mask`, scales of tokens or other sizes. Comes behind
    `fp8-fuse-attention`, in front of `fp8-kernels-for-xla-gpu`. `remarks` prints on stderr what
    became of each, and why.
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
            q, q_scale = self._codes(parts.q, parts.q_scale, _query_heads(parts))
            k, k_scale = self._codes(parts.k, parts.k_scale)
            if parts.v == parts.k and is_wide(parts.v):
                v, v_scale = k, k_scale
            else:
                v, v_scale = self._codes(parts.v, parts.v_scale)
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
                lse=parts.lse,
                p_type=ir.Type.parse(_FORMAT),
                p_scale=largest,
                p_inverse=True,
                p_saturate=True,
                p_factor=1 / largest,
            )
            made = build_attention(q, k, v, op.results[0].type, options)
        replace_op(op, made)

    def _codes(
        self, x: ir.Value, scale: ir.Value | None, heads: int = 1
    ) -> tuple[ir.Value, ir.Value | None]:
        """`x` as codes and their scale, of so many heads each; itself where it is small."""
        if not is_wide(x):
            return x, scale
        blocks = (1, heads, 0, 0)
        x = convert(x, ir.F32Type.get())
        made = scale_of_amax(block_amax(x, blocks), _FORMAT, is_power_of_two=self.power_of_two)
        return codes_of(x, made, blocks, _FORMAT), made


def _query_heads(parts: AttentionParts) -> int:
    _, heads, rows, _ = ir.RankedTensorType(parts.q.type).shape
    return heads // ir.RankedTensorType(parts.k.type).shape[1] if rows == 1 else 1


def _refusal(parts: AttentionParts) -> str:
    data = (parts.q, parts.k, parts.v)
    if not any(map(is_wide, data)):
        return "q, k and v are small already"
    formats = [_FORMAT if is_wide(each) else str(element_type(each)) for each in data]
    if parts.scale_p:
        return "v_scale multiplies its probabilities"
    shape = shape_of(parts, [*formats, _FORMAT])
    return shape if isinstance(shape, str) else heads_refusal(parts)
