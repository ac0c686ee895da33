"""`stablehlo.convolution` by its definition: which element meets which, with no padding made."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Convolution:
    """A form of convolution; layouts name the dimensions, spatial ones by their number."""

    name: str
    lhs: tuple[int, ...]
    rhs: tuple[int, ...]
    layouts: tuple[str, str, str]
    stride: Sequence[int] = ()
    padding: Sequence[tuple[int, int]] = ()
    lhs_dilation: Sequence[int] = ()
    rhs_dilation: Sequence[int] = ()
    reversal: Sequence[bool] = ()
    feature_groups: int = 1
    batch_groups: int = 1

    @property
    def rank(self) -> int:
        return len(self.lhs) - 2

    def attributes(self) -> str:
        lhs, rhs, out = (", ".join(layout) for layout in self.layouts)
        parts = [
            f"dimension_numbers = #stablehlo.conv<[{lhs}]x[{rhs}]->[{out}]>",
            f"feature_group_count = {self.feature_groups} : i64",
            f"batch_group_count = {self.batch_groups} : i64",
        ]
        for name, given in (
            ("window_strides", self.stride),
            ("lhs_dilation", self.lhs_dilation),
            ("rhs_dilation", self.rhs_dilation),
        ):
            if given:
                parts.append(f"{name} = array<i64: {', '.join(map(str, given))}>")
        if self.padding:
            pairs = [list(pair) for pair in self.padding]
            parts.append(f"padding = dense<{pairs}> : tensor<{self.rank}x2xi64>")
        if self.reversal:
            flags = ", ".join(str(flag).lower() for flag in self.reversal)
            parts.append(f"window_reversal = array<i1: {flags}>")
        return ", ".join(parts)

    def __call__(self, lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        """Of two arrays of one dtype, which is also that of the sums."""
        rank, spatial = self.rank, "".join(map(str, range(self.rank)))
        image = lhs.transpose([self.layouts[0].index(each) for each in f"bf{spatial}"])
        kernel = rhs.transpose([self.layouts[1].index(each) for each in f"oi{spatial}"])
        stride, base, dilation = (
            given or [1] * rank for given in (self.stride, self.lhs_dilation, self.rhs_dilation)
        )
        padding, reversal = self.padding or [(0, 0)] * rank, self.reversal or [False] * rank
        sizes = [
            _output_size(*each)
            for each in zip(
                image.shape[2:], kernel.shape[2:], base, dilation, padding, stride, strict=True
            )
        ]
        outputs, batch = kernel.shape[0], image.shape[0] // self.batch_groups
        result = np.zeros((batch, outputs, *sizes), lhs.dtype)
        for at in itertools.product(*map(range, sizes)):
            for offset in itertools.product(*map(range, kernel.shape[2:])):
                places = [
                    at[d] * stride[d] + offset[d] * dilation[d] - padding[d][0] for d in range(rank)
                ]
                source = [place // base[d] for d, place in enumerate(places)]
                if any(place % base[d] for d, place in enumerate(places)) or any(
                    not 0 <= source[d] < image.shape[2 + d] for d in range(rank)
                ):
                    continue
                tap = [
                    kernel.shape[2 + d] - 1 - offset[d] if reversal[d] else offset[d]
                    for d in range(rank)
                ]
                pixels = image[(slice(None), slice(None), *source)]
                weights = kernel[(slice(None), slice(None), *tap)]
                for output in range(outputs):
                    result[(slice(None), output, *at)] += self._sum(pixels, weights, output)
        return result.transpose([f"bf{spatial}".index(each) for each in self.layouts[2]])

    def _sum(self, pixels: np.ndarray, weights: np.ndarray, output: int) -> np.ndarray:
        """One output feature of pixels (batch, feature) and weights (output, input)."""
        outputs, inputs = weights.shape
        group = output // (outputs // self.feature_groups)
        features = slice(group * inputs, (group + 1) * inputs)
        batch = pixels.shape[0] // self.batch_groups
        part = output // (outputs // self.batch_groups)
        return (pixels[part * batch : (part + 1) * batch, features] * weights[output]).sum(1)


def _output_size(
    image: int, kernel: int, base: int, dilation: int, padding: tuple[int, int], stride: int
) -> int:
    padded = max(0, (image - 1) * base + 1 if image else 0) + sum(padding)
    window = (kernel - 1) * dilation + 1 if kernel else 0
    return (padded - window) // stride + 1 if padded > 0 and window <= padded else 0
