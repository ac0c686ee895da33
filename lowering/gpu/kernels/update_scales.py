"""`update_scales`: what `fp8.update_scale` computes, of all tensors in one launch, a block each."""

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.dialects.scaling_recipes import RECIPES
from mlir_fp8.lowering.gpu.kernels.elements import block_maximum
from mlir_fp8.lowering.gpu.kernels.scaling import power_of_two_above, usable_scale
from mlir_fp8.lowering.gpu.kernels.text import WARP, GpuText, Kernel

MOST_THREADS = 256
MOST_HISTORY = 1 << 16
MOST_TENSORS = 96
"""Five pointers each: the parameters of a kernel are 4 KiB."""


@dataclass(frozen=True)
class UpdateScales:
    """Tensors of histories of `history` elements, one for each of `formats`; all of f32.

    Pointers, tensor by tensor: the scale, where scales are given; the history; amax, where it
    counts or histories are given. Then the results: of each tensor the new scale and the new
    history, of which `gives_scale` and `gives_history` say whether they are. `recipe` and
    `algorithm` are those of the op, the recipe one that has a history; with `power_of_two` scales
    are rounded up to powers of two, from 2^-50 to 2^63.
    """

    history: int
    formats: tuple[str, ...]
    margins: tuple[float, ...]
    recipe: str = "flax"
    algorithm: str = "max"
    gives_scale: bool = True
    gives_history: bool = True
    power_of_two: bool = False

    @property
    def counts(self) -> bool:
        """Whether this step's amax is in the history that the scale is of."""
        return RECIPES[self.recipe].counts_this_step

    @property
    def takes_amax(self) -> bool:
        return self.counts or self.gives_history

    @property
    def threads(self) -> int:
        return min(-(-self.history // WARP) * WARP, MOST_THREADS)


def update_scales_kernel(shape: UpdateScales, name: str = "update_scales") -> Kernel:
    text = _Update(shape)
    return Kernel(name, text.text_of(name), (len(shape.formats), 1), shape.threads)


class _Update(GpuText):
    """The kernel while it is written."""

    def __init__(self, shape: UpdateScales) -> None:
        super().__init__()
        self.shape = shape
        self.vector, self.scalar = f"memref<{shape.history}xf32>", "memref<1xf32>"

    def text_of(self, name: str) -> str:
        shape = self.shape
        taken = [("scale", self.scalar)] * shape.gives_scale + [("history", self.vector)]
        taken += [("amax", self.scalar)] * shape.takes_amax
        given = [("new_scale", self.scalar)] * shape.gives_scale
        given += [("new_history", self.vector)] * shape.gives_history
        tensors = range(len(shape.formats))
        parameters = [(f"%{each}{i}", type_) for i in tensors for each, type_ in taken]
        parameters += [(f"%{each}{i}", type_) for i in tensors for each, type_ in given]
        self.tensor, self.lane = self.block(), self.thread()
        self.of = {
            each: self._of_tensor([f"%{each}{i}" for i in tensors], type_)
            for each, type_ in (*taken, *given)
        }
        zero = self.index(0)
        self.amax = ""
        if shape.takes_amax:
            self.amax = self.value(f"memref.load {self.of['amax']}[{zero}] : {self.scalar}")
        if shape.gives_scale:
            self._scale()
        if shape.gives_history:
            self._history()
        return self.kernel(name, parameters, shape.threads)

    def _of_tensor(self, values: Sequence[str], type_: str) -> str:
        """Of several values that of this block's tensor."""
        chosen = values[0]
        for number, value in enumerate(values[1:], 1):
            if value == chosen:
                continue
            is_it = self.same(self.tensor, number)
            chosen = self.value(f"arith.select {is_it}, {value}, {chosen} : {type_}")
        return chosen

    def _seen(self, place: str) -> str:
        """An element of the history that counts, with this step's amax first where it counts."""
        at = f"memref.load {self.of['history']}[{place}] : {self.vector}"
        loaded = self.value(at)
        if not self.shape.counts:
            return loaded
        return self.value(f"arith.select {self.same(place, 0)}, {self.amax}, {loaded} : f32")

    def _places(self) -> list[tuple[str, str | None]]:
        """The elements of this thread, and whether there are such."""
        size, step = self.shape.history, self.shape.threads
        starts = [(self.add(self.lane, at), at + step > size) for at in range(0, size, step)]
        return [(at, self.below(at, size) if cut else None) for at, cut in starts]

    def _scale(self) -> None:
        shape, zero = self.shape, self.index(0)
        formats = [self.f32(float(FORMATS[each].max)) for each in shape.formats]
        margins = [self.f32(2.0**each) for each in shape.margins]
        amax = self._largest() if shape.algorithm == "max" else self._seen(zero)
        kept = self.value(f"memref.load {self.of['scale']}[{zero}] : {self.scalar}")
        largest, margin = self._of_tensor(formats, "f32"), self._of_tensor(margins, "f32")
        scale = self.value(f"arith.divf {amax}, {largest} : f32")
        if any(shape.margins):
            scale = self.value(f"arith.mulf {scale}, {margin} : f32")
        scale = usable_scale(self, scale, kept)
        if shape.power_of_two:
            scale = power_of_two_above(self, scale)
        with self.when(self.same(self.lane, 0)):
            self.line(f"memref.store {scale}, {self.of['new_scale']}[{zero}] : {self.scalar}")

    def _largest(self) -> str:
        """The largest of the history, NaN where one is, by words in the order of the numbers."""
        lowest = self.constant("0xFF800000 : f32")
        found = lowest
        for place, inside in self._places():
            one = self.chosen(inside, "f32", lambda place=place: self._seen(place), lowest)
            types = "(f32, f32) -> f32"
            # Of a NaN it makes the one that is above infinity in that order.
            found = self.value(f'llvm.call_intrinsic "llvm.maximum.f32"({found}, {one}) : {types}')
        bits = self.bits(found, "f32", "i32")
        sign = self.word_op("shrsi", bits, 31)
        key = self.word_op("xori", bits, self.word_op("ori", sign, -(1 << 31)))
        key = block_maximum(self, key, self.shape.threads, self.lane)
        sign = self.word_op("xori", self.word_op("shrsi", key, 31), -1)
        bits = self.word_op("xori", key, self.word_op("ori", sign, -(1 << 31)))
        return self.bits(bits, "i32", "f32")

    def _history(self) -> None:
        """Each element one down, the first to the end, then the first set anew."""
        size = self.shape.history
        entering = self.f32(0.0) if self.shape.counts else self.amax
        for place, inside in self._places():
            after = self.add(place, 1)
            after = self.value(
                f"arith.select {self.below(after, size)}, {after}, {self.index(0)} : index"
            )
            one = self.chosen(inside, "f32", lambda at=after: self._seen(at), self.f32(0.0))
            one = self.value(f"arith.select {self.same(place, 0)}, {entering}, {one} : f32")
            line = f"memref.store {one}, {self.of['new_history']}[{place}] : {self.vector}"
            if inside is None:
                self.line(line)
                continue
            with self.when(inside):
                self.line(line)
