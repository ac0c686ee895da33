"""Programs of long reductions, with the number of roundings that they may take.

`roundings` is the bound of docs/numerics.md: no element goes through more additions than that, so
the absolute error is at most `roundings` * 2^-24 * the sum of magnitudes.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Arrays = tuple[np.ndarray, ...]
_F32 = np.dtype(np.float32)


@dataclass(frozen=True)
class LongSum:
    """A module, its arguments (by a generator), and the exact sums in f64."""

    name: str
    text: str
    shapes: tuple[tuple[int, ...], ...]
    roundings: float
    exact: Callable[..., np.ndarray]
    element: np.dtype = _F32

    def arrays(self, generator: np.random.Generator) -> Arrays:
        """Numbers from 0 to 1, so that the sum of magnitudes is the sum."""
        return tuple(generator.random(s, np.float32).astype(self.element) for s in self.shapes)

    def error(self, got: np.ndarray, arrays: Arrays) -> float:
        """The largest relative one."""
        want = self.exact(*(each.astype(np.float64) for each in arrays))
        return float(np.max(np.abs(got.astype(np.float64) - want) / want))


def sum_roundings(count: int) -> float:
    return 256 * math.ceil(math.log(max(count, 2), 256)) + 16


def product_roundings(count: int) -> float:
    return 1024 + 2 * math.ceil(math.sqrt(count / 384)) + 16


def tensor(shape: tuple[int, ...], element: str = "f32") -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def sum_of(name: str, shape: tuple[int, ...], *dims: int) -> LongSum:
    """A reduction across `dims`."""
    kept = tuple(size for dim, size in enumerate(shape) if dim not in dims)
    text = f"""func.func @main(%a: {tensor(shape)}) -> {tensor(kept)} {{
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = {list(dims)}
        : ({tensor(shape)}, tensor<f32>) -> {tensor(kept)}
      return %0 : {tensor(kept)} }}"""
    count = math.prod(shape[dim] for dim in dims)
    # Each level but the last has at least half of 256 where several loops make it.
    roundings = sum_roundings(count) * (1 if len(dims) == 1 else 2)
    return LongSum(name, text, (shape,), roundings, lambda a: a.sum(dims))


def window_of(name: str, shape: tuple[int, ...], window: tuple[int, ...]) -> LongSum:
    """Sums of all windows of one size, without padding."""
    result = tuple(size - width + 1 for size, width in zip(shape, window, strict=True))
    sizes = ", ".join(map(str, window))
    text = f"""func.func @main(%a: {tensor(shape)}) -> {tensor(result)} {{
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = "stablehlo.reduce_window"(%a, %z) <{{window_dimensions = array<i64: {sizes}>}}> ({{
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %1 = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }}) : ({tensor(shape)}, tensor<f32>) -> {tensor(result)}
      return %0 : {tensor(result)} }}"""

    def exact(a: np.ndarray) -> np.ndarray:
        windows = np.lib.stride_tricks.sliding_window_view(a, window)
        return windows.sum(tuple(range(a.ndim, 2 * a.ndim)))

    return LongSum(name, text, (shape,), 2 * sum_roundings(math.prod(window)), exact)


def prefixes_of(name: str, count: int, *, reverse: bool = False) -> LongSum:
    """A cumulative sum, as JAX and PyTorch write it."""
    type_, padding = tensor((count,)), [0, count - 1] if reverse else [count - 1, 0]
    text = f"""func.func @main(%a: {type_}) -> {type_} {{
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = "stablehlo.reduce_window"(%a, %z) <{{window_dimensions = array<i64: {count}>,
          padding = dense<[{padding}]> : tensor<1x2xi64>}}> ({{
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %1 = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }}) : ({type_}, tensor<f32>) -> {type_}
      return %0 : {type_} }}"""
    step = -1 if reverse else 1
    return LongSum(name, text, ((count,),), 512 + 4, lambda a: a[::step].cumsum()[::step])


def dot_of(name: str, letters: str, element: str, dtype: np.dtype, **sizes: int) -> LongSum:
    """A dot_general to f32 by the letters of its operands, of which `i`, `j` and `k` are summed."""
    sides, out = letters.split("->")[0].split(","), letters.split("->")[1]
    shapes = [tuple(sizes[each] for each in side) for side in (*sides, out)]
    summed = [each for each in sides[0] if each not in out]
    dims = " x ".join(str([side.index(each) for each in summed]) for side in sides)
    types = [tensor(shapes[0], element), tensor(shapes[1], element), tensor(shapes[2])]
    text = f"""func.func @main(%a: {types[0]}, %b: {types[1]}) -> {types[2]} {{
      %0 = stablehlo.dot_general %a, %b, contracting_dims = {dims}
        : ({types[0]}, {types[1]}) -> {types[2]}
      return %0 : {types[2]} }}"""
    roundings = product_roundings(math.prod(sizes[each] for each in summed))

    def exact(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        axes = tuple(sides[0].index(e) for e in summed), tuple(sides[1].index(e) for e in summed)
        product = np.tensordot(a, b, axes)
        order = [each for side in sides for each in side if each not in summed]
        return product.transpose([order.index(each) for each in out])

    return LongSum(name, text, tuple(shapes[:2]), roundings, exact, dtype)


def convolution_of(name: str, image: tuple[int, int, int], window: tuple[int, int, int]) -> LongSum:
    """One image of rows, columns and features, and windows of rows, columns and new features."""
    lhs, rhs = (1, *image), (window[0], window[1], image[2], window[2])
    rows, columns = image[0] - window[0] + 1, image[1] - window[1] + 1
    types = [tensor(each) for each in (lhs, rhs, (1, rows, columns, window[2]))]
    text = f"""func.func @main(%a: {types[0]}, %b: {types[1]}) -> {types[2]} {{
      %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {{}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
        : ({types[0]}, {types[1]}) -> {types[2]}
      return %0 : {types[2]} }}"""

    def exact(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        windows = np.lib.stride_tricks.sliding_window_view(a, window[:2], (1, 2))
        return np.tensordot(windows, b, ((4, 5, 3), (0, 1, 2)))

    count = window[0] * window[1] * image[2]
    return LongSum(name, text, (lhs, rhs), product_roundings(count), exact)
