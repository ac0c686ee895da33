"""The kernel that makes of a finished block of results what follows them, element by element.

Scales, a bias, an activation, a cast: computed while the block is in the cache, so that the f32
results themselves need not go to memory. A maximum over all of them is kept by rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering._loop_annotations import ANNOTATION, PLAIN, WIDE, is_expanded
from mlir_fp8.lowering._parallel_loops import FUNCTION_COST
from mlir_fp8.lowering.kernels.expression import Leaf
from mlir_fp8.lowering.kernels.text import KernelText

_LOWEST = "0xFF800000 : f32"
"""What a maximum begins with: minus infinity."""


@dataclass(frozen=True)
class Epilogue:
    """Ops after a product, each of which reads its results or what the ops before made of them."""

    result: Leaf
    """The product's results: as a source, an element of the block; as a target, back into it."""
    inner: int
    """The dimension along which rows of results lie, n or m."""
    ops: tuple[ir.Operation, ...]
    sources: Mapping[ir.Value, Leaf | ir.Value]
    """What arguments of the bodies are: elements of buffers, or scalars."""
    stores: tuple[tuple[ir.Value, Leaf], ...]
    """Scalars that bodies yield, and where they go."""
    maxima: tuple[tuple[ir.Value, ir.Operation], ...]
    """Scalars of which an op asks for the largest."""
    scalars: tuple[ir.Value, ...]
    """Those that are computed before the product."""
    keeps_result: bool
    """Whether others read the buffer of the result."""
    moved: tuple[ir.Operation, ...]
    """Ops, in order, that are to come before the product: the buffers and scalars."""

    @property
    def leaves(self) -> list[Leaf]:
        """The buffers that it takes beside the result: those read, then those written."""
        read = [each for each in self.sources.values() if isinstance(each, Leaf)]
        both = [*read, *(leaf for _, leaf in self.stores)]
        return [leaf for leaf in dict.fromkeys(both) if leaf != self.result]

    @property
    def cost(self) -> int:
        """Ops for each element, functions as many as they will be."""
        bodies = [op.operation for each in self.ops for op in each.regions[0].blocks[0]]
        return sum(FUNCTION_COST if is_expanded(op) else 1 for op in bodies)

    def text(self, name: str) -> str:
        """The function: a block of `rows` rows through the ops.

        Parameters: the block, its offset and the stride of its rows; the same of every leaf, and of
        a buffer for each maximum, which gets that of each row; the scalars; `rows` and `columns`.
        Buffers that are written overlap no other. The loops are scalar, as those of the
        ops were: LLVM makes vectors of them.
        """
        return _Writer(self).function(name)


class _Writer:
    def __init__(self, epilogue: Epilogue) -> None:
        self.epilogue, self.text = epilogue, KernelText()
        self.buffers = [("block", "f32")]
        self.buffers += [(f"s{i}", leaf.element) for i, leaf in enumerate(epilogue.leaves)]
        self.buffers += [(f"m{i}", "f32") for i in range(len(epilogue.maxima))]
        self.places = {leaf: f"s{i}" for i, leaf in enumerate(epilogue.leaves)}
        self.places[epilogue.result] = "block"

    def function(self, name: str) -> str:
        text, zero, one = self.text, self.text.index(0), self.text.index(1)
        for buffer, element in self.buffers:
            types = f"memref<1x{element}> to memref<?x{element}>"
            text.line(f"%{buffer}_view = memref.cast %{buffer} : {types}")
        maxima = self.epilogue.maxima
        with text.loop(zero, "%rows", one) as row:
            starts = {
                buffer: text.add(f"%{buffer}_offset", text.mul(row, f"%{buffer}_row"))
                for buffer, _ in self.buffers
            }
            lowest, types = [text.constant(_LOWEST)] * len(maxima), ["f32"] * len(maxima)
            fold = text.fold(zero, "%columns", one, lowest, types, self._annotation())
            with fold as (column, largest, results):
                names = self._element(starts, column)
                for i, (value, _) in enumerate(maxima):
                    largest[i] = text.value(f"arith.maximumf {largest[i]}, {names[value]} : f32")
            for i, result in enumerate(results):
                place = starts[f"m{i}"]
                text.line(f"memref.store {result}, %m{i}_view[{place}] : memref<?xf32>")
        parameters = []
        for buffer, element in self.buffers:
            parameters.append((f"%{buffer}", f"memref<1x{element}> {{llvm.noalias}}"))
            parameters += [(f"%{buffer}_{each}", "index") for each in ("offset", "row")]
        parameters += [(f"%x{i}", str(x.type)) for i, x in enumerate(self.epilogue.scalars)]
        return text.function(name, [*parameters, ("%rows", "index"), ("%columns", "index")])

    def _annotation(self) -> str:
        """Where functions are computed, as annotated where they stand alone.

        The width that this gives lets LLVM reorder what is folded, which maxima are free to be.
        """
        ops = [op.operation for each in self.epilogue.ops for op in each.regions[0].blocks[0]]
        return f"{ANNOTATION} = {WIDE if any(map(is_expanded, ops)) else PLAIN}"

    def _element(self, starts: dict[str, str], column: str) -> dict[ir.Value, str]:
        """All ops for one element; the names of what they compute."""
        text, epilogue = self.text, self.epilogue
        names = {scalar: f"%x{i}" for i, scalar in enumerate(epilogue.scalars)}
        loaded: dict[Leaf, str] = {}
        asking = {op for _, op in epilogue.maxima}
        for op in epilogue.ops:
            block = op.regions[0].blocks[0]
            for argument in block.arguments:
                source = epilogue.sources.get(argument)
                if isinstance(source, Leaf):
                    if source not in loaded:
                        place = self._place(source, starts, column)
                        loaded[source] = text.value(f"memref.load {place}")
                    names[argument] = loaded[source]
                elif source is not None:
                    names[argument] = self._name(source, names)
            *body, last = [inner.operation for inner in block.operations]
            if op in asking:
                body.remove(last.operands[0].owner.operation)
            for inner in body:
                self._write(inner, names)
        for value, leaf in epilogue.stores:
            place = self._place(leaf, starts, column)
            text.line(f"memref.store {self._name(value, names)}, {place}")
        return {value: self._name(value, names) for value, _ in epilogue.maxima}

    def _place(self, leaf: Leaf, starts: dict[str, str], column: str) -> str:
        buffer = self.places[leaf]
        place = starts[buffer]
        if leaf == self.epilogue.result or leaf.strides[self.epilogue.inner]:
            place = self.text.add(place, column)
        return f"%{buffer}_view[{place}] : memref<?x{leaf.element}>"

    def _write(self, op: ir.Operation, names: dict[ir.Value, str]) -> None:
        if op.name == "arith.constant":
            names[op.results[0]] = self.text.constant(str(op.attributes["value"]))
            return
        operands = ", ".join(self._name(operand, names) for operand in op.operands)
        types = ", ".join(str(operand.type) for operand in op.operands)
        attributes = ", ".join(f"{name} = {op.attributes[name]}" for name in op.attributes)
        names[op.results[0]] = self.text.value(
            f'"{op.name}"({operands}) {{{attributes}}} : ({types}) -> {op.results[0].type}'
        )

    def _name(self, value: ir.Value, names: dict[ir.Value, str]) -> str:
        if value not in names:  # a constant outside of the body
            self._write(ir.OpResult(value).owner.operation, names)
        return names[value]
