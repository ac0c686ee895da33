"""The kernels for a left operand of few rows: the right one is streamed once, without packing.

They are memory-bound: f8 codes take a quarter of the bandwidth of f32.
"""

from dataclasses import dataclass

from mlir_fp8.lowering.kernels.products.right_blocks import RightBlocks
from mlir_fp8.lowering.kernels.products.right_scale import RightScale
from mlir_fp8.lowering.kernels.products.skinny_dots import write_dots
from mlir_fp8.lowering.kernels.products.skinny_parts import SkinnyParts
from mlir_fp8.lowering.kernels.products.skinny_rows import write_added_rows
from mlir_fp8.lowering.kernels.vector_code.reader import Reader
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import KernelText

KERNEL_ROWS = 4
"""Rows that fit in every kernel."""
_SIZES = ("a_offset", "a_stride", "c_offset", "c_row", "c_column", "columns", "depth")


@dataclass(frozen=True)
class Skinny:
    """`rows` rows of f32, contiguous along the reduction, times the operand of `reader`.

    Where the reader's inner dimension is the reduction, each result is a dot product. Else scaled
    rows of the right operand are accumulated into contiguous results (axpy).
    """

    reader: Reader
    rows: int
    sums_inner: bool
    scale: RightScale
    """The factor that is in the left operand already, and the one that the reader leaves out."""

    @staticmethod
    def most_rows(reader: Reader, sums_inner: bool, target: KernelTarget) -> int:
        """Rows per kernel; more where each kernel decodes the codes again."""
        has_codes = RightBlocks(reader, target, RightScale()).codes is not None
        return 2 * KERNEL_ROWS if sums_inner and has_codes else KERNEL_ROWS

    def text(self, name: str, target: KernelTarget) -> str:
        """The function: the reader's parameters, the left operand, the result, then `_SIZES`."""
        text = KernelText()
        zero, big = text.index(0), text.index(1 << 40)
        text.line("%a_bytes = memref.cast %a : memref<1xi8> to memref<?xi8>")
        text.line(f"%a_view = memref.view %a_bytes[{zero}][{big}] : memref<?xi8> to memref<?xf32>")
        text.line("%c_view = memref.cast %c : memref<1xf32> to memref<?xf32>")
        self.reader.begin(text)
        parts = SkinnyParts(text, target, self.rows, RightBlocks(self.reader, target, self.scale))
        (write_dots if self.sums_inner else write_added_rows)(parts)
        parameters = [("%a", "memref<1xi8>"), ("%c", "memref<1xf32>")]
        parameters += [(f"%{each}", "index") for each in _SIZES]
        return text.function(name, [*self.reader.parameters(), *parameters])
