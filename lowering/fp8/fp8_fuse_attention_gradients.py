"""`fp8-fuse-attention-gradients`: attention and its gradients in training become two ops."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.attention_gradients.build import put_training, refusal_of_types
from mlir_fp8.lowering.fp8.attention_gradients.match import Training, match_training
from mlir_fp8.lowering.fp8.scaling.decisions import print_remarks
from mlir_fp8.lowering.rewriting.inlining import inline_calls
from mlir_fp8.lowering.rewriting.stablehlo import has_static_shape

_EXPONENTIAL = "stablehlo.exponential"


@dataclass(frozen=True)
class Fp8FuseAttentionGradients(ModulePass):
    """Fuse attention and its gradients into an `fp8.attention` and an `fp8.attention_backward`.

    Scores and probabilities need then not be kept for the gradients. Wide q, k and v in bf16, f16
    or f32, a softmax of their products, scaled by a constant, causal or not, shared heads included,
    in one function or loop body, with its derivatives in any form. Values change: scores,
    probabilities and gradients of these are rounded to the type of q once, at products, and in f32
    elsewhere, where a program may round more often. Calls of private functions are inlined. Run it
    before `fp8-fuse-attention`. `remarks` prints on stderr what became of each, and why.
    """

    remarks: bool = False

    def run(self, module: ir.Operation) -> None:
        load_fp8_dialect(module.context)
        remarks: list[tuple[ir.Location, str]] = []
        with module.context:
            inline_calls(module)
            for op in operations(module, _EXPONENTIAL):
                location = op.location
                became = _fused(op)
                if became:
                    remarks.append((location, f"attention with gradients {became}"))
        if self.remarks:
            print_remarks(remarks)


def _fused(exponential: ir.Operation) -> str:
    """What became of an attention around `exponential`, nothing where there is none."""
    value = exponential.results[0]
    if not has_static_shape(value) or ir.RankedTensorType(value.type).rank < 2:
        return ""
    found = match_training(exponential)
    if found is None:
        return ""
    reason = refusal_of_types(found) if isinstance(found, Training) else found
    if isinstance(found, str) or reason:
        return f"stays as it is: {reason}"
    put_training(found)
    return "is two ops"
