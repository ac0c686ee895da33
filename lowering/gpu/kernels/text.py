"""Emits GPU kernels as MLIR text: what the text of CPU kernels has, and threads, warps, words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.kernels.vector_code.text import KernelText

WARP = 32
SHARED = "#gpu.address_space<workgroup>"


@dataclass(frozen=True)
class Kernel:
    """A kernel and how it is launched; `parameters` pointers, operands first, then results."""

    name: str
    text: str
    grid: tuple[int, int]
    block: int
    shared_bytes: int = 0
    """Of memory that the launch adds to what the kernel declares: `GpuText.dynamic_shared`."""
    cluster: int = 1
    """Blocks side by side in x that run together."""


class GpuText(KernelText):
    """The body of one kernel."""

    def __init__(self) -> None:
        super().__init__()
        self._shared: list[str] = []

    def i32(self, number: int) -> str:
        return self.constant(f"{number} : i32")

    def f32(self, number: float) -> str:
        return self.constant(f"{number:.9e} : f32")

    def word_op(self, name: str, left: str, right: str | int) -> str:
        """`arith.name` of two words, i32."""
        right = self.i32(right) if isinstance(right, int) else right
        return self.value(f"arith.{name} {left}, {right} : i32")

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c of f32 numbers, rounded once."""
        types = "(f32, f32, f32) -> f32"
        return self.value(f'llvm.call_intrinsic "llvm.fma.f32"({a}, {b}, {c}) : {types}')

    def thread(self) -> str:
        return self.value("gpu.thread_id x")

    def block(self, axis: str = "x") -> str:
        return self.value(f"gpu.block_id {axis}")

    def barrier(self) -> None:
        self.line("gpu.barrier")

    def below(self, left: str, right: str | int) -> str:
        """Whether one index is below another."""
        right = self.index(right) if isinstance(right, int) else right
        return self.value(f"arith.cmpi ult, {left}, {right} : index")

    def same(self, left: str, right: int) -> str:
        return self.value(f"arith.cmpi eq, {left}, {self.index(right)} : index")

    def both(self, left: str | None, right: str) -> str:
        return right if left is None else self.value(f"arith.andi {left}, {right} : i1")

    def chosen(self, condition: str | None, type_: str, made: Callable[[], str], other: str) -> str:
        """What `made` emits where `condition` holds, else `other`."""
        if condition is None:
            return made()
        self._count += 1
        name = f"%o{self._count}"
        self.line(f"{name} = scf.if {condition} -> ({type_}) {{")
        self.line(f"scf.yield {made()} : {type_}")
        self.line("} else {")
        self.line(f"scf.yield {other} : {type_}")
        self.line("}")
        return name

    def chosen_list(
        self,
        condition: str,
        types: Sequence[str],
        made: Callable[[], Sequence[str]],
        others: Callable[[], Sequence[str]],
    ) -> list[str]:
        """As `chosen`, of several values, each side emitted only where it is taken."""
        self._count += 1
        name, listed = f"%o{self._count}", ", ".join(types)
        self.line(f"{name}:{len(types)} = scf.if {condition} -> ({listed}) {{")
        self.line(f"scf.yield {', '.join(made())} : {listed}")
        self.line("} else {")
        self.line(f"scf.yield {', '.join(others())} : {listed}")
        self.line("}")
        return [f"{name}#{i}" for i in range(len(types))]

    def repeated(
        self,
        starts: Sequence[str],
        types: Sequence[str],
        step: Callable[[list[str]], tuple[str, list[str]]],
    ) -> list[str]:
        """Values that `step` makes anew, while the condition that it gives with them holds."""
        self._count += 1
        name, listed = f"%w{self._count}", ", ".join(types)
        carried = [f"%y{self._count}_{i}" for i in range(len(starts))]
        pairs = ", ".join(f"{a} = {b}" for a, b in zip(carried, starts, strict=True))
        self.line(f"{name}:{len(starts)} = scf.while ({pairs}) : ({listed}) -> ({listed}) {{")
        condition, made = step(carried)
        passed = [f"%z{self._count}_{i}" for i in range(len(starts))]
        self.line(f"scf.condition({condition}) {', '.join(made)} : {listed}")
        arguments = ", ".join(f"{a}: {b}" for a, b in zip(passed, types, strict=True))
        self.line(f"}} do {{\n^bb0({arguments}):")
        self.line(f"scf.yield {', '.join(passed)} : {listed}\n}}")
        return [f"{name}#{i}" for i in range(len(starts))]

    def shared(self, name: str, size: int, element: str) -> tuple[str, str]:
        """Shared memory of the block: the memref and its type."""
        type_ = f"memref<{size}x{element}, {SHARED}>"
        self._shared.append(f'memref.global "private" @{name} : {type_} {{alignment = 16 : i64}}')
        return self.value(f"memref.get_global @{name} : {type_}"), type_

    def dynamic_shared(self, name: str) -> str:
        """The address, i32, of the shared memory that a launch adds, which a kernel has one of."""
        self._shared.append(
            f"llvm.mlir.global external @{name}() {{addr_space = 3 : i32, alignment = 1024 : i64}} "
            ": !llvm.array<0 x i8>"
        )
        pointer = self.value(f"llvm.mlir.addressof @{name} : !llvm.ptr<3>")
        return self.value(f"llvm.ptrtoint {pointer} : !llvm.ptr<3> to i32")

    def bits(self, value: str, from_: str, to: str) -> str:
        return self.value(f"arith.bitcast {value} : {from_} to {to}")

    def words(self, vector: str, type_: str, count: int) -> list[str]:
        """A vector of `type_` as `count` words, i32."""
        words = self.value(f"vector.bitcast {vector} : {type_} to vector<{count}xi32>")
        return [
            self.value(f"vector.extract {words}[{i}] : i32 from vector<{count}xi32>")
            for i in range(count)
        ]

    def bytes_of(self, words: Sequence[str]) -> str:
        """Words as a vector of bytes, the lowest byte of each first."""
        count = len(words)
        listed = self.value(f"vector.from_elements {', '.join(words)} : vector<{count}xi32>")
        return self.value(
            f"vector.bitcast {listed} : vector<{count}xi32> to vector<{4 * count}xi8>"
        )

    def permuted(self, low: str, high: str, selector: int | str) -> str:
        """`prmt`: byte i of the result is the one that digit i of `selector`, from the right, has:
        0 to 3 are those of `low`, 4 to 7 those of `high`."""
        selector = self.i32(selector) if isinstance(selector, int) else selector
        operands = f"{low}, {high}, {selector}"
        return self.value(
            f'llvm.call_intrinsic "llvm.nvvm.prmt"({operands}) : (i32, i32, i32) -> i32'
        )

    def shuffled(self, word: str, lanes: int) -> str:
        """`word` of the thread whose lane differs from this one's in the bit `lanes`."""
        operands = f"{self.i32(-1)}, {word}, {self.i32(lanes)}, {self.i32(31)}"
        return self.value(f"nvvm.shfl.sync bfly {operands} : i32 -> i32")

    def warp_maximum(self, word: str) -> str:
        """The largest unsigned word of a warp."""
        return self.value(f"nvvm.redux.sync umax {word}, {self.i32(-1)} : i32 -> i32")

    def kernel(
        self,
        name: str,
        parameters: Sequence[tuple[str, str]],
        threads: int,
        blocks: int = 0,
        cluster: int = 1,
    ) -> str:
        """The whole kernel; at least `blocks` of a block of `threads` fit on a multiprocessor."""
        signature = ", ".join(f"{each}: {type_}" for each, type_ in parameters)
        attributes = f"known_block_size = array<i32: {threads}, 1, 1>"
        if blocks:
            attributes += f", nvvm.minctasm = {blocks} : i32"
        if cluster > 1:
            attributes += f", nvvm.cluster_dim = array<i32: {cluster}, 1, 1>"
        constants = [f"{name} = arith.constant {text}" for text, name in self._constants.items()]
        return "\n".join(
            [
                *self._shared,
                f"gpu.func @{name}({signature}) kernel attributes {{{attributes}}} {{",
                *constants,
                *self._lines,
                "gpu.return\n}",
            ]
        )
