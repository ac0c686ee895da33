"""The tensors of a function that are to be quantized, each once per format, under a name."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from torch_mlir import ir

from mlir_fp8.lowering.fp8.scaling.origins import Origin
from mlir_fp8.lowering.fp8.weights.layouts import Blocks
from mlir_fp8.lowering.fp8.weights.moves import blocks_after, moved
from mlir_fp8.lowering.fp8.weights.scaled import Scaled
from mlir_fp8.lowering.rewriting.stablehlo import convert


@dataclass(eq=False)
class Quantizer:
    """A tensor, how it is to be quantized, and, once that is done, what it was quantized to.

    The tensor is `value` converted to each of `narrowed` in turn; `name` is that of its state.
    """

    name: str
    value: ir.Value
    narrowed: tuple[ir.Type, ...]
    format: str
    quantized: ir.Value | None = None
    scale: ir.Value | None = None
    readers: list[ir.Operation] = field(default_factory=list)
    """What reads `value` in order to quantize it."""
    blocks: Blocks = ()
    """How many elements of `value` along each dimension have one scale; empty: all have one."""
    aliases: list[str] = field(default_factory=list)
    """Other names by which a scale may be given."""
    groups: np.ndarray | None = None
    """The devices that hold the parts of the tensor, a row a group; None where one holds it all."""
    is_gradient: bool = False
    factor: ir.Value | None = None
    """The f32 number that all elements are times too, with NVFP4; see `Scaled`."""
    apart: tuple[int, ...] = ()
    """The dimensions of `value` along which NVFP4 has a number for each index."""
    _moved: dict[ir.Value, Scaled] = field(default_factory=dict)

    def source(self) -> ir.Value:
        """The tensor in f32, in which it is scaled, made at the current insertion point."""
        value = self.value
        for element in self.narrowed:
            value = convert(value, element)
        return convert(value, ir.F32Type.get())

    def moved(self, origin: Origin) -> Scaled:
        """The quantized tensor and its scale in the arrangement of `origin`'s tensor."""
        assert self.quantized is not None and self.scale is not None
        rank = ir.RankedTensorType(self.quantized.type).rank
        blocks = self.blocks or (0,) * rank
        scaled = Scaled(self.quantized, self.scale, blocks, factor=self.factor)
        for op in origin.moves:
            result = op.results[0]
            if result not in self._moved:
                made = moved(op, 0, scaled)
                assert made is not None  # `blocks_at` has seen to that
                self._moved[result] = made
            scaled = self._moved[result]
        return scaled


_Key = tuple[ir.Value, tuple[ir.Type, ...], str, Blocks, bool, tuple[int, ...]]


class Quantizers:
    """The quantizers that a pass asks for, in order."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._found: dict[_Key, Quantizer] = {}

    def of(
        self,
        origin: Origin,
        format: str,  # noqa: A002 - MLIR's word
        name: str,
        blocks: Blocks = (),
        *,
        is_gradient: bool = False,
        apart: tuple[int, ...] = (),
    ) -> Quantizer:
        """The one quantizer of a tensor to a format with scales of `blocks`; `name` is its name if
        it is new. With `is_gradient` it is shared with other gradients alone. `apart` are
        dimensions with numbers of their own."""
        key = (origin.value, origin.narrowed, format, blocks, is_gradient, apart)
        if key not in self._found:
            new = Quantizer(self._unused(name), origin.value, origin.narrowed, format)
            new.blocks, new.is_gradient, new.apart = blocks, is_gradient, apart
            self._found[key] = new
        self._found[key].aliases.append(name)
        return self._found[key]

    def _unused(self, name: str) -> str:
        """`name`, or with a number after it: passes may run one after another."""
        numbered = (f"{name}.{number}" for number in itertools.count(1))
        candidates = itertools.chain([name], numbered)
        unused = next(each for each in candidates if each not in self._taken)
        self._taken.add(unused)
        return unused

    def all(self) -> list[Quantizer]:
        return list(self._found.values())


def erase_unused(ops: Iterable[ir.Operation]) -> None:
    """Erase those of `ops`, all free of effects, whose results nothing reads any more."""
    left = list(dict.fromkeys(ops))
    before = 0
    while len(left) != before:
        before = len(left)
        kept: list[ir.Operation] = []
        # Those that read others mostly come after them.
        for op in reversed(left):
            if any(next(iter(result.uses), None) for result in op.results):
                kept.append(op)
            else:
                op.erase()
        left = kept[::-1]


def blocks_at(origin: Origin, summed: Iterable[int], per: str) -> Blocks:
    """One scale per "row", all that a product sums together, or per "channel", across all rows.

    `summed` are the contracted dimensions of `origin`'s tensor. Empty where scales cannot follow
    the tensor from its origin: all of it has one then.
    """
    shape = ir.RankedTensorType(origin.value.type).shape
    one = {dim for dim in origin.dims_of(summed) if shape[dim] > 1}
    blocks: Blocks = tuple(int((dim in one) == (per == "channel")) for dim in range(len(shape)))
    after: Blocks | None = blocks
    for op in origin.moves:
        after = None if after is None else blocks_after(op, 0, after)
    return blocks if after is not None and any(blocks) else ()
