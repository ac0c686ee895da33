"""The packing kernel of what is multiplied in fours.

Four consecutive elements of the reduction, the outer dimension, are a word: bf16 numbers or codes.
"""

from mlir_fp8.lowering.kernels.products.packed_places import PackedPlaces
from mlir_fp8.lowering.kernels.vector_code.reader import Reader
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import KernelText

FOURS = {"fours": "i16", "codes": "i8"}
"""Packed forms and their elements: the bits of bf16, which hold all that is packed; codes."""
_FOUR = 4


def pack_fours_text(name: str, reader: Reader, form: str, width: int, target: KernelTarget) -> str:
    """The function, with the parameters and the meaning of `Pack.text`."""
    return _Writer(reader, form, width, target).function(name)


class _Writer:
    def __init__(self, reader: Reader, form: str, width: int, target: KernelTarget) -> None:
        self.reader, self.form, self.target, self.text = reader, form, target, KernelText()
        self.element = FOURS[form]
        self.bits = int(self.element[1:])
        self.places = PackedPlaces(self.text, f"i{_FOUR * self.bits}", _FOUR, width)

    def function(self, name: str) -> str:
        text = self.text
        self.places.begin()
        self.reader.begin(text)
        whole = text.rounded_down("%outer_count", _FOUR)
        if self.reader.is_transposed:
            self._along(whole)
        else:
            with text.loop(text.index(0), whole, text.index(_FOUR)) as outer:
                self._across(outer, _FOUR)
        rest = text.sub("%outer_count", whole)
        for count in range(1, _FOUR):
            is_left = text.value(f"arith.cmpi eq, {rest}, {text.index(count)} : index")
            with text.when(is_left):
                self._across(whole, count)
        self.places.pad()
        return text.function(name, [*self.reader.parameters(), *self.places.parameters()])

    def _along(self, whole: str) -> None:
        """Fours that are contiguous, the first of them two at a time."""
        text = self.text
        with text.loop(text.index(0), "%inner_count", text.index(1)) as inner:
            first = text.index(0)
            for size in (2 * _FOUR, _FOUR):
                last = text.rounded_down(whole, size)
                with text.loop(first, last, text.index(size)) as outer:
                    self._split(outer, inner, size)
                first = last

    def _split(self, outer: str, inner: str, size: int) -> None:
        """Store `size` elements along the outer dimension, word by word."""
        text, words = self.text, size // _FOUR
        vector = f"vector<{words}x{self.places.element}>"
        value = self._load(outer, inner, size, "outer")
        value = text.value(f"vector.bitcast {value} : vector<{size}x{self.element}> to {vector}")
        for i in range(words):
            word = text.value(
                f"vector.extract_strided_slice {value} {{offsets = [{i}], sizes = [1],"
                f" strides = [1]}} : {vector} to vector<1x{self.places.element}>"
            )
            self.places.put(word, text.add(outer, _FOUR * i), inner, 1)

    def _across(self, outer: str, count: int) -> None:
        """`count` elements from `outer` on, and zeros, of all inner ones; many at once, where these
        are contiguous."""
        text, first = self.text, self.text.index(0)
        for lanes in (1,) if self.reader.is_transposed else (2 * self.target.lanes, 1):
            last = text.rounded_down("%inner_count", lanes)
            with text.loop(first, last, text.index(lanes)) as inner:
                rows = [self._load(text.add(outer, i), inner, lanes, "inner") for i in range(count)]
                rows += [text.zeros(lanes, self.element)] * (_FOUR - count)
                self._interleave(rows, outer, inner, lanes)
            first = last

    def _interleave(self, rows: list[str], outer: str, inner: str, lanes: int) -> None:
        text, bits = self.text, self.bits
        while len(rows) > 1:
            pairs = zip(rows[::2], rows[1::2], strict=True)
            order = [each for i in range(lanes) for each in (i, lanes + i)]
            type_, both = f"vector<{lanes}xi{bits}>", f"vector<{2 * lanes}xi{bits}>"
            bits *= 2
            rows = [
                text.value(f"vector.shuffle {a}, {b} {order} : {type_}, {type_}") for a, b in pairs
            ]
            wide = f"vector<{lanes}xi{bits}>"
            rows = [text.value(f"vector.bitcast {each} : {both} to {wide}") for each in rows]
        self.places.put(rows[0], outer, inner, lanes)

    def _load(self, outer: str, inner: str, lanes: int, along: str) -> str:
        """A vector of `lanes` elements along one dimension."""
        text, reader = self.text, self.reader
        if self.form == "codes":
            load = reader.codes if along == "inner" else reader.codes_along
            return load(text, outer, inner, lanes)
        number = reader.load(text, self.target, outer, inner, lanes, along)
        words, halves = f"vector<{lanes}xi32>", f"vector<{lanes}xi16>"
        bits = text.value(f"arith.bitcast {number} : vector<{lanes}xf32> to {words}")
        high = text.value(f"arith.shrui {bits}, {text.constant(f'dense<16> : {words}')} : {words}")
        return text.value(f"arith.trunci {high} : {words} to {halves}")
