"""How a scale meets a tensor, in numpy: one number, one for each index of an axis, or blocks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from mlir_fp8.dialects.uniform_types import Quantization, uniform_type
from mlir_fp8.lowering.rewriting.stablehlo import names

MOVES = names(
    "stablehlo",
    "broadcast_in_dim dynamic_slice optimization_barrier reshape reverse slice transpose",
)
"""What moves codes and leaves them as they are."""
_NORMAL = np.finfo(np.float32).tiny


@dataclass(frozen=True)
class Layout:
    """The numbers by which a tensor is scaled, f32; `counts` is the shape of a scale of blocks."""

    numbers: tuple[float, ...]
    axis: int | None = None
    counts: tuple[int, ...] = ()

    @property
    def is_usable(self) -> bool:
        """Whether types take the numbers: positive, normal and finite ones."""
        return all(float(_NORMAL) <= each < float("inf") for each in self.numbers)

    def array(self, rank: int) -> np.ndarray:
        """The scale in the shape that `fp8` ops have."""
        numbers = np.array(self.numbers, np.float32)
        if self.counts:
            return numbers.reshape(self.counts)
        if self.axis is None:
            return numbers.reshape(())
        return numbers.reshape([-1 if dim == self.axis else 1 for dim in range(rank)])

    def times(self, factor: float) -> "Layout":
        """The same with all numbers times `factor`, rounded to f32."""
        scaled = np.array(self.numbers, np.float64) * factor
        return self.of(tuple(float(each) for each in scaled.astype(np.float32)))

    def of(self, numbers: tuple[float, ...]) -> "Layout":
        return Layout(numbers, self.axis, self.counts)

    def type_of(self, storage: ir.Type, largest: int | None, shape: Sequence[int]) -> ir.Type:
        """The quantized type over f32 of a tensor of `shape`: symmetric up to `largest`, or all of
        i32 without; of floats, which `storage` may be too, without ends."""
        ends = (-(1 << 31), (1 << 31) - 1) if largest is None else (-largest, largest)
        pairs = zip(self.counts, shape, strict=True) if self.counts else ()
        blocks = tuple((dim, size // n) for dim, (n, size) in enumerate(pairs) if n > 1)
        zeros = (0,) * len(self.numbers)
        parts = (self.numbers, zeros, self.axis, blocks, self.counts)
        return uniform_type(Quantization(storage, ir.F32Type.get(), *ends, *parts))

    def after(self, op: ir.Operation) -> "Layout | None":
        """That of what `op`, one of `MOVES`, makes of the tensor; None where types have none."""
        if self.counts:
            return None
        if self.axis is None:
            return self
        axis = _axis_after(op, self.axis)
        return None if axis is None else Layout(self.numbers, axis)


def layout_of(scale: np.ndarray, shape: Sequence[int]) -> Layout:
    """The layout of a scale of `fp8` ops, on a tensor of `shape`."""
    numbers = tuple(float(each) for each in scale.astype(np.float32).ravel())
    if len(set(numbers)) == 1 or not numbers:
        return Layout(numbers[:1] or (1.0,))
    cut = [dim for dim, size in enumerate(scale.shape) if size > 1]
    if len(cut) == 1 and scale.shape[cut[0]] == shape[cut[0]]:
        return Layout(numbers, cut[0])
    return Layout(numbers, None, tuple(scale.shape))


def largest_numbers(numbers: np.ndarray, layout: Layout) -> np.ndarray:
    """The largest magnitude of what each scale of `layout` is for, 0 of no elements."""
    amax = np.abs(numbers)
    counts = layout.array(numbers.ndim).shape or (1,) * numbers.ndim
    for axis, (count, size) in enumerate(zip(counts, numbers.shape, strict=True)):
        if not size:
            return np.zeros(len(layout.numbers), np.float32)
        amax = np.maximum.reduceat(amax, np.arange(0, size, size // count), axis)
    return amax.astype(np.float32)


def _axis_after(op: ir.Operation, axis: int) -> int | None:
    """Where `op` moves dimension `axis`, in whose order and number the scales stay."""
    before, after = (list(value.type.shape) for value in (op.operands[0], op.results[0]))
    match op.name:
        case "stablehlo.transpose":
            return list(ir.DenseI64ArrayAttr(op.attributes["permutation"])).index(axis)
        case "stablehlo.broadcast_in_dim":
            at = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))[axis]
            return at if after[at] == before[axis] else None
        case "stablehlo.reverse":
            reversed_ = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
            return None if axis in reversed_ else axis
        case "stablehlo.reshape":
            outside = int(np.prod(before[:axis]))
            places = [
                dim
                for dim, size in enumerate(after)
                if size == before[axis] and int(np.prod(after[:dim])) == outside
            ]
            return places[0] if places else None
        case _:
            return axis if after[axis] == before[axis] else None
