"""What the kernels of few rows share: addressing of rows and results, and multiply-add."""

from dataclasses import dataclass

from mlir_fp8.lowering.kernels.products.right_blocks import RightBlocks
from mlir_fp8.lowering.kernels.products.tile import multiply_add
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import KernelText


@dataclass(frozen=True)
class SkinnyParts:
    """A kernel of `rows` rows that is being emitted."""

    text: KernelText
    target: KernelTarget
    rows: int
    blocks: RightBlocks

    def left(self, row: int, depth: str, lanes: int) -> str:
        """A vector of `lanes` elements of a row, along the reduction."""
        text = self.text
        place = text.add(text.mul(text.index(row), "%a_stride"), "%a_offset")
        place = text.add(place, depth)
        return text.value(f"vector.load %a_view[{place}] : memref<?xf32>, vector<{lanes}xf32>")

    def result(self, row: int, column: str) -> str:
        """The offset of a result."""
        text = self.text
        place = text.add("%c_offset", text.mul(text.index(row), "%c_row"))
        return text.add(place, text.mul(column, "%c_column"))

    def added(self, left: str, right: str, total: str, lanes: int) -> str:
        return multiply_add(self.text, self.target, left, right, total, f"vector<{lanes}xf32>")

    def load_results(self, place: str, lanes: int) -> str:
        return self.text.value(f"vector.load %c_view[{place}] : memref<?xf32>, vector<{lanes}xf32>")

    def store_results(self, value: str, place: str, lanes: int) -> None:
        types = f"memref<?xf32>, vector<{lanes}xf32>"
        self.text.line(f"vector.store {value}, %c_view[{place}] : {types}")
