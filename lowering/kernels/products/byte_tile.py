"""The micro-kernel for products of bytes, with sums of i32 that wrap.

With VNNI, `vpdpbusd` adds up four products of unsigned by signed bytes. Where both operands are
signed, 128 is added to the left one, and 128 times the sum of each column taken off; where both are
unsigned, it is the other way round. The sign bit flips, and the same instruction sums columns, as a
row more of the tile, all of whose bytes are 0x80. Elsewhere bytes are i16, whose pairs `vpmaddwd`
multiplies and adds, exactly.
"""

from dataclasses import replace

from mlir_fp8.lowering.kernels.products.amx_fallback import OfTiles
from mlir_fp8.lowering.kernels.products.tile import UNROLL, Tile
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget

SIGNED = "arith.extsi"
FLIP = -0x7F7F7F80
"""Four bytes of 128."""
_DOT = "llvm.x86.avx512.vpdpbusd"
_PAIRS = {16: "llvm.x86.avx512.pmaddw.d.512", 8: "llvm.x86.avx2.pmadd.wd"}


def flips(extensions: tuple[str | None, str | None]) -> bool:
    """Whether `vpdpbusd` needs a sign bit flipped; `extensions` are those of the operands."""
    return extensions[0] == extensions[1]


def byte_tile_text(
    name: str, target: KernelTarget, form: str, extensions: tuple[str | None, str | None]
) -> str:
    """The function, with the parameters and the meaning of `tile.tile_text`; results are i32."""
    return ByteTile(target, form, extensions).function(name)


def byte_fallback_text(
    name: str, target: KernelTarget, extensions: tuple[str | None, str | None]
) -> str:
    """`byte_tile_text` for what is packed for AMX."""
    return _OfTiles(replace(target, rows=4), "i8", extensions).function(name)


def byte_intrinsics(target: KernelTarget) -> dict[str, str]:
    """The functions that the kernels call, with their types."""
    words, size = f"vector<{target.lanes}xi32>", 32 * target.lanes
    if target.byte_dots:
        bytes_ = f"vector<{4 * target.lanes}xi8>"
        return {f"{_DOT}.{size}": f"({words}, {bytes_}, {bytes_}) -> {words}"}
    halves = f"vector<{2 * target.lanes}xi16>"
    if target.lanes not in _PAIRS:
        return {}
    return {_PAIRS[target.lanes]: f"({halves}, {halves}) -> {words}"}


class ByteTile(Tile):
    """The function while it is written."""

    def __init__(
        self, target: KernelTarget, form: str, extensions: tuple[str | None, str | None]
    ) -> None:
        super().__init__(target, form)
        self.right_is_signed = extensions[1] == SIGNED
        self.flips = form == "i8" and flips(extensions)

    def sums(self, row: str, panel: str) -> list[str]:
        if not self.flips:
            return super().sums(row, panel)
        text, target = self.text, self.target
        places = self.rows_at(row)
        flip = text.constant(f"dense<{FLIP}> : {self.vector}")
        zeros = [text.zeros(target.lanes, "i32")] * ((target.rows + 1) * target.vectors)
        types = [self.vector] * len(zeros)
        with text.fold(text.index(0), "%depth", text.index(UNROLL), zeros, types) as fold:
            depth, sums, results = fold
            along = self.along(depth)
            for step in range(UNROLL):
                at = text.add(depth, step), text.add(along, step)
                right = self._step(at, places, panel, sums)
                for j, each in enumerate(right, target.rows * target.vectors):
                    sums[j] = self.dot(flip, each[0], sums[j])
        of_rows = target.rows * target.vectors
        return [
            text.value(
                f"arith.subi {each}, {results[of_rows + i % target.vectors]} : {self.vector}"
            )
            for i, each in enumerate(results[:of_rows])
        ]

    def scalar(self, word: str) -> str:
        if not self.flips:
            return word
        # LLVM 22 does not come to an end where vectors are flipped, with VBMI.
        return self.text.value(f"arith.xori {word}, {self.text.constant(f'{FLIP} : i32')} : i32")

    def operand(self, value: str) -> tuple[str, ...]:
        return (value,)

    def added(self, left: tuple[str, ...], right: tuple[str, ...], total: str) -> str:
        (a,), (b,) = left, right
        if self.form == "i8":
            return self.dot(a, b, total)
        return self._pairs(a, b, total)

    def dot(self, left: str, right: str, total: str) -> str:
        """`vpdpbusd`, whose first operand is unsigned."""
        text, bytes_ = self.text, f"vector<{4 * self.target.lanes}xi8>"
        first, second = (
            text.value(f"vector.bitcast {each} : {self.vector} to {bytes_}")
            for each in ((left, right) if self.right_is_signed else (right, left))
        )
        return self._called(total, first, second)

    def _called(self, *operands: str) -> str:
        ((name, types),) = byte_intrinsics(self.target).items()
        return self.text.value(f"func.call @{name}({', '.join(operands)}) : {types}")

    def _pairs(self, a: str, b: str, total: str) -> str:
        text, words = self.text, self.vector
        if byte_intrinsics(self.target):
            halves = f"vector<{2 * self.target.lanes}xi16>"
            a, b = (text.value(f"vector.bitcast {x} : {words} to {halves}") for x in (a, b))
            products = [self._called(a, b)]
        else:
            by = text.constant(f"dense<16> : {words}")
            products = []
            for is_low in (True, False):
                halves = [text.value(f"arith.shli {x}, {by} : {words}") for x in (a, b)]
                halves = halves if is_low else [a, b]
                halves = [text.value(f"arith.shrsi {x}, {by} : {words}") for x in halves]
                products.append(text.value(f"arith.muli {', '.join(halves)} : {words}"))
        for each in products:
            total = text.value(f"arith.addi {total}, {each} : {words}")
        return total


class _OfTiles(OfTiles, ByteTile):
    pass
