"""The kernel for few rows of bytes by AMX: columns of the right operand are loaded as they lie.

Contiguous along the sum, 16 of them are a tile as the instruction takes it on its left, so that the
results are transposed: the rows, up to 16, are the packed side.
"""

from mlir_fp8.lowering.kernels.products.amx_tile import AmxWriter
from mlir_fp8.lowering.kernels.vector_code.reader import Reader

ROWS, DEPTH = 16, 64
"""Rows of the left operand, and what depths are multiples of."""
COLUMNS = 64
"""Columns of a call, in four tiles."""
_SIZES = ("c_offset", "c_row", "c_column", "rows", "depth")
_TILES = COLUMNS // ROWS
_RIGHT, _LEFT = (4, 5), 7


def amx_rows_text(name: str, reader: Reader, signs: str) -> str:
    """The function: the reader's parameters, the left operand in words of four, the result, and
    `_SIZES`; `signs` are those of the right operand, then of the left one."""
    return _Writer(reader, signs).function(name)


class _Writer(AmxWriter):
    def __init__(self, reader: Reader, signs: str) -> None:
        super().__init__(sums_apart=False, signs=signs)
        self.reader = reader

    def function(self, name: str) -> str:
        text = self.text
        zero = text.index(0)
        scratch = f"memref<{COLUMNS}x{ROWS}xi32>"
        text.line(f"%scratch = memref.alloca() {{alignment = 64 : i64}} : {scratch}")
        text.line("%c_view = memref.cast %c : memref<1xi32> to memref<?xi32>")
        left = self.address("%a", "memref<1xi8>")
        right = text.add(self.address("%s0", "memref<1xi8>"), "%offset0")
        to = self.address("%scratch", scratch)
        self.configure()
        for i in range(_TILES):
            self.call("tilezero", self.register(i))
        line = text.index(ROWS * 4)
        with text.loop(zero, "%depth", text.index(DEPTH)) as depth:
            self.move("tileloadd64", _LEFT, text.add(left, text.mul(depth, ROWS)), line)
            for i in range(_TILES):
                columns = text.mul(text.index(ROWS * i), "%outer_stride0")
                place, register = text.add(right, text.add(columns, depth)), _RIGHT[i % 2]
                self.move("tileloadd64", register, place, "%outer_stride0")
                self.multiply(i, register, _LEFT)
        for i in range(_TILES):
            self.move("tilestored64", i, text.add(to, i * ROWS * ROWS * 4), line)
        self.call("tilerelease")
        with text.loop(zero, "%rows", text.index(1)) as row:
            start = text.add("%c_offset", text.mul(row, "%c_row"))
            with text.loop(zero, text.index(COLUMNS), text.index(1)) as column:
                value = text.value(f"memref.load %scratch[{column}, {row}] : {scratch}")
                place = text.add(start, text.mul(column, "%c_column"))
                text.line(f"memref.store {value}, %c_view[{place}] : memref<?xi32>")
        parameters = [("%a", "memref<1xi8>"), ("%c", "memref<1xi32>")]
        parameters += [(f"%{each}", "index") for each in _SIZES]
        return text.function(name, [*self.reader.parameters(), *parameters])
