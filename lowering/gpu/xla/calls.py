"""Kernels as `custom_call`s of XLA:GPU, which compiles the PTX that they hold.

The target is `__gpu$xla.gpu.ptx` (openxla/xla, `CustomKernelThunk`): a pointer for each operand,
then for each result; results may be operands, whose memory they then are. What it calls PTX goes to
`cuModuleLoadDataEx` as it is, which takes the image of an assembled kernel too.
"""

from collections.abc import Iterable, Mapping, Sequence

from torch_mlir import ir

from mlir_fp8.lowering.gpu.kernels.text import Kernel
from mlir_fp8.lowering.gpu.ptx.assembler import cubin_of
from mlir_fp8.lowering.gpu.ptx.back_end import ptx_of_kernel

TARGET = "__gpu$xla.gpu.ptx"


class KernelCalls:
    """Builds calls for one chip; equal kernels are compiled once.

    With `assembler`, the path of `ptxas`, they hold the code of the chip in the place of PTX.
    """

    def __init__(self, chip: str, context: ir.Context, assembler: str = "") -> None:
        self._chip, self._context, self._assembler = chip, context, assembler
        self._compiled: dict[Kernel, str | bytes] = {}

    def build(
        self,
        kernel: Kernel,
        operands: Sequence[ir.Value],
        results: Sequence[ir.Type],
        aliases: Mapping[int, int] | None = None,
    ) -> list[ir.Value]:
        """A call at the current insertion point; `aliases` are operands by the results they are."""
        if kernel not in self._compiled:
            ptx = ptx_of_kernel(kernel.text, self._chip, self._context)
            code = cubin_of(ptx, self._chip, self._assembler) if self._assembler else ptx
            self._compiled[kernel] = code
        op = ir.Operation.create(
            "stablehlo.custom_call",
            results=list(results),
            operands=list(operands),
            attributes={
                "call_target_name": ir.StringAttr.get(TARGET),
                "api_version": _i32(4),
                "backend_config": self._config(kernel, len(operands), len(results)),
                "operand_layouts": _row_major(each.type for each in operands),
                "result_layouts": _row_major(results),
                "output_operand_aliases": _aliases(aliases or {}, len(results)),
            },
        )
        return list(op.results)

    def _config(self, kernel: Kernel, operands: int, results: int) -> ir.DictAttr:
        numbers = {
            "grid_x": kernel.grid[0],
            "grid_y": kernel.grid[1],
            "grid_z": 1,
            "block_x": kernel.block,
            "block_y": 1,
            "block_z": 1,
            "shared_mem_bytes": kernel.shared_bytes,  # what a kernel declares itself is no part
        }
        indices = [_i32(operands + i) for i in range(results)]
        return ir.DictAttr.get(
            {
                "name": ir.StringAttr.get(kernel.name),
                "kernel_type": ir.StringAttr.get("ptx"),
                "kernel_data": ir.StringAttr.get(self._compiled[kernel]),
                "output_indices": ir.ArrayAttr.get(indices),
                **{name: _i32(number) for name, number in numbers.items()},
            }
        )


def _i32(number: int) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), number)


def _row_major(types: Iterable[ir.Type]) -> ir.ArrayAttr:
    """The layouts of `types`, which XLA is else free to choose."""
    ranks = [ir.RankedTensorType(each).rank for each in types]
    orders = [f"dense<{list(range(rank))[::-1] or ''}> : tensor<{rank}xindex>" for rank in ranks]
    return ir.ArrayAttr(ir.Attribute.parse(f"[{', '.join(orders)}]"))


def _aliases(operands: Mapping[int, int], results: int) -> ir.ArrayAttr:
    """`operands` by the results that they are: an entry of a tuple where there are several."""
    entries = [
        "#stablehlo.output_operand_alias<"
        f"output_tuple_indices = [{result if results > 1 else ''}], operand_index = {operand}, "
        "operand_tuple_indices = []>"
        for result, operand in operands.items()
    ]
    return ir.ArrayAttr(ir.Attribute.parse(f"[{', '.join(entries)}]"))
