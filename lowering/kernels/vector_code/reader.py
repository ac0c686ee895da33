"""How a kernel reads an operand: an `Expression` of elements of one or more buffers."""

from dataclasses import dataclass, replace

from mlir_fp8.lowering.kernels.vector_code.bit_packed import (
    REGISTER,
    byte_of,
    one_unpacked,
    unpacked,
    unpacked_register,
)
from mlir_fp8.lowering.kernels.vector_code.expression import Expression
from mlir_fp8.lowering.kernels.vector_code.scaled_codes import ScaledCodes
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import KernelText

_BELOW_BYTES = ("i1", "i2", "i4")


@dataclass(frozen=True)
class Reader:
    """An operand as a matrix of two dimensions of the product, given by their numbers."""

    expression: Expression
    outer: int
    inner: int

    @property
    def is_transposed(self) -> bool:
        """Whether the buffers are contiguous along the outer dimension, not the inner one."""
        inner = [self._known_stride(i, "inner") for i in range(len(self.expression.leaves))]
        outer = [self._known_stride(i, "outer") for i in range(len(self.expression.leaves))]
        return 1 in outer and 1 not in inner

    def _known_stride(self, leaf: int, along: str) -> int | None:
        """The stride, where kernels are specialized for it: 0 (broadcast) and 1 (contiguous)."""
        dimension = getattr(self, along)
        stride = self.expression.leaves[leaf].strides[dimension]
        return stride if stride in (0, 1) and self._group(leaf, along) == 1 else None

    def _group(self, leaf: int, along: str) -> int:
        """How many indices along the outer or inner dimension have one element."""
        return self.expression.leaves[leaf].group(getattr(self, along))

    def parameters(self) -> list[tuple[str, str]]:
        """Names and types: for each leaf a buffer, an offset and two strides.

        Where several indices have one element, also the place of the first in its group.
        """
        found: list[tuple[str, str]] = []
        for i, leaf in enumerate(self.expression.leaves):
            found.append((f"%s{i}", f"memref<1x{leaf.element}>"))
            names = [f"%offset{i}", f"%outer_stride{i}", f"%inner_stride{i}"]
            names += [f"%{a}_phase{i}" for a in ("outer", "inner") if self._group(i, a) > 1]
            found += [(name, "index") for name in names]
        return found

    def begin(self, text: KernelText) -> None:
        for i, leaf in enumerate(self.expression.leaves):
            types = f"memref<1x{leaf.element}> to memref<?x{leaf.element}>"
            text.line(f"%l{i} = memref.cast %s{i} : {types}")

    def load(
        self,
        text: KernelText,
        target: KernelTarget,
        outer: str,
        inner: str,
        lanes: int,
        along: str = "inner",
        *,
        scaled: bool = True,
    ) -> str:
        """An f32 vector of `lanes` elements along one dimension, from the given indices.

        Without `scaled`, the caller multiplies it by the expression's `factor`.
        """

        def leaf(number: int) -> str:
            return self._leaf(text, number, outer, inner, lanes, along)

        return self.expression.write(text, target, lanes, leaf, scaled=scaled)

    def codes(self, text: KernelText, outer: str, inner: str, lanes: int) -> str:
        """A vector of the codes of the first leaf, along the inner dimension."""
        return self._leaf(text, 0, outer, inner, lanes, "inner")

    def looked_up(
        self, text: KernelText, at: tuple[str, str], leaf: int, along: str = "inner"
    ) -> str:
        """A register of codes of a leaf for `byte_tables`, which are contiguous."""
        bits = self.expression.leaves[leaf].bits
        if not bits:
            return self._leaf(text, leaf, *at, REGISTER, along)
        return unpacked_register(text, bits, f"%l{leaf}", self._place(text, leaf, *at))

    def bytes(self, text: KernelText, outer: str, inner: str, count: int, leaf: int) -> str:
        """A vector of `count` bytes of a leaf, contiguous along the inner dimension."""
        place, vector = self._byte(text, leaf, outer, inner), f"vector<{count}xi8>"
        return text.value(f"vector.load %l{leaf}[{place}] : memref<?xi8>, {vector}")

    def codes_below(self, text: KernelText, outer: str, inner: str, lanes: int, count: str) -> str:
        """`codes`, the first `count` of them, which are contiguous; zeros beyond."""
        element = self.expression.leaves[0].element
        mask = text.value(f"vector.create_mask {count} : vector<{lanes}xi1>")
        place, vector = self._place(text, 0, outer, inner), f"vector<{lanes}x{element}>"
        return text.value(
            f"vector.maskedload %l0[{place}], {mask}, {text.zeros(lanes, element)}"
            f" : memref<?x{element}>, vector<{lanes}xi1>, {vector} into {vector}"
        )

    def codes_along(self, text: KernelText, outer: str, inner: str, lanes: int) -> str:
        """A vector of what the first leaf holds, along the outer dimension."""
        return self._leaf(text, 0, outer, inner, lanes, "outer")

    def scale(
        self,
        text: KernelText,
        target: KernelTarget,
        codes: ScaledCodes,
        at: tuple[str, str],
        lanes: int,
    ) -> str:
        """An f32 vector of the scales of `lanes` codes along the inner dimension."""

        def leaf(number: int) -> str:
            return self._leaf(text, number, *at, lanes, "inner")

        assert codes.scale_root is not None
        scale = replace(self.expression, root=codes.scale_root)
        return scale.write(text, target, lanes, leaf)

    def prefetch_along(self, text: KernelText, outer: str, inner: str, leaf: int = 0) -> None:
        """`prefetch` of a leaf that is contiguous along the outer dimension."""
        place = self._byte(text, leaf, outer, inner)
        types = f"memref<?x{self.expression.leaves[leaf].element}>"
        text.line(f"memref.prefetch %l{leaf}[{place}], read, locality<3>, data : {types}")

    def prefetch(self, text: KernelText, outer: str, inner: str) -> None:
        """Prefetch the leaves at the given indices, which may be out of bounds."""
        for i, leaf in enumerate(self.expression.leaves):
            if self._known_stride(i, "inner") != 1:
                continue
            place = self._byte(text, i, outer, inner)
            types = f"memref<?x{leaf.element}>"
            text.line(f"memref.prefetch %l{i}[{place}], read, locality<3>, data : {types}")

    def _byte(self, text: KernelText, i: int, outer: str, inner: str) -> str:
        """The place of an element in the buffer, or of the byte that has it."""
        place, bits = self._place(text, i, outer, inner), self.expression.leaves[i].bits
        return byte_of(text, bits, place) if bits else place

    def _place(self, text: KernelText, i: int, outer: str, inner: str) -> str:
        outer = self._in_groups(text, i, outer, "outer")
        inner = self._in_groups(text, i, inner, "inner")
        place = text.add(f"%offset{i}", text.mul(outer, f"%outer_stride{i}"))
        inner_stride = self._known_stride(i, "inner")
        if inner_stride == 0:
            return place
        step = inner if inner_stride == 1 else text.mul(inner, f"%inner_stride{i}")
        return text.add(place, step)

    def _in_groups(self, text: KernelText, i: int, index: str, along: str) -> str:
        """The number of the group that an index is in; the index itself without groups."""
        group = self._group(i, along)
        return index if group == 1 else text.div(text.add(index, f"%{along}_phase{i}"), group)

    def _grouped(
        self, text: KernelText, i: int, at: tuple[str, str], lanes: int, along: str
    ) -> str:
        """A vector along a dimension in which several indices have one element.

        One as long as a group lies in two of them at most: the first lanes have one element, the
        others that of the last lane.
        """
        leaf = self.expression.leaves[i]
        element, group = leaf.element, self._group(i, along)
        vector = f"vector<{lanes}x{element}>"
        number = 0 if along == "outer" else 1

        def one(lane: int) -> str:
            moved = [text.add(each, lane) if d == number else each for d, each in enumerate(at)]
            place = self._place(text, i, *moved)
            return text.value(f"memref.load %l{i}[{place}] : memref<?x{element}>")

        if lanes > group:
            ones = [one(lane) for lane in range(lanes)]
            return text.value(f"vector.from_elements {', '.join(ones)} : {vector}")
        first, last = (
            text.value(f"vector.broadcast {one(lane)} : {element} to {vector}")
            for lane in (0, lanes - 1)
        )
        inside = text.rem(text.add(at[number], f"%{along}_phase{i}"), group)
        left = text.value(f"arith.index_cast {text.sub(text.index(group), inside)} : index to i32")
        counts = f"vector<{lanes}xi32>"
        numbers = text.constant(f"dense<[{', '.join(map(str, range(lanes)))}]> : {counts}")
        bound = text.value(f"vector.broadcast {left} : i32 to {counts}")
        is_first = text.value(f"arith.cmpi slt, {numbers}, {bound} : {counts}")
        flags = f"vector<{lanes}xi1>"
        return text.value(f"arith.select {is_first}, {first}, {last} : {flags}, {vector}")

    def _unpacked(self, text: KernelText, i: int, place: str, lanes: int, along: str) -> str:
        """Codes of a leaf in which they lie bit-packed, from `place` on."""
        bits, vector = self.expression.leaves[i].bits, f"vector<{lanes}xi8>"
        stride = self._known_stride(i, along)
        if lanes > 1 and stride == 1:
            return unpacked(text, bits, f"%l{i}", place, lanes)
        step = text.index(0) if stride == 0 else f"%{along}_stride{i}"
        if stride == 1:
            step = text.index(1)
        ones = [
            one_unpacked(text, bits, f"%l{i}", text.add(place, text.mul(text.index(lane), step)))
            for lane in range(lanes)
        ]
        return text.value(f"vector.from_elements {', '.join(ones)} : {vector}")

    def _leaf(
        self, text: KernelText, i: int, outer: str, inner: str, lanes: int, along: str
    ) -> str:
        element = self.expression.leaves[i].element
        if lanes > 1 and self._group(i, along) > 1:
            return self._grouped(text, i, (outer, inner), lanes, along)
        place = self._place(text, i, outer, inner)
        stride = self._known_stride(i, along)
        if self.expression.leaves[i].bits:
            return self._unpacked(text, i, place, lanes, along)
        memref, vector = f"memref<?x{element}>", f"vector<{lanes}x{element}>"
        # In memory such elements have a byte each, in a vector they are next to each other.
        if element in _BELOW_BYTES:
            stride = 0 if lanes == 1 else stride
        elif stride == 1 or lanes == 1:
            return text.value(f"vector.load %l{i}[{place}] : {memref}, {vector}")
        if stride == 0:
            one = text.value(f"memref.load %l{i}[{place}] : {memref}")
            return text.value(f"vector.broadcast {one} : {element} to {vector}")
        step = text.index(1) if stride == 1 else f"%{along}_stride{i}"
        places = [text.add(place, text.mul(text.index(lane), step)) for lane in range(lanes)]
        ones = [text.value(f"memref.load %l{i}[{each}] : {memref}") for each in places]
        return text.value(f"vector.from_elements {', '.join(ones)} : {vector}")
