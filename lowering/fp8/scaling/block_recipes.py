"""Recipes of formats whose scales are those of blocks: OCP's MX, and NVIDIA's NVFP4."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.fp8.weights.scale_rules import (
    MX_ROUNDINGS,
    NVFP4,
    NVFP4_BLOCK,
    NVFP4_LARGEST_SCALE,
    mx_rule,
)

MX_FORMATS = ("f8E4M3FN", "f8E5M2", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN")
"""The floats of the OCP specification that MX blocks consist of."""
MX_BLOCK = 32

_LARGEST_TRANSFORM = 256


@dataclass(frozen=True)
class MXScaling:
    """Blocks of `block` elements along what a dot sums, with f8E8M0FNU scales: powers of two.

    `format` is that of activations and weights, `backward` of gradients, `format` too where it is
    None. The scale of a block is made of its largest magnitude, amax, and of the format's largest
    number, MAX = m * 2^emax with 1 <= m < 2, by `scale_rounding`:

    - "floor": 2^(floor(log2(amax)) - emax), as section 6.3 of the OCP specification v1.0 has it.
      Elements between MAX and 2^(emax + 1) times that become MAX;
    - "ceil": the least power of two that is not below amax / MAX, as NVIDIA's libraries have it;
    - "even": as "floor", of amax rounded to the format's number of mantissa bits.

    It lies within 2^-127 and 2^127, is 2^-127 where amax is 0, and NaN where a number is. With an
    infinity it is 2^(128 - emax), by "ceil" 2^127.

    There is no state, and dots alone are quantized: operands of a gradient's dot anew, along what
    that sums. `stochastic_gradients` rounds gradients at random, up with the probability of what
    would be lost, by a seed that is made of their bits. `hadamard`, a power of two, multiplies each
    so many summed elements of both operands of a backward dot by one random orthogonal matrix
    before, so that outliers are spread; products stay the same.
    """

    format: str = "f8E4M3FN"
    block: int = MX_BLOCK
    scale_rounding: str = "floor"
    backward: str | None = None
    stochastic_gradients: bool = False
    hadamard: int = 0

    def __post_init__(self) -> None:
        for which, name in (("", self.format), ("backward ", self.backward)):
            if name is not None:
                check_word(f"{which}format of MX", name, MX_FORMATS)
        check_word("scale_rounding", self.scale_rounding, MX_ROUNDINGS)
        if not isinstance(self.block, Integral) or self.block < 1:
            raise Fp8Error(f"block is {self.block}: it is the number of elements, 1 or more")
        _check_gradients(self.stochastic_gradients, self.hadamard)

    @property
    def forward(self) -> str:
        return self.format

    @property
    def rule(self) -> str:
        """How a scale follows from what is in a block, see `scale_rules`."""
        return mx_rule(self.scale_rounding)

    def number_of(self, names: Sequence[str]) -> None:
        """MX has no number of a tensor."""

    def format_of(self, *, is_gradient: bool) -> str:
        return self.backward or self.format if is_gradient else self.format


@dataclass(frozen=True, kw_only=True)
class NVFP4Scaling:
    """Blocks of 16 f4E2M1FN along what a dot sums, with f8E4M3FN scales, and one f32 per tensor.

    The number of a tensor (of each index of what a dot batches over, and of each expert of a ragged
    dot) is amax / (448 * 6), 1 where that is 0, subnormal, infinite or NaN; the
    scale of a block is its amax / 6 over that number, at least 2^-6, rounded to f8E4M3FN. So has
    NVIDIA it. Elements are divided by the product of both, rounded to f32; the sum of a dot is
    multiplied by the product of the numbers of both tensors, rounded to f32. `stochastic_gradients`
    and `hadamard` are those of `MXScaling`; NVIDIA trains with both, the latter 16.

    `scales`, a `mlir_fp8.Calibration` of per="tensor", gives the numbers of activations: they are
    constants then, so that a tensor is read once.
    """

    scales: Any = None
    stochastic_gradients: bool = False
    hadamard: int = 0

    def __post_init__(self) -> None:
        _check_gradients(self.stochastic_gradients, self.hadamard)
        if self.scales is not None and not hasattr(self.scales, "scale_of"):
            raise Fp8Error(f"scales is a {type(self.scales).__name__}: give a Calibration, or none")
        if self.scales is not None and self.scales.per != "tensor":
            raise Fp8Error(f"scales are per {self.scales.per}: calibrate with per='tensor'")

    @property
    def forward(self) -> str:
        return "f4E2M1FN"

    def number_of(self, names: Sequence[str]) -> np.float32 | None:
        """The number of the tensor of one of `names`, of calibration; None without."""
        if self.scales is None:
            return None
        scale = self.scales.scale_of(names, self.forward)
        if scale is None:
            reason = "has no scale: calibrate the same module with the same weights"
            raise Fp8Error(f"tensor '{names[0]}' {reason}")
        return np.float32(scale.reshape(())) / np.float32(NVFP4_LARGEST_SCALE)

    @property
    def block(self) -> int:
        return NVFP4_BLOCK

    @property
    def rule(self) -> str:
        return NVFP4

    def format_of(self, *, is_gradient: bool) -> str:
        return self.forward


BlockFormatRecipe = MXScaling | NVFP4Scaling
"""Recipes of block formats. `BlockScaling`, whose scales are f32, is none of them."""


def check_word(what: str, word: str, known: Sequence[str]) -> None:
    """Refuse a word that is none of those that are known."""
    if word not in known:
        raise Fp8Error(f"'{word}' is no {what}: it is one of {', '.join(known)}")


def _check_gradients(stochastic: bool, hadamard: int) -> None:
    if not isinstance(stochastic, bool):
        raise Fp8Error(f"stochastic_gradients is {stochastic!r}: it is True or False")
    is_size = isinstance(hadamard, Integral) and 0 <= hadamard <= _LARGEST_TRANSFORM
    if not is_size or hadamard & (hadamard - 1) or hadamard == 1:
        limits = f"2 to {_LARGEST_TRANSFORM}, or 0 for none"
        raise Fp8Error(f"hadamard is {hadamard}: it is a power of two from {limits}")
