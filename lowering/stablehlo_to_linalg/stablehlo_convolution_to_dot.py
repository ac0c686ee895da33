"""`stablehlo-convolution-to-dot`: convolutions whose channels are not contiguous become products.

The windows are laid out as the columns of a matrix ("im2col", after Chellapilla, Puri and Simard,
"High performance convolutional neural networks for document processing", 2006): for the gradient of
a filter of patches, which tile the image, that is a transpose; else a slice for each element of the
window, or for each window where these are fewer. The gradient of an image of patches is a product
that is transposed. `linalg-convolution-to-kernels` reads all other images in place.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import has_static_shape
from mlir_fp8.lowering.rewriting.text_expansion import replace_by

_LEAST_WORK = 1 << 18
"""Multiplications below which copying the windows does not pay."""
_LEAST_FEATURES = 32
"""Channels and features below which it does not either, but where windows tile the image."""
_MOST_SLICES = 64
_MOST_BYTES = 1 << 28
"""Of the matrix of windows."""


@dataclass(frozen=True)
class StablehloConvolutionToDot(ModulePass):
    """Replace convolutions of one group on images whose channels are not the last dimension."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, "stablehlo.convolution"):
            if all(has_static_shape(each) for each in (*op.operands, *op.results)):
                text = _program(op)
                if text is not None:
                    replace_by(op, text, list(op.operands))


@dataclass(frozen=True)
class _Tensor:
    """A value's name, sizes and element type."""

    name: str
    shape: tuple[int, ...]
    element: str

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.element}>"


@dataclass
class _Text:
    """StableHLO ops, one method for each kind."""

    lines: list[str] = field(default_factory=list)

    def let(self, op: str, shape: Sequence[int], *operands: _Tensor, element: str = "") -> _Tensor:
        """A new value; `op` is its name with attributes, `{}` are the operands."""
        result = _Tensor(f"%{len(self.lines)}", tuple(shape), element or operands[0].element)
        names, types = (", ".join(map(each, operands)) for each in (lambda x: x.name, str))
        self.lines.append(f"{result.name} = stablehlo.{op.format(names)} : ({types}) -> {result}")
        return result

    def transposed(self, value: _Tensor, order: Sequence[int]) -> _Tensor:
        if list(order) == sorted(order):
            return value
        dims = ", ".join(map(str, order))
        shape = [value.shape[each] for each in order]
        return self.let(f"transpose {{}}, dims = [{dims}]", shape, value)

    def reshaped(self, value: _Tensor, shape: Sequence[int]) -> _Tensor:
        return value if value.shape == tuple(shape) else self.let("reshape {}", shape, value)

    def sliced(self, value: _Tensor, parts: Sequence[tuple[int, int, int]]) -> _Tensor:
        """Of each dimension the first index, the count and the step."""
        if all(part == (0, size, 1) for part, size in zip(parts, value.shape, strict=True)):
            return value
        ends = [first + (count - 1) * step + 1 for first, count, step in parts]
        ranges = ", ".join(
            f"{first}:{end}:{step}" for (first, _, step), end in zip(parts, ends, strict=True)
        )
        return self.let(f"slice {{}} [{ranges}]", [count for _, count, _ in parts], value)

    def padded(self, value: _Tensor, edges: np.ndarray, inside: Sequence[int]) -> _Tensor:
        """With zeros at both ends of each dimension, and so many between its elements."""
        if not edges.any() and not any(inside):
            return value
        zero = _Tensor(f"%{len(self.lines)}", (), value.element)
        number = "0" if value.element[0] in "iu" else "0.0"
        self.lines.append(f"{zero.name} = stablehlo.constant dense<{number}> : {zero}")
        shape = [
            size + int(low) + int(high) + max(size - 1, 0) * between
            for size, (low, high), between in zip(value.shape, edges, inside, strict=True)
        ]
        low, high = (", ".join(map(str, edges[:, side])) for side in (0, 1))
        between = ", ".join(map(str, inside))
        return self.let(
            f"pad {{}}, low = [{low}], high = [{high}], interior = [{between}]", shape, value, zero
        )

    def joined(self, parts: Sequence[_Tensor], dimension: int) -> _Tensor:
        if len(parts) == 1:
            return parts[0]
        shape = list(parts[0].shape)
        shape[dimension] = sum(part.shape[dimension] for part in parts)
        return self.let(f"concatenate {{}}, dim = {dimension}", shape, *parts)


@dataclass(frozen=True)
class _Windows:
    """Along the spatial dimensions: windows' sizes, counts, steps between elements and windows."""

    sizes: tuple[int, ...]
    counts: tuple[int, ...]
    dilations: tuple[int, ...]
    strides: tuple[int, ...]

    def matrix(self, text: _Text, image: _Tensor) -> tuple[_Tensor, bool]:
        """The windows of `image` [n, c, ...], and whether they come first: [n, windows, c, size],
        else [n, c, size, windows]."""
        batch, channels = image.shape[:2]
        size, count = math.prod(self.sizes), math.prod(self.counts)
        if self._tiles(image):
            return self._transposed(text, image), False
        if size <= count:
            parts = [self._part(text, image, at) for at in _places(self.sizes)]
            shape = batch, channels, 1, count
            lines = [text.reshaped(part, shape) for part in parts]
            return text.joined(lines, 2), False
        parts = [self._window(text, image, at) for at in _places(self.counts)]
        lines = [text.reshaped(part, (batch, 1, channels, size)) for part in parts]
        return text.joined(lines, 1), True

    def slices(self, image: _Tensor) -> int:
        """How many ops `matrix` takes."""
        return 1 if self._tiles(image) else min(math.prod(self.sizes), math.prod(self.counts))

    def spread(self, edges: np.ndarray, inside: Sequence[int]) -> bool:
        """Whether each window has one element of the image, as gradients of tiles have it."""
        fields = zip(self.sizes, self.dilations, self.strides, edges, inside, strict=True)
        return any(size > 1 for size in self.sizes) and all(
            dilation == stride == 1 and between == low == high == size - 1
            for size, dilation, stride, (low, high), between in fields
        )

    def _tiles(self, image: _Tensor) -> bool:
        """Whether each element of the image is in one window, of elements `counts` apart."""
        fields = zip(
            image.shape[2:], self.sizes, self.counts, self.dilations, self.strides, strict=True
        )
        return all(
            size * count == whole and ((stride == 1 and dilation == count) or size == count == 1)
            for whole, size, count, dilation, stride in fields
        )

    def _transposed(self, text: _Text, image: _Tensor) -> _Tensor:
        rank = len(self.sizes)
        pairs = zip(self.sizes, self.counts, strict=True)
        shape = [*image.shape[:2], *(each for pair in pairs for each in pair)]
        order = [0, 1, *(2 + 2 * d for d in range(rank)), *(3 + 2 * d for d in range(rank))]
        apart = text.transposed(text.reshaped(image, shape), order)
        size, count = math.prod(self.sizes), math.prod(self.counts)
        return text.reshaped(apart, (*image.shape[:2], size, count))

    def _part(self, text: _Text, image: _Tensor, at: Sequence[int]) -> _Tensor:
        """One element of each window."""
        fields = zip(at, self.dilations, self.counts, self.strides, strict=True)
        spatial = [(place * step, count, stride) for place, step, count, stride in fields]
        return text.sliced(image, [(0, size, 1) for size in image.shape[:2]] + spatial)

    def _window(self, text: _Text, image: _Tensor, at: Sequence[int]) -> _Tensor:
        fields = zip(at, self.strides, self.sizes, self.dilations, strict=True)
        spatial = [(place * step, size, dilation) for place, step, size, dilation in fields]
        return text.sliced(image, [(0, size, 1) for size in image.shape[:2]] + spatial)


def _places(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    return list(itertools.product(*map(range, sizes)))


def _program(op: ir.Operation) -> str | None:
    """The function that stands for `op`; None where that would not pay."""
    numbers = _stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    rank = op.results[0].type.rank
    of_image = (numbers.input_batch_dimension, numbers.input_feature_dimension)
    of_image = [*of_image, *numbers.input_spatial_dimensions]
    of_filter = (numbers.kernel_output_feature_dimension, numbers.kernel_input_feature_dimension)
    of_filter = [*of_filter, *numbers.kernel_spatial_dimensions]
    of_result = (numbers.output_batch_dimension, numbers.output_feature_dimension)
    of_result = [*of_result, *numbers.output_spatial_dimensions]
    groups = [ir.IntegerAttr(op.attributes[f"{each}_group_count"]).value for each in _GROUPS]
    if groups != [1, 1] or numbers.input_feature_dimension == rank - 1 or rank < 3:
        return None
    image, filter_ = (
        _Tensor(name, tuple(value.type.shape), str(value.type.element_type))
        for name, value in zip(("%image", "%filter"), op.operands, strict=True)
    )
    out = _Tensor("", tuple(op.results[0].type.shape), str(op.results[0].type.element_type))
    text = _Text()
    channels_first = text.transposed(image, of_image)
    weights = _turned(op, text, text.transposed(filter_, of_filter))
    spatial = [out.shape[each] for each in of_result[2:]]
    windows = _Windows(
        weights.shape[2:],
        tuple(spatial),
        tuple(_numbers(op, "rhs_dilation", rank - 2)),
        tuple(_numbers(op, "window_strides", rank - 2)),
    )
    edges = np.zeros((rank, 2), np.int64)
    if "padding" in op.attributes:
        edges[2:] = np.array(ir.DenseIntElementsAttr(op.attributes["padding"])).reshape(-1, 2)
    inside = [0, 0, *(each - 1 for each in _numbers(op, "lhs_dilation", rank - 2))]
    batch, count, features = image.shape[of_image[0]], math.prod(spatial), weights.shape[0]
    depth = math.prod(weights.shape[1:])
    if windows.spread(edges[2:], inside[2:]):
        if batch * count * depth * features < _LEAST_WORK * math.prod(windows.sizes):
            return None
        apart = _spread(text, channels_first, weights, out.element)
        result = text.transposed(apart, [of_result.index(each) for each in range(rank)])
        return _function(text, (image, filter_, out), result)
    padded = text.padded(channels_first, edges, inside)
    if not _pays(padded, weights, windows):
        return None
    matrix, windows_first = windows.matrix(text, padded)
    flat = text.reshaped(weights, (features, depth))
    if windows_first:
        columns = text.reshaped(matrix, (batch, count, depth))
        product = text.let(
            "dot_general {}, contracting_dims = [2] x [1]", (batch, count, features), columns, flat,
            element=out.element,
        )  # fmt: skip
        product = text.transposed(product, [0, 2, 1])
    else:
        columns = text.reshaped(matrix, (batch, depth, count))
        product = text.let(
            "dot_general {}, contracting_dims = [1] x [1]", (features, batch, count), flat, columns,
            element=out.element,
        )  # fmt: skip
        product = text.transposed(product, [1, 0, 2])
    apart = text.reshaped(product, (batch, features, *spatial))
    result = text.transposed(apart, [of_result.index(each) for each in range(rank)])
    return _function(text, (image, filter_, out), result)


def _function(text: _Text, types: tuple[_Tensor, _Tensor, _Tensor], result: _Tensor) -> str:
    image, filter_, out = types
    lines = "\n      ".join(text.lines)
    return f"""
    func.func @convolution(%image: {image}, %filter: {filter_}) -> {out} {{
      {lines}
      return {result.name} : {out}
    }}"""


def _spread(text: _Text, image: _Tensor, weights: _Tensor, element: str) -> _Tensor:
    """Each element of `image` [n, c, ...] times all of the filter, reversed, in places of its own:
    [n, o, ...]."""
    rank = len(image.shape)
    dims = ", ".join(map(str, range(2, rank)))
    turned = text.let(f"reverse {{}}, dims = [{dims}]", weights.shape, weights)
    shape = image.shape[0], *image.shape[2:], weights.shape[0], *weights.shape[2:]
    product = text.let(
        "dot_general {}, contracting_dims = [1] x [1]", shape, image, turned, element=element
    )
    places = [each for d in range(rank - 2) for each in (1 + d, rank + d)]
    apart = text.transposed(product, [0, rank - 1, *places])
    whole = [a * b for a, b in zip(image.shape[2:], weights.shape[2:], strict=True)]
    return text.reshaped(apart, (image.shape[0], weights.shape[0], *whole))


_GROUPS = ("feature", "batch")


def _numbers(op: ir.Operation, name: str, count: int) -> list[int]:
    if name not in op.attributes:
        return [1] * count
    return list(ir.DenseI64ArrayAttr(op.attributes[name]))


def _turned(op: ir.Operation, text: _Text, weights: _Tensor) -> _Tensor:
    """Reversed along the dimensions that `window_reversal` names."""
    if "window_reversal" not in op.attributes:
        return weights
    flags = list(ir.DenseBoolArrayAttr(op.attributes["window_reversal"]))
    dims = [2 + number for number, flag in enumerate(flags) if flag]
    if not dims:
        return weights
    return text.let(f"reverse {{}}, dims = [{', '.join(map(str, dims))}]", weights.shape, weights)


def _pays(image: _Tensor, weights: _Tensor, windows: _Windows) -> bool:
    columns = image.shape[0] * math.prod(windows.counts)
    depth, features = math.prod(weights.shape[1:]), weights.shape[0]
    if columns * depth * features < _LEAST_WORK or columns * depth * 4 > _MOST_BYTES:
        return False
    slices = windows.slices(image)
    are_planes = len(image.shape) == 4 and min(features, weights.shape[1]) >= _LEAST_FEATURES
    return slices == 1 or (1 < slices <= _MOST_SLICES and are_planes)
