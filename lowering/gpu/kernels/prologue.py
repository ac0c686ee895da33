"""What a kernel quantizes: a matrix in memory, or what elementwise ops make of several.

A vector has as many lanes as a load of 16 bytes has elements of what is quantized.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS, common_piece, load
from mlir_fp8.lowering.gpu.kernels.elementwise import Step, computed
from mlir_fp8.lowering.gpu.kernels.text import GpuText

MOST_STEPS = 64
MOST_COSTLY = 8
MOST_BYTES = 8
"""Read for an element, where a thread holds 64 of two bytes, or 32 of four: 128 registers or 64."""
BLOCK_BYTES = 1 << 17
"""Of what a block holds at once: half of a multiprocessor's registers."""


@dataclass(frozen=True)
class Input:
    """A pointer of the kernel: a matrix ("all"), a number for each of its "rows" or "columns", or
    one ("none"); `element` is bf16, f16 or f32."""

    element: str
    varies: str = "all"


@dataclass(frozen=True)
class Prologue:
    """Inputs, and the steps of which the last gives what is quantized."""

    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]

    @property
    def bytes(self) -> int:
        """What is read for an element."""
        return sum(ELEMENTS[each.element].size for each in self.inputs if each.varies == "all")

    def words(self, lanes: int) -> int:
        """The registers that a vector's inputs take; vectors share those of rows or columns."""
        return lanes * self.bytes // 4 + sum(
            each.varies in ("rows", "columns") for each in self.inputs
        )


@dataclass(frozen=True)
class Site:
    """Where a vector of a matrix is: its first element, and which of its pieces are inside."""

    place: str
    row: str
    column: str
    conditions: Sequence[str | None]


class Tensor:
    """What a kernel of a matrix `rows` x `columns` quantizes: its first parameters."""

    def __init__(
        self, text: GpuText, rows: int, columns: int, element: str, prologue: Prologue | None
    ) -> None:
        self._text, self._columns, self._element = text, columns, element
        self._prologue = prologue
        self._inputs = prologue.inputs if prologue else (Input(element),)
        sizes = {"all": rows * columns, "rows": rows, "columns": columns, "none": 1}
        names = ["%x", *(f"%x{i}" for i in range(1, len(self._inputs)))]
        self.parameters = [
            (name, f"memref<{sizes[each.varies]}x{ELEMENTS[each.element].storage}>")
            for name, each in zip(names, self._inputs, strict=True)
        ]

    @property
    def lanes(self) -> int:
        return ELEMENTS[self._element].lanes

    def vectors(self, sites: Iterable[Site]) -> list[str]:
        """The vectors at `sites`, as integers; zeros outside. All loads come first.

        Sites may be made on the way: what tells whether they are inside then is short-lived.
        """
        pairs = list(zip(self._inputs, self.parameters, strict=True))
        loaded = [(site, [self._loaded(*each, site) for each in pairs]) for site in sites]
        if self._prologue is None:
            return [vector for _, (vector,) in loaded]
        return [
            self._inside(self._computed(self._prologue, inputs), site) for site, inputs in loaded
        ]

    def _loaded(self, given: Input, memory: tuple[str, str], site: Site) -> str:
        text, storage, lanes = self._text, ELEMENTS[given.element].storage, self.lanes
        if given.varies in ("all", "columns"):
            place = site.place if given.varies == "all" else site.column
            piece = common_piece(self._columns, lanes)
            return load(text, memory, storage, place, lanes, piece, site.conditions)
        name, type_ = memory
        place = site.row if given.varies == "rows" else text.index(0)
        one = text.chosen(
            site.conditions[0] if given.varies == "rows" else None,
            storage,
            lambda: text.value(f"memref.load {name}[{place}] : {type_}"),
            text.constant(f"0 : {storage}"),
        )
        return text.value(f"vector.broadcast {one} : {storage} to vector<{lanes}x{storage}>")

    def _computed(self, prologue: Prologue, loaded: Sequence[str]) -> str:
        text, lanes = self._text, self.lanes
        elements = [each.element for each in (*prologue.inputs, *prologue.steps)]
        values = [
            text.value(
                f"vector.bitcast {vector} : {ELEMENTS[each.element].vector(lanes)} "
                f"to vector<{lanes}x{each.element}>"
            )
            for each, vector in zip(prologue.inputs, loaded, strict=True)
        ]
        for step in prologue.steps:
            operands = [values[i] for i in step.operands]
            of = elements[step.operands[0]] if step.operands else step.element
            values.append(computed(text, step, operands, of, lanes))
        result = ELEMENTS[self._element].vector(lanes)
        type_ = f"vector<{lanes}x{self._element}>"
        return text.value(f"vector.bitcast {values[-1]} : {type_} to {result}")

    def _inside(self, vector: str, site: Site) -> str:
        """`vector` with zeros where it is outside of the matrix."""
        text, type_ = self._text, ELEMENTS[self._element].vector(self.lanes)
        if None in site.conditions:
            return vector
        each = self.lanes // len(site.conditions)
        flags = ", ".join(str(flag) for flag in site.conditions for _ in range(each))
        mask = text.value(f"vector.from_elements {flags} : vector<{self.lanes}xi1>")
        zeros = text.constant(f"dense<0> : {type_}")
        of = f"vector<{self.lanes}xi1>, {type_}"
        return text.value(f"arith.select {mask}, {vector}, {zeros} : {of}")
