"""The micro-kernel of f32 whose right operand is decoded in registers: codes and bf16 in panels."""

from mlir_fp8.lowering.kernels.products.tile import Tile
from mlir_fp8.lowering.kernels.vector_code.code_blocks import sliced
from mlir_fp8.lowering.kernels.vector_code.expression import Expression
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget

_PREFETCHED_BYTES = 4096
"""From what is read to what is asked for."""


class CodesTile(Tile):
    """`right` is read in panels of the target's columns, one line of them after the other."""

    def __init__(self, target: KernelTarget, right: Expression) -> None:
        super().__init__(target, "f32")
        self.right = right

    @property
    def right_element(self) -> str:
        return self.right.leaves[0].element

    def rights(self, place: str) -> list[str]:
        """A line of a panel, as f32."""
        text, target, columns = self.text, self.target, self.target.columns
        vector = f"vector<{columns}x{self.right_element}>"
        view = f"memref<?x{self.right_element}>"
        size = {"i8": 1, "i16": 2}[self.right_element]
        for start in range(0, columns * size, 64):
            ahead = text.add(place, (_PREFETCHED_BYTES + start) // size)
            text.line(f"memref.prefetch %b_view[{ahead}], read, locality<3>, data : {view}")

        def load(_: int) -> str:
            return text.value(f"vector.load %b_view[{place}] : {view}, {vector}")

        wide = self.right.write(text, target, columns, load)
        starts = range(0, columns, target.lanes)
        return [sliced(text, wide, start, target.lanes, columns, "f32") for start in starts]
