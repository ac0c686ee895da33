"""A weight in f8 with its scales, and a checkpoint of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from mlir_fp8.checkpoints.scale_layout import Block, spread

Activation = Literal["wide", "static", "tensor", "token", "group"]
"""What the products of a weight take: activations as they are; or in f8, with a scale known before,
or computed of the whole tensor, of each token, or of groups of a token."""


@dataclass(frozen=True, eq=False)
class F8Weight:
    """A weight: about `codes * scale`.

    `codes` are of a float8 type and of the weight's own shape. `scale` is f32, and has an element
    for each block of the weight, `ceil(n / block)` along each dimension, where a block of 0 is the
    whole dimension; with one block it is of rank 0. `activation` is None where nothing says what it
    is. `input_scale` is what an activation is divided by before it becomes f8.
    """

    codes: np.ndarray
    scale: np.ndarray
    block: Block
    activation: Activation | None = None
    input_scale: np.float32 | None = None

    def dequantized(self) -> np.ndarray:
        """f32 of the weight's shape: each code times its scale, which rounds once."""
        return self.codes.astype(np.float32) * spread(self.scale, self.block, self.codes.shape)


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The tensors of a checkpoint by the names of the weights they are.

    `weights` are those in f8, `others` the rest as it is kept. `cache_scales` are the scales of a
    KV cache by their names in the file, which end in `k_scale`, `v_scale` or `kv_scale`.
    """

    path: str
    weights: Mapping[str, F8Weight]
    others: Mapping[str, np.ndarray] = field(default_factory=dict)
    cache_scales: Mapping[str, np.float32] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """What weights, scales and other tensors take in memory."""
        held = (each.codes.nbytes + each.scale.nbytes for each in self.weights.values())
        return sum(held) + sum(array.nbytes for array in self.others.values())
