"""The recipe of int8: symmetric codes of 8 bits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.fp8.scaling.block_recipes import check_word
from mlir_fp8.lowering.fp8.weights.code_formats import INT8, LARGEST_INT8

MOST_SUMMANDS = (2**31 - 1) // LARGEST_INT8**2
"""How many products of two codes i32 holds the sum of, whatever they are."""


@dataclass(frozen=True, kw_only=True)
class Int8Scaling:
    """Codes of i8, whose scale is made of the tensor itself: amax / 127, f32.

    The code of x is round_nearest_even(clamp(x / scale, -127, 127)), computed in f32; the scale is
    1 where amax is 0 or amax / 127 subnormal. Dots and convolutions multiply i8 by i8 and sum in
    i32, exactly; the sum is converted to f32, multiplied by the left and then by the right scale,
    each rounded, and converted to the declared type. A NaN or an infinity makes the scale NaN or
    infinite, and all results that it has a part in NaN.

    `per` is "tensor", or "row": all that a product sums for one result has a scale of its own, as
    each token on the left and each channel on the right; of convolutions, tensors have one. Without
    `gradients`, products of the backward pass stay as they are. What is made is plain StableHLO.

    `scales`, a `mlir_fp8.Calibration` of per="tensor", gives the scales of what is no prepared
    weight: they are constants then, so that a tensor is read once, and a NaN becomes the code 0.
    """

    per: str = "tensor"
    gradients: bool = True
    scales: Any = None

    def __post_init__(self) -> None:
        if self.scales is not None and not hasattr(self.scales, "scale_of"):
            raise Fp8Error(f"scales is a {type(self.scales).__name__}: give a Calibration, or none")
        if self.scales is not None and (self.scales.per, self.per) != ("tensor", "tensor"):
            raise Fp8Error("scales of calibration are per tensor: calibrate and quantize so")
        check_word("per", self.per, ("tensor", "row"))
        check_word("gradients", str(self.gradients), ("True", "False"))

    @property
    def forward(self) -> str:
        return INT8

    def scale(self, names: Sequence[str]) -> np.ndarray | None:
        """The scale of the tensor of one of `names`, of calibration, rank 0; None without."""
        if self.scales is None:
            return None
        found = self.scales.scale_of(names, INT8)
        if found is None:
            reason = "has no scale: calibrate the same module with the same weights"
            raise Fp8Error(f"tensor '{names[0]}' {reason}")
        return np.asarray(found, np.float32).reshape(())

    def format_of(self, *, is_gradient: bool) -> str:
        del is_gradient
        return INT8
