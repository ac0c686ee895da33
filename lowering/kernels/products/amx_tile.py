"""The kernel that multiplies packed blocks of bf16 by AMX: tiles of 32 by 32 results.

Four tile registers hold sums, two rows of the left operand, two columns of the right one. Each
`tdpbf16ps` multiplies 16 rows of 32 numbers with 16 columns: 8192 products in 16 cycles. Sums over
more than one block go on in the tile registers where the last block stopped.

The registers are named outright and configured on entry, so that LLVM has none to spill. Intel's
architecture manual, `LDTILECFG`, has the configuration's layout.
"""

from mlir_fp8.lowering.kernels.products.tile import store_part
from mlir_fp8.lowering.kernels.vector_code.target import (
    ARCH_PRCTL,
    REQUEST_PERMISSION,
    TILE_DATA,
)
from mlir_fp8.lowering.kernels.vector_code.text import KernelText

_TILE_ROWS, _ROW_BYTES = 16, 64
STEP = 16
"""Steps, of two numbers each, that one instruction sums."""
_LEFT, _RIGHT = (4, 5), (6, 7)
"""Tile registers of the operands; those of sums are 0 to 3."""
SIDE = 2 * _TILE_ROWS
_PREFIX = "llvm.x86."
INTRINSICS = {
    "ldtilecfg": "(!llvm.ptr)",
    "tilerelease": "()",
    "tilezero": "(i8)",
    "tileloadd64": "(i8, !llvm.ptr, i64)",
    "tilestored64": "(i8, !llvm.ptr, i64)",
}
"""What the kernel calls beside `MULTIPLY`, without LLVM's prefix, and their types."""
MULTIPLY = {"": "tdpbf16ps", "ss": "tdpbssd", "su": "tdpbsud", "us": "tdpbusd", "uu": "tdpbuud"}
"""The instruction that multiplies tiles of bf16, or of signed and unsigned bytes."""
SYSTEM_CALL, SYSTEM_CALL_TYPE = "syscall", "(i64, i64, i64) -> i64"
"""Of the C library; what the function of `permission_text` calls."""
_SIZES = ("c_offset", "c_stride", "rows", "columns", "panel", "depth", "accumulates")


def intrinsics(signs: str = "") -> list[tuple[str, str]]:
    """Names and types of the functions that the kernel calls."""
    found = {**INTRINSICS, MULTIPLY[signs]: "(i8, i8, i8)"}
    return [(_PREFIX + name, types) for name, types in found.items()]


def amx_tile_text(name: str, *, sums_apart: bool = False, signs: str = "") -> str:
    """The function, with the parameters and the meaning of `tile.tile_text`.

    `depth` is a multiple of `STEP`; both operands have zeros up to whole tiles. With `sums_apart`
    vector registers add to results that are there, which may be subnormal. With `signs`, a key of
    `MULTIPLY`, operands are bytes and results i32.
    """
    return AmxWriter(sums_apart, signs).function(name)


def permission_text(name: str) -> str:
    """A function that tells, as an i1, whether Linux lets this process use tile registers."""
    text = KernelText()
    numbers = [
        text.constant(f"{each} : i64") for each in (ARCH_PRCTL, REQUEST_PERMISSION, TILE_DATA)
    ]
    refusal = text.value(f"func.call @{SYSTEM_CALL}({', '.join(numbers)}) : {SYSTEM_CALL_TYPE}")
    granted = text.value(f"arith.cmpi eq, {refusal}, {text.constant('0 : i64')} : i64")
    return text.function(name, [], result=(granted, "i1"))


class AmxWriter:
    """A function that uses tile registers, while it is written."""

    def __init__(self, sums_apart: bool, signs: str) -> None:
        self.text, self.sums_apart, self.signs = KernelText(), sums_apart, signs
        self.total = "i32" if signs else "f32"

    def function(self, name: str) -> str:
        text = self.text
        zero = text.index(0)
        self.scratch = f"memref<{SIDE}x{SIDE}x{self.total}>"
        text.line(f"%scratch = memref.alloca() {{alignment = 64 : i64}} : {self.scratch}")
        self.scratch_start = self.address("%scratch", self.scratch)
        self.starts = {
            each: self.address(f"%{each}", f"memref<1x{element}>")
            for each, element in (("a", "i8"), ("b", "i8"), ("c", self.total))
        }
        text.line(f"%c_view = memref.cast %c : memref<1x{self.total}> to memref<?x{self.total}>")
        text.line(f"%adds = arith.cmpi ne, %accumulates, {zero} : index")
        self.configure()
        with text.loop(zero, "%columns", text.index(SIDE)) as column:
            panel = text.mul(text.mul(text.div(column, SIDE), "%panel"), 4)
            with text.loop(zero, "%rows", text.index(SIDE)) as row:
                self._block(row, column, panel)
        self.call("tilerelease")
        parameters = [(f"%{each}", "memref<1xi8>") for each in "ab"]
        parameters.append(("%c", f"memref<1x{self.total}>"))
        return text.function(name, [*parameters, *((f"%{each}", "index") for each in _SIZES)])

    def configure(self) -> None:
        """Palette 1, all eight tiles of 16 rows of 64 bytes."""
        text, words = self.text, "memref<16xi32>"
        text.line(f"%config = memref.alloca() {{alignment = 64 : i64}} : {words}")
        row_bytes = _ROW_BYTES << 16 | _ROW_BYTES
        rows = int.from_bytes([_TILE_ROWS] * 4, "little")
        numbers = [1, 0, 0, 0, *[row_bytes] * 4, 0, 0, 0, 0, rows, rows, 0, 0]
        config = text.constant(f"dense<{numbers}> : vector<16xi32>")
        text.line(f"vector.store {config}, %config[{text.index(0)}] : {words}, vector<16xi32>")
        self.call("ldtilecfg", self.pointer(self.address("%config", words)))

    def _block(self, row: str, column: str, panel: str) -> None:
        """The results from `row` and `column` on; at the edges by way of a whole block."""
        text, side = self.text, self.text.index(SIDE)
        rows = text.minimum(text.sub("%rows", row), side)
        columns = text.minimum(text.sub("%columns", column), side)
        whole = text.index(SIDE * SIDE)
        is_whole = text.value(f"arith.cmpi eq, {text.mul(rows, columns)}, {whole} : index")
        start = text.add(text.add("%c_offset", text.mul(row, "%c_stride")), column)
        first = text.add(self.starts["c"], text.mul(start, 4))
        stride = text.mul("%c_stride", 4)
        self._prefetch(row, column)
        stored = is_whole
        if self.sums_apart:
            begins = text.value(f"arith.cmpi eq, %accumulates, {text.index(0)} : index")
            stored = text.value(f"arith.andi {is_whole}, {begins} : i1")
            self._each_zero()
        else:
            goes_on = text.value(f"arith.andi {is_whole}, %adds : i1")
            with text.when(goes_on):
                self._each_sum("tileloadd64", first, stride)
                text.otherwise()
                self._each_zero()
        is_tall = text.value(f"arith.cmpi ugt, {rows}, {text.index(_TILE_ROWS)} : index")
        with text.when(is_tall):
            self._sum(row, panel, (0, 1))
            text.otherwise()
            self._sum(row, panel, (0,))
        with text.when(stored):
            self._each_sum("tilestored64", first, stride)
            text.otherwise()
            self._each_sum("tilestored64", self.scratch_start, text.index(4 * SIDE))
            if not self.sums_apart:
                store_part(text, self.scratch, start, rows, columns, self.total)
                return
            with text.when(is_whole):
                self._add_whole(start)
                text.otherwise()
                store_part(text, self.scratch, start, rows, columns)

    def _each_zero(self) -> None:
        for number in range(4):
            self.call("tilezero", self.register(number))

    def _add_whole(self, start: str) -> None:
        text, vector = self.text, f"vector<{_TILE_ROWS}xf32>"
        with text.loop(text.index(0), text.index(SIDE), text.index(1)) as i:
            line = text.add(start, text.mul(i, "%c_stride"))
            for j in (0, _TILE_ROWS):
                place = text.add(line, j)
                value = text.value(
                    f"vector.load %scratch[{i}, {text.index(j)}] : {self.scratch}, {vector}"
                )
                before = text.value(f"vector.load %c_view[{place}] : memref<?xf32>, {vector}")
                total = text.value(f"arith.addf {before}, {value} : {vector}")
                text.line(f"vector.store {total}, %c_view[{place}] : memref<?xf32>, {vector}")

    def _prefetch(self, row: str, column: str) -> None:
        """Prefetch the tile's cache lines of the result, which are stored after the reduction."""
        text = self.text
        with text.loop(text.index(0), text.index(SIDE), text.index(1)) as i:
            place = text.add(text.add("%c_offset", text.mul(text.add(row, i), "%c_stride")), column)
            for j in (0, _TILE_ROWS):
                each = text.add(place, j)
                text.line(
                    f"memref.prefetch %c_view[{each}], write, locality<3>, data"
                    f" : memref<?x{self.total}>"
                )

    def _sum(self, row: str, panel: str, halves: tuple[int, ...]) -> None:
        """Of one or both halves of the rows."""
        text = self.text
        line = text.index(_ROW_BYTES)
        left = text.add(self.starts["a"], text.mul(text.mul(row, "%depth"), 4))
        right = text.add(self.starts["b"], panel)
        with text.loop(text.index(0), "%depth", text.index(STEP)) as depth:
            a, b = (text.add(each, text.mul(depth, 4 * SIDE)) for each in (left, right))
            self._load(_RIGHT[0], b, text.index(4 * SIDE))
            self._load(_RIGHT[1], text.add(b, _ROW_BYTES), text.index(4 * SIDE))
            for i in halves:
                self._load(_LEFT[i], text.add(a, i * _TILE_ROWS * _ROW_BYTES), line)
                self.multiply(2 * i, _LEFT[i], _RIGHT[0])
                self.multiply(2 * i + 1, _LEFT[i], _RIGHT[1])

    def multiply(self, to: int, left: int, right: int) -> None:
        """Add the product of two tile registers to a third one."""
        self.call(MULTIPLY[self.signs], *map(self.register, (to, left, right)))

    def _load(self, register: int, address: str, stride: str) -> None:
        self.move("tileloadd64", register, address, stride)

    def _each_sum(self, name: str, first: str, stride: str) -> None:
        """Load or store all sums, of a block whose rows are `stride` bytes apart."""
        below = self.text.add(first, self.text.mul(stride, _TILE_ROWS))
        for number in range(4):
            i, j = divmod(number, 2)
            self.move(name, number, self.text.add((first, below)[i], j * _ROW_BYTES), stride)

    def move(self, name: str, register: int, address: str, stride: str) -> None:
        step = self.text.value(f"arith.index_cast {stride} : index to i64")
        self.call(name, self.register(register), self.pointer(address), (step, "i64"))

    def register(self, number: int) -> tuple[str, str]:
        return self.text.constant(f"{number} : i8"), "i8"

    def address(self, buffer: str, type_: str) -> str:
        return self.text.value(
            f"memref.extract_aligned_pointer_as_index {buffer} : {type_} -> index"
        )

    def pointer(self, address: str) -> tuple[str, str]:
        number = self.text.value(f"arith.index_cast {address} : index to i64")
        return self.text.value(f"llvm.inttoptr {number} : i64 to !llvm.ptr"), "!llvm.ptr"

    def call(self, name: str, *arguments: tuple[str, str]) -> None:
        self.text.call(_PREFIX + name, arguments)
