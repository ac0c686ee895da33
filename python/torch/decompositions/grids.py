"""Samples of images and volumes at the places of a grid, and their gradients.

As `at::native::grid_sampler_2d_cpu` and `grid_sampler_3d_cpu`: along each dimension a place has
taps, each an index, a weight and what the weight gains as the grid's number grows; a sample is the
sum over all combinations of taps.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.register import decomposes

_aten = torch.ops.aten
_BILINEAR, _NEAREST, _BICUBIC = 0, 1, 2
_ZEROS, _BORDER, _REFLECTION = 0, 1, 2
_CUBIC = -0.75


@dataclass(frozen=True)
class _Tap:
    """Of each place: an index that is within, whether it was, the weight and its derivative."""

    index: Tensor
    inside: Tensor
    weight: Tensor
    slope: Tensor


def _taps(grid: Tensor, size: int, mode: int, padding: int, align: bool) -> list[_Tap]:
    """The taps along a dimension of `size`, of numbers from -1 to 1."""
    scale = (size - 1) / 2 if align else size / 2
    place = (grid + 1) * scale if align else (grid * size + size - 1) / 2
    slope = torch.full_like(place, scale)
    if mode == _BICUBIC:
        return _cubic_taps(place, slope, size, padding, align)
    place, inner = _padded(place, size, padding, align)
    slope = slope * inner
    if mode == _NEAREST:
        zero = torch.zeros_like(place)
        return [_tap(torch.round(place), torch.ones_like(place), zero, size)]
    first = torch.floor(place)
    return [
        _tap(first, first + 1 - place, -slope, size),
        _tap(first + 1, place - first, slope, size),
    ]


def _tap(place: Tensor, weight: Tensor, slope: Tensor, size: int) -> _Tap:
    inside = (place >= 0) & (place <= size - 1)
    return _Tap(torch.where(inside, place, 0).to(torch.int64), inside, weight, slope)


def _cubic_taps(place: Tensor, slope: Tensor, size: int, padding: int, align: bool) -> list[_Tap]:
    first = torch.floor(place)
    taps = []
    for step in (-1, 0, 1, 2):
        away = place - first - step
        weight, gain = _cubic(away.abs())
        where, _ = _padded(first + step, size, padding, align)
        taps.append(_tap(where, weight, gain * away.sign() * slope, size))
    return taps


def _cubic(x: Tensor) -> tuple[Tensor, Tensor]:
    """The weight of cubic convolution `x` away, and its derivative."""
    a = _CUBIC
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    near_gain = (3 * (a + 2) * x - 2 * (a + 3)) * x
    far_gain = (3 * a * x - 10 * a) * x + 8 * a
    return torch.where(x <= 1, near, far), torch.where(x <= 1, near_gain, far_gain)


def _padded(place: Tensor, size: int, padding: int, align: bool) -> tuple[Tensor, Tensor]:
    """A place brought within, as the padding says, and the derivative of that."""
    gain = torch.ones_like(place)
    if padding == _ZEROS:
        return place, gain
    if padding == _REFLECTION:
        place, gain = _reflected(place, *((0.0, size - 1.0) if align else (-0.5, size - 0.5)))
    within = (place > 0) & (place < size - 1)
    return place.clamp(0, size - 1), torch.where(within, gain, 0.0)


def _reflected(place: Tensor, low: float, high: float) -> tuple[Tensor, Tensor]:
    """A place reflected at both ends until it is between them."""
    span = high - low
    if span == 0:
        return torch.zeros_like(place), torch.zeros_like(place)
    away = place - low
    sign = torch.where(away < 0, -1.0, 1.0).to(place.dtype)
    away = away.abs()
    extra = torch.fmod(away, span)
    flips = torch.floor(away / span)
    is_even = torch.fmod(flips, 2) == 0
    turned = torch.where(is_even, extra + low, span - extra + low)
    return turned, torch.where(is_even, sign, -sign)


@dataclass(frozen=True)
class _Samples:
    """An image [n, c, *sizes], and taps at places [n, *out] along each dimension of `sizes`."""

    image: Tensor
    taps: list[list[_Tap]]

    def combinations(self) -> Any:
        """Of each combination of taps: flat indices, weights and, by dimension, slopes."""
        sizes = self.image.shape[2:]
        for each in itertools.product(*self.taps):
            flat = torch.zeros_like(each[0].index)
            inside = torch.ones_like(each[0].inside)
            for tap, size in zip(each, sizes, strict=True):
                flat, inside = flat * size + tap.index, inside & tap.inside
            weight = math.prod((tap.weight for tap in each[1:]), start=each[0].weight)
            slopes = []
            for dim, tap in enumerate(each):
                others = [other.weight for i, other in enumerate(each) if i != dim]
                slopes.append(math.prod(others, start=tap.slope))
            yield flat, inside, weight, slopes

    def taken(self, flat: Tensor, inside: Tensor) -> Tensor:
        """[n, c, places] of the image at flat indices, 0 outside of it."""
        rows = self.image.flatten(2)
        index = flat.flatten(1).unsqueeze(1).expand(-1, rows.shape[1], -1)
        return torch.where(inside.flatten(1).unsqueeze(1), rows.gather(2, index), 0.0)


def _samples(image: Tensor, grid: Tensor, mode: int, padding: int, align: bool) -> _Samples:
    rank = image.dim() - 2
    sizes = image.shape[2:]
    numbers = [grid.select(-1, rank - 1 - dim) for dim in range(rank)]
    kinds = mode, padding, align
    taps = [_taps(each, size, *kinds) for each, size in zip(numbers, sizes, strict=True)]
    return _Samples(image, taps)


@decomposes(_aten.grid_sampler_3d.default)
def grid_sampler(
    image: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Samples [n, c, *out] of `image` [n, c, *sizes] at `grid` [n, *out, dims]."""
    samples = _samples(image, grid, interpolation_mode, padding_mode, align_corners)
    total = image.new_zeros((*image.shape[:2], math.prod(grid.shape[1:-1])))
    for flat, inside, weight, _ in samples.combinations():
        total = total + samples.taken(flat, inside) * weight.flatten(1).unsqueeze(1)
    return total.unflatten(2, grid.shape[1:-1])


@decomposes(_aten.grid_sampler_2d_backward.default, _aten.grid_sampler_3d_backward.default)
def grid_sampler_backward(
    grad_out: Tensor,
    image: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor]:
    """Gradients of the image and of the grid."""
    samples = _samples(image, grid, interpolation_mode, padding_mode, align_corners)
    grad = grad_out.flatten(2)
    of_image = torch.zeros_like(image).flatten(2)
    of_grid = [torch.zeros_like(grid.select(-1, 0)) for _ in samples.taps]
    for flat, inside, weight, slopes in samples.combinations():
        index = flat.flatten(1).unsqueeze(1).expand_as(grad)
        part = torch.where(inside, weight, 0.0).flatten(1).unsqueeze(1) * grad
        of_image = of_image.scatter_add(2, index, part)
        if interpolation_mode != _NEAREST:
            gain = (samples.taken(flat, inside) * grad).sum(1).unflatten(1, grid.shape[1:-1])
            of_grid = [all_ + gain * each for all_, each in zip(of_grid, slopes, strict=True)]
    whole = of_image.unflatten(2, image.shape[2:]) if output_mask[0] else None
    return whole, torch.stack(of_grid[::-1], -1)
