"""The micro-kernels of Arm's instructions that multiply four numbers of the sum at once.

Both operands lie in panels of words of four consecutive elements of the reduction, a word per row
or column of the register tile, so that a vector of words is an operand of the instruction.

`bfmmla` adds two products, then these to the sum, two times; both sums round to odd, and subnormal
numbers count as zero, whatever FPCR says, unless its EBF is set. Rounding to odd errs by less than
two halves of a last place, so that k numbers have the error of k additions. Products of codes and
what they add up to are far from subnormal; of bf16 see `last_places`. `fdot` adds four products and
the sum, and rounds once. Arm's Architecture Reference Manual, BFMMLA, BFDotAdd, FDOT, FPMR.
"""

import contextlib
from collections.abc import Iterator

from mlir_fp8.lowering.kernels.products.tile import UNROLL, Tile, multiply_add
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget

BFMMLA = "llvm.aarch64.neon.bfmmla"
FDOT = "llvm.aarch64.neon.fp8.fdot4.lane.v4f32.v16i8"
SET_FPMR = "llvm.aarch64.set.fpmr"
READ = "llvm.read_volatile_register.i64"
INTRINSICS = {
    "fours": {BFMMLA: "(vector<4xf32>, vector<8xbf16>, vector<8xbf16>) -> vector<4xf32>"},
    "codes": {
        FDOT: "(vector<4xf32>, vector<16xi8>, vector<16xi8>, i32) -> vector<4xf32>",
        SET_FPMR: "(i64)",
        READ: "(!llvm.metadata) -> i64",
    },
}
"""What the micro-kernels of packed forms call, with their types."""
_FORMATS = {"f8E5M2": 0, "f8E4M3FN": 1}
"""As FPMR has them: that of the first operand in bits 0 to 2, of the second one in 3 to 5."""


def probe(intrinsic: str) -> str:
    """LLVM IR that calls one of `INTRINSICS`, for whoever asks what a processor has."""
    if intrinsic == FDOT:
        operand, last = "<16 x i8>", ", i32 0"
    else:
        operand, last = "<8 x bfloat>", ""
    types = f"<4 x float>, {operand}, {operand}{last.replace(' 0', '')}"
    return (
        f"declare <4 x float> @{intrinsic}({types})\n"
        f"define <4 x float> @probe(<4 x float> %c, {operand} %a) {{\n"
        f"  %r = call <4 x float> @{intrinsic}(<4 x float> %c, {operand} %a, {operand} %a{last})\n"
        "  ret <4 x float> %r\n}\n"
    )


def bfmmla_tile_text(name: str, target: KernelTarget) -> str:
    """The function, with the parameters and the meaning of `tile.tile_text`, of the form fours."""
    return _Bfmmla(target, "fours").function(name)


def fours_in_f32_text(name: str, target: KernelTarget) -> str:
    """The same as `bfmmla_tile_text`, which multiplies numbers of f32 and loses none."""
    return _InF32(target, "fours").function(name)


def fdot_tile_text(name: str, target: KernelTarget, left: str, right: str) -> str:
    """The same of the form codes, whose formats are `left` and `right`."""
    return _Fdot(target, left, right).function(name)


class _OfFours(Tile):
    """A step of the reduction is a word of each row and column of the tile."""

    features: str
    """LLVM's, of this function alone: LLVM may know less of the processor than the system tells."""
    operand_type: str
    words: int
    """Of an operand."""

    @property
    def attributes(self) -> str:
        return f'llvm.target_features = #llvm.target_features<["{self.features}"]>, '

    def sums(self, row: str, panel: str) -> list[str]:
        text, target = self.text, self.target
        first = text.mul(row, "%depth")
        zeros = [text.zeros(target.lanes)] * (target.rows * target.vectors)
        types = [self.vector] * len(zeros)
        with text.fold(text.index(0), "%depth", text.index(UNROLL), zeros, types) as fold:
            depth, sums, results = fold
            for i in range(UNROLL):
                step = text.add(depth, i)
                left = self._operands("%a_view", first, step, target.rows)
                right = self._operands("%b_view", panel, step, target.columns)
                self.multiply(left, right, sums)
        return self.in_rows(results)

    def _operands(self, view: str, start: str, step: str, words: int) -> list[str]:
        """The vectors of the words of one step."""
        text = self.text
        place = text.add(start, text.mul(step, words))
        vector = f"vector<{self.words}x{self.element}>"
        found = []
        for i in range(0, words, self.words):
            at = text.add(place, i)
            value = text.value(f"vector.load {view}[{at}] : memref<?x{self.element}>, {vector}")
            found.append(text.value(f"vector.bitcast {value} : {vector} to {self.operand_type}"))
        return found

    def multiply(self, left: list[str], right: list[str], sums: list[str]) -> None:
        raise NotImplementedError

    def in_rows(self, sums: list[str]) -> list[str]:
        """The vectors of `sums` as those of the rows."""
        return sums


class _Bfmmla(_OfFours):
    """Sums of two rows and two columns each: two of them are rows of four columns."""

    features, operand_type, words = "+bf16", "vector<8xbf16>", 2

    def __init__(self, target: KernelTarget, form: str) -> None:
        super().__init__(target, form)
        self.element = "i64"

    def multiply(self, left: list[str], right: list[str], sums: list[str]) -> None:
        types = INTRINSICS["fours"][BFMMLA]
        for i, a in enumerate(left):
            for j, b in enumerate(right):
                number = i * len(right) + j
                arguments = ", ".join((sums[number], a, b))
                sums[number] = self.text.value(f"func.call @{BFMMLA}({arguments}) : {types}")

    def in_rows(self, sums: list[str]) -> list[str]:
        text, pairs = self.text, self.target.columns // 2
        found = []
        for start in range(0, len(sums), pairs):
            for order in ([0, 1, 4, 5], [2, 3, 6, 7]):
                for j in range(start, start + pairs, 2):
                    found.append(
                        text.value(
                            f"vector.shuffle {sums[j]}, {sums[j + 1]} {order}"
                            f" : {self.vector}, {self.vector}"
                        )
                    )
        return found


class _InF32(Tile):
    """Each fourth of a word is the upper half of an f32 number."""

    def __init__(self, target: KernelTarget, form: str) -> None:
        super().__init__(target, form)
        self.element = "i64"

    def sums(self, row: str, panel: str) -> list[str]:
        text, target = self.text, self.target
        first = text.mul(row, "%depth")
        zeros = [text.zeros(target.lanes)] * (target.rows * target.vectors)
        types = [self.vector] * len(zeros)
        with text.fold(text.index(0), "%depth", text.index(1), zeros, types) as fold:
            depth, sums, results = fold
            left = text.add(first, text.mul(depth, target.rows))
            right = text.add(panel, text.mul(depth, target.columns))
            for number in range(len(sums)):
                i, j = divmod(number, target.vectors)
                columns = self._words("%b_view", text.add(right, j * target.lanes), target.lanes)
                one = self._words("%a_view", text.add(left, i), 1)
                for place in range(4):
                    a = self._floats(one, place, 1)
                    a = text.value(f"vector.extract {a}[0] : f32 from vector<1xf32>")
                    a = text.value(f"vector.broadcast {a} : f32 to {self.vector}")
                    b = self._floats(columns, place, target.lanes)
                    sums[number] = multiply_add(text, target, a, b, sums[number], self.vector)
        return results

    def _words(self, view: str, place: str, count: int) -> str:
        vector = f"vector<{count}xi64>"
        return self.text.value(f"vector.load {view}[{place}] : memref<?xi64>, {vector}")

    def _floats(self, words: str, place: int, count: int) -> str:
        """The numbers `place` of so many words."""
        text, wide, narrow = self.text, f"vector<{count}xi64>", f"vector<{count}xi32>"
        moved = words
        if place == 0:
            up = text.constant(f"dense<16> : {wide}")
            moved = text.value(f"arith.shli {words}, {up} : {wide}")
        elif place > 1:
            down = text.constant(f"dense<{16 * (place - 1)}> : {wide}")
            moved = text.value(f"arith.shrui {words}, {down} : {wide}")
        bits = text.value(f"arith.trunci {moved} : {wide} to {narrow}")
        mask = text.constant(f"dense<-65536> : {narrow}")
        bits = text.value(f"arith.andi {bits}, {mask} : {narrow}")
        return text.value(f"arith.bitcast {bits} : {narrow} to vector<{count}xf32>")


class _Fdot(_OfFours):
    """Sums of four columns; the four codes of a row are a lane of the second operand."""

    features, operand_type, words = "+fp8dot4", "vector<16xi8>", 4

    def __init__(self, target: KernelTarget, left: str, right: str) -> None:
        super().__init__(target, "codes")
        self.element = "i32"
        self.mode = _FORMATS[right] | _FORMATS[left] << 3

    @contextlib.contextmanager
    def prepared(self) -> Iterator[None]:
        text = self.text
        name = '#llvm.md_node<#llvm.md_string<"fpmr">>'
        register = text.value(f"llvm.mlir.metadata_as_value {name} : !llvm.metadata")
        before = text.value(f"func.call @{READ}({register}) : {INTRINSICS['codes'][READ]}")
        text.call(SET_FPMR, [(text.constant(f"{self.mode} : i64"), "i64")])
        yield
        text.call(SET_FPMR, [(before, "i64")])

    def multiply(self, left: list[str], right: list[str], sums: list[str]) -> None:
        text, types = self.text, INTRINSICS["codes"][FDOT]
        for i in range(self.target.rows):
            lane = text.constant(f"{i % self.words} : i32")
            for j, b in enumerate(right):
                number = i * len(right) + j
                arguments = ", ".join((sums[number], b, left[i // self.words], lane))
                sums[number] = text.value(f"func.call @{FDOT}({arguments}) : {types}")
