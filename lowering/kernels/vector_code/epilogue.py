"""The fused-epilogue kernel: elementwise ops on a finished block of a product's results.

Scales, a bias, an activation, a cast: computed while the block is in the cache, so that the f32
results themselves need not go to memory. A maximum over all of them is reduced per row.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from torch_mlir import ir

from mlir_fp8.lowering.kernels.vector_code.expression import Leaf
from mlir_fp8.lowering.kernels.vector_code.text import KernelText
from mlir_fp8.lowering.loop_analysis.loop_annotations import ANNOTATION, PLAIN, WIDE, is_expanded
from mlir_fp8.lowering.loop_analysis.parallel_loops import FUNCTION_COST

_LOWEST = "0xFF800000 : f32"
"""The neutral element of a maximum: minus infinity."""


@dataclass(frozen=True)
class Epilogue:
    """Ops after a product, each of which reads its results or those of an op before it."""

    result: Leaf
    """The product's results: as a source, an element of the block; as a target, back into it."""
    inner: int
    """The contiguous dimension of the results, n or m."""
    ops: tuple[ir.Operation, ...]
    sources: Mapping[ir.Value, Leaf | ir.Value]
    """By body argument: the element of a buffer that it is, or the scalar."""
    stores: tuple[tuple[ir.Value, Leaf], ...]
    """Yielded values and the leaves that they are stored to."""
    maxima: tuple[tuple[ir.Value, ir.Operation], ...]
    """Operands of maximum reductions, with their ops."""
    scalars: tuple[ir.Value, ...]
    """Scalar operands, which are computed before the product."""
    keeps_result: bool
    """Whether the result buffer has other readers (is live-out)."""
    moved: tuple[ir.Operation, ...]
    """Ops to hoist above the product, in order: definitions of its buffers and scalars."""

    @property
    def leaves(self) -> list[Leaf]:
        """Its buffers beside the result: those read, then those written."""
        read = [each for each in self.sources.values() if isinstance(each, Leaf)]
        both = [*read, *(leaf for _, leaf in self.stores)]
        return [leaf for leaf in dict.fromkeys(both) if leaf != self.result]

    @property
    def cost(self) -> int:
        """Ops per element; a transcendental function counts as its expansion."""
        return sum(
            FUNCTION_COST if is_expanded(op) else 1 for each in self.ops for op in _body(each)
        )

    @property
    def stages(self) -> list["Epilogue"]:
        """Loop fission: transcendental functions in a loop of their own, then the rest.

        One loop for both would spill. Between the loops the block holds the functions' results, so
        no other value may be live across.
        """
        last = max((i for i, op in enumerate(self.ops) if _has_functions(op)), default=-1)
        first, then = self.ops[: last + 1], self.ops[last + 1 :]
        if not first or not then:
            return [self]
        made = {value for op in first for value in _body(op)[-1].operands}
        own = {key: x for key, x in self.sources.items() if _op_of(key) in first}
        others = {key: x for key, x in self.sources.items() if key not in own}
        needed = {x for x in others.values() if isinstance(x, ir.Value) and x in made}
        back = [value for value, leaf in self.stores if leaf == self.result]
        number = next(iter(needed), None)
        if (
            number is None
            or len(needed) > 1
            or not isinstance(number.type, ir.F32Type)
            or self.result in [x for x in others.values() if isinstance(x, Leaf)]
            or (self.keeps_result and (not back or (back[0] in made and back[0] != number)))
        ):
            return [self]
        early = [(value, leaf) for value, leaf in self.stores if value in made]
        late = [each for each in self.stores if each not in early]
        early = [each for each in early if each[1] != self.result]
        moved = {
            key: self.result if isinstance(x, ir.Value) and x == number else x
            for key, x in others.items()
        }
        asked = tuple(each for each in self.maxima if each[1] in first)
        return [
            replace(
                self,
                ops=first,
                sources=own,
                stores=((number, self.result), *early),
                maxima=asked,
            ),
            replace(
                self,
                ops=then,
                sources=moved,
                stores=tuple(late),
                maxima=tuple(each for each in self.maxima if each not in asked),
            ),
        ]

    def text(self, name: str) -> str:
        """The function, which applies the ops to a block of `rows` rows.

        Parameters: the block, its offset and row stride; the same for every leaf, and for a buffer
        per maximum, which gets the maximum of each row; the scalars; `rows` and `columns`. Buffers
        that are written do not alias any other. The loops are scalar: LLVM vectorizes them.
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
        with text.loop(zero, "%rows", one) as row:
            starts = {
                buffer: text.add(f"%{buffer}_offset", text.mul(row, f"%{buffer}_row"))
                for buffer, _ in self.buffers
            }
            for stage in self.epilogue.stages:
                self._stage(stage, starts)
        parameters = []
        for buffer, element in self.buffers:
            parameters.append((f"%{buffer}", f"memref<1x{element}> {{llvm.noalias}}"))
            parameters += [(f"%{buffer}_{each}", "index") for each in ("offset", "row")]
        parameters += [(f"%x{i}", str(x.type)) for i, x in enumerate(self.epilogue.scalars)]
        return text.function(name, [*parameters, ("%rows", "index"), ("%columns", "index")])

    def _stage(self, stage: Epilogue, starts: dict[str, str]) -> None:
        """A row, in a loop that is annotated as that of the unfused ops would be."""
        text, zero, one = self.text, self.text.index(0), self.text.index(1)
        annotation = "" if stage.maxima else f"{ANNOTATION} = {PLAIN}"
        if any(map(_has_functions, stage.ops)):
            # This lets LLVM reassociate loop-carried values, which is exact for maxima.
            annotation = f"{ANNOTATION} = {WIDE}"
        lowest, types = [text.constant(_LOWEST)] * len(stage.maxima), ["f32"] * len(stage.maxima)
        fold = text.fold(zero, "%columns", one, lowest, types, annotation)
        with fold as (column, largest, results):
            names = self._element(stage, starts, column)
            for i, (value, _) in enumerate(stage.maxima):
                largest[i] = text.value(f"arith.maximumf {largest[i]}, {names[value]} : f32")
        for maximum, result in zip(stage.maxima, results, strict=True):
            buffer = f"m{self.epilogue.maxima.index(maximum)}"
            text.line(f"memref.store {result}, %{buffer}_view[{starts[buffer]}] : memref<?xf32>")

    def _element(self, stage: Epilogue, starts: dict[str, str], column: str) -> dict[ir.Value, str]:
        """All ops for one element; the names of their results."""
        text = self.text
        names = {scalar: f"%x{i}" for i, scalar in enumerate(stage.scalars)}
        loaded: dict[Leaf, str] = {}
        asking = {op for _, op in stage.maxima}
        for op in stage.ops:
            for argument in op.regions[0].blocks[0].arguments:
                source = stage.sources.get(argument)
                if isinstance(source, Leaf):
                    if source not in loaded:
                        place = self._place(source, starts, column)
                        loaded[source] = text.value(f"memref.load {place}")
                    names[argument] = loaded[source]
                elif source is not None:
                    names[argument] = self._name(source, names)
            *body, last = _body(op)
            if op in asking:
                body.remove(last.operands[0].owner.operation)
            for inner in body:
                self._write(inner, names)
        for value, leaf in stage.stores:
            place = self._place(leaf, starts, column)
            text.line(f"memref.store {self._name(value, names)}, {place}")
        return {value: self._name(value, names) for value, _ in stage.maxima}

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


def _body(op: ir.Operation) -> list[ir.Operation]:
    return [inner.operation for inner in op.regions[0].blocks[0].operations]


def _has_functions(op: ir.Operation) -> bool:
    return any(map(is_expanded, _body(op)))


def _op_of(argument: ir.Value) -> ir.Operation:
    return ir.BlockArgument(argument).owner.owner.operation
