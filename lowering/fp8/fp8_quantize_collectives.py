"""`fp8-quantize-collectives`: collectives of f32, bf16 and f16 to FP8 with scales."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.collectives.options import WireOptions
from mlir_fp8.lowering.fp8.collectives.quantize import quantize_collectives
from mlir_fp8.lowering.fp8.scaling.decisions import print_remarks


@dataclass(frozen=True)
class Fp8QuantizeCollectives(ModulePass):
    """Let collectives and reshards move FP8: quantized before, dequantized after.

    See docs/multi_device.md. Movements become quantize, the same on codes and scales, and
    dequantize; sums become an all-to-all of terms in FP8, sums in f32 and, for an all-reduce, an
    all-gather in FP8. What travelled is not quantized again, neither for another collective nor by
    `fp8-quantize-dots`.

    `scales` is tensor, row or shard. `forward` and `backward` are formats, the latter of what JAX
    names a transpose. What sends less than `min-bytes` a device, or has `mlir_fp8.skip`, stays.
    `as-bits` sends codes as ui8. `error-feedback` keeps what sums lost for the next step, as state
    of the function. `power-of-two` scales are rounded up. `remarks` prints a line for each.
    """

    scales: str = "tensor"
    forward: str = "f8E4M3FN"
    backward: str = "f8E5M2"
    min_bytes: int = 65536
    as_bits: bool = False
    error_feedback: bool = False
    power_of_two: bool = False
    remarks: bool = False

    def run(self, module: ir.Operation) -> None:
        options = WireOptions(
            self.scales,
            self.forward,
            self.backward,
            self.min_bytes,
            self.as_bits,
            self.error_feedback,
            self.power_of_two,
        )
        decisions = quantize_collectives(module, options)
        if self.remarks:
            print_remarks((each.location, str(each)) for each in decisions)
