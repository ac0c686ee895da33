"""`fp8-kernels-for-xla-gpu`: kernels where they are faster than what XLA:GPU makes."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.composite_to_fp8 import CompositeToFp8
from mlir_fp8.lowering.fp8.scaling.decisions import print_remarks
from mlir_fp8.lowering.gpu.ptx.assembler import assembler
from mlir_fp8.lowering.gpu.xla.calls import KernelCalls
from mlir_fp8.lowering.gpu.xla.costs import costs_of
from mlir_fp8.lowering.gpu.xla.decisions import kernel_decisions


@dataclasses.dataclass(frozen=True)
class Fp8KernelsForXlaGpu(ModulePass):
    """Rewrite `fp8.quantize` and `fp8.update_scale` to kernels that XLA:GPU runs as they are.

    A kernel is PTX in a `stablehlo.custom_call`. It is put in where the times of the card `target`
    (h100, h200) say that it wins: for codes that dots take along both dimensions, the codes, their
    transpose and amax in one read; for scales of rows; all updates of scales in one or two
    launches. Everything else is left to XLA, as are ops that the kernels do not compute to the bit.
    With `products` an `fp8.scaled_dot` or `fp8.scaled_ragged_dot` that a kernel of ours computes
    becomes that, whatever the times: for measuring them. `few_rows` does so with products of 1 to
    64 rows by f8 weights, also with what is a dot of wide rows by f8 codes, its scale and its
    conversion; `attention` with every `fp8.attention` and `fp8.attention_backward`. Composites of
    the fp8 dialect become its ops first. `remarks` prints on stderr which, and why. With `cubin`
    "ptxas" kernels hold the code it makes for the card's chip, not PTX, which the driver compiles
    at the first call; where it is not installed they are PTX.

    Comes before `fp8-canonicalize-for-xla-gpu`. The module then runs on NVIDIA's GPUs alone.
    """

    target: str = "h200"
    remarks: bool = False
    products: bool = False
    few_rows: bool = False
    attention: bool = False
    prologues: bool = True
    cubin: str = ""

    def run(self, module: ir.Operation) -> None:
        costs = costs_of(self.target)
        if self.cubin not in ("", "ptxas"):
            raise Fp8Error(f"option 'cubin' is ptxas, not '{self.cubin}'")
        CompositeToFp8().run(module)
        found = assembler() if self.cubin else None
        calls = KernelCalls(costs.chip, module.context, found or "")
        remarks: list[tuple[ir.Location, str]] = []
        if self.cubin and found is None:
            remarks.append((module.location, "ptxas is not installed: kernels are PTX"))
        with module.context:
            decisions = kernel_decisions(
                module,
                costs,
                products=self.products,
                few_rows=self.few_rows,
                attention=self.attention,
                prologues=self.prologues,
            )
            for each in decisions:
                remarks.append((each.location, str(each)))
                if each.put is not None:
                    each.put(calls)
        if self.remarks:
            print_remarks(remarks)
