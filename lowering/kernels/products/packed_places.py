"""Where a packing kernel puts what it packs, and the zeros around it."""

from dataclasses import dataclass

from mlir_fp8.lowering.kernels.vector_code.text import Argument, KernelText

_SIZES = (
    "to_offset",
    "to_stride",
    "outer_count",
    "inner_count",
    "outer_padded",
    "inner_padded",
    "panel",
)


@dataclass(frozen=True)
class PackedPlaces:
    """The buffer that `text` packs to, as `element`s of `unit` consecutive outer elements each."""

    text: KernelText
    element: str
    unit: int
    width: int
    """Inner elements of a panel; panels are `panel` elements apart. 0: no panels."""

    @property
    def type(self) -> str:
        return f"memref<?x{self.element}>"

    def parameters(self) -> list[Argument]:
        """The destination buffer, then `_SIZES`."""
        return [("%to", "memref<1xi8>"), *((f"%{each}", "index") for each in _SIZES)]

    def begin(self) -> None:
        text = self.text
        zero, big = text.index(0), text.index(1 << 40)
        text.line("%bytes = memref.cast %to : memref<1xi8> to memref<?xi8>")
        text.line(f"%target = memref.view %bytes[{zero}][{big}] : memref<?xi8> to {self.type}")

    def put(self, value: str, outer: str, inner: str, lanes: int) -> None:
        """Store a vector of `lanes` elements, along the inner dimension."""
        vector = f"vector<{lanes}x{self.element}>"
        place = self.place(outer, inner)
        self.text.line(f"vector.store {value}, %target[{place}] : {self.type}, {vector}")

    def place(self, outer: str, inner: str) -> str:
        """Where in the buffer an element is, of which `outer` is the first or any one."""
        text = self.text
        if self.unit > 1:
            outer = text.div(outer, self.unit)
        place = text.add("%to_offset", text.mul(outer, "%to_stride"))
        if not self.width:
            return text.add(place, inner)
        panel = text.div(inner, self.width)
        place = text.add(place, text.mul(panel, "%panel"))
        return text.add(place, text.rem(inner, self.width))

    def pad(self) -> None:
        """Zero-pad beyond the counts. Both operands are padded along the reduction."""
        text, zero = self.text, self.text.zeros(1, self.element)
        with text.loop(text.index(0), "%outer_padded", text.index(self.unit)) as outer:
            inside = text.value(f"arith.cmpi slt, {outer}, %outer_count : index")
            first = text.value(f"arith.select {inside}, %inner_count, {text.index(0)} : index")
            with text.loop(first, "%inner_padded", text.index(1)) as inner:
                self.put(zero, outer, inner, 1)
