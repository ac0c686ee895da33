"""`fp8-canonicalize-for-xla-gpu`: scaled products in the form that XLA:GPU runs as FP8."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.dialects.fp8 import product_parts
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.fp8_legalize_to_stablehlo import put_in_place
from mlir_fp8.lowering.fp8.xla_gpu.epilogue_type import with_fused_epilogue
from mlir_fp8.lowering.fp8.xla_gpu.histories import keep_histories_apart
from mlir_fp8.lowering.fp8.xla_gpu.layouts import lay_out
from mlir_fp8.lowering.fp8.xla_gpu.narrow_sums import scales_are_powers_of_two, scales_bf16
from mlir_fp8.lowering.fp8.xla_gpu.products import convolution, matrix_product
from mlir_fp8.lowering.fp8.xla_gpu.refusals import (
    are_both_e5m2,
    check_platform,
    refuse_unsupported,
)
from mlir_fp8.lowering.fp8.xla_gpu.scales import matched_scales
from mlir_fp8.lowering.rewriting.stablehlo import convert, element_type


@dataclasses.dataclass(frozen=True)
class Fp8CanonicalizeForXlaGpu(ModulePass):
    """Rewrite `fp8.scaled_dot` to the StableHLO that XLA:GPU makes `__cublas$lt$matmul$f8` of.

    And `fp8.scaled_convolution` to that of cuDNN's FP8 graphs, `fp8.attention` to two dots and a
    softmax, a product of two E5M2 to a dot in 16 bits. Values stay the same; where that
    cannot be, the op is refused, or with `allow-reassociation` scales the f32 sum in the place of
    its operands. With `allow-excess-precision` an epilogue in bf16 or f16 that XLA would not fuse
    computes in f32, and a sum that becomes bf16 does before it is scaled; where scales are powers
    of two it does so anyway. `layouts` swaps the operands of a product whose result is transposed,
    makes codes row-major, and keeps histories apart from the amax that enters them. `platform` is
    cuda or rocm. docs/xla_gpu.md has the forms.
    """

    platform: str = "cuda"
    allow_reassociation: bool = False
    allow_excess_precision: bool = False
    layouts: bool = False

    def run(self, module: ir.Operation) -> None:
        check_platform(self.platform)
        with module.context:
            if self.layouts:
                lay_out(module)
                keep_histories_apart(module)
            for op in operations(
                module, "fp8.attention", "fp8.attention_backward"
            ):  # which no kernel took
                put_in_place(op)
            for op in operations(module, "fp8.scaled_dot", "fp8.scaled_convolution"):
                self._canonicalize(op)

    def _canonicalize(self, op: ir.Operation) -> None:
        parts = product_parts(op)
        refuse_unsupported(parts, self.platform)
        if are_both_e5m2(parts):  # which XLA multiplies in 16 bits, as it is
            put_in_place(op)
            return
        with ir.InsertionPoint(op), op.location:
            is_exact = scales_are_powers_of_two(parts)
            combine = self.allow_reassociation or is_exact
            parts = matched_scales(parts, allow_reassociation=combine)
            gives_bf16 = element_type(op.results[0]) == ir.BF16Type.get()
            may_round = self.allow_excess_precision and gives_bf16  # else its epilogue is in f32
            narrow = (is_exact or may_round) and scales_bf16(parts)
            if self.allow_excess_precision and not narrow:
                parts = with_fused_epilogue(parts)
            values = matrix_product(parts, narrow=narrow) if parts.is_dot else convolution(parts)
            typed = [
                convert(value, ir.RankedTensorType(result.type).element_type)  # amax, of another E
                for result, value in zip(op.results, values, strict=True)
            ]
        replace_op(op, typed)
