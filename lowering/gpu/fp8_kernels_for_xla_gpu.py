"""`fp8-kernels-for-xla-gpu`: kernels where they are faster than what XLA:GPU makes."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.composite_to_fp8 import CompositeToFp8
from mlir_fp8.lowering.fp8.scaling.decisions import print_remarks
from mlir_fp8.lowering.gpu.xla.calls import KernelCalls
from mlir_fp8.lowering.gpu.xla.costs import Costs, Verdict, costs_of
from mlir_fp8.lowering.gpu.xla.quantizers import put_kernel, quantizer_of, verdict_of
from mlir_fp8.lowering.gpu.xla.rows import put_rows_kernel, row_quantizer_of, rows_verdict
from mlir_fp8.lowering.gpu.xla.updates import put_update_kernels

_Remark = tuple[ir.Location, str]


@dataclasses.dataclass(frozen=True)
class Fp8KernelsForXlaGpu(ModulePass):
    """Rewrite `fp8.quantize` and `fp8.update_scale` to kernels that XLA:GPU runs as they are.

    A kernel is PTX in a `stablehlo.custom_call`. It is put in where the times of the card `target`
    (h100, h200) say that it wins: for codes that dots take along both dimensions, the codes, their
    transpose and amax in one read; for scales of rows; all updates of scales in one or two
    launches. Everything else is left to XLA, as are ops that the kernels do not compute to the bit.
    Composites of the fp8 dialect become its ops first. `remarks` prints on stderr which, and why.

    Comes before `fp8-canonicalize-for-xla-gpu`. The module then runs on NVIDIA's GPUs alone.
    """

    target: str = "h200"
    remarks: bool = False

    def run(self, module: ir.Operation) -> None:
        costs = costs_of(self.target)
        CompositeToFp8().run(module)
        calls = KernelCalls(costs.chip, module.context)
        remarks: list[_Remark] = []
        with module.context:
            for op in put_update_kernels(module, calls):
                remarks.append((op.location, f"'{op.name}' and those like it become one kernel"))
            for op in operations(module, "fp8.quantize"):
                location = op.location
                remarks.append((location, f"'fp8.quantize' {_put(op, costs, calls)}"))
        if self.remarks:
            print_remarks(remarks)


def _put(op: ir.Operation, costs: Costs, calls: KernelCalls) -> str:
    """Put a kernel in the place of a quantization if it wins; what became of it, and why."""
    if ir.RankedTensorType(op.operands[1].type).rank == 2:
        rows = row_quantizer_of(op)
        if isinstance(rows, str):
            return f"is left to XLA: {rows}"
        verdict = rows_verdict(rows, costs)
        if verdict.wins:
            put_rows_kernel(rows, calls)
        return _told("quantize_rows" if rows.is_rows else "quantize_groups", verdict)
    found = quantizer_of(op)
    if isinstance(found, str):
        return f"is left to XLA: {found}"
    verdict = verdict_of(found, costs)
    if verdict.wins:
        put_kernel(found, calls)
    return _told("quantize_transpose", verdict)


def _told(kernel: str, verdict: Verdict) -> str:
    return f"becomes {kernel}: {verdict}" if verdict.wins else f"is left to XLA: {verdict}"
