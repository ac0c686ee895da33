"""A weight in f8 with its scales, and a checkpoint of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.checkpoints.companions import input_scale_names, weight_scale_names
from mlir_fp8.checkpoints.scale_layout import Block, grid, spread

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
    def arrays(self) -> dict[str, np.ndarray]:
        """The tensors of a file by name, for `mlir_fp8.save_arrays`: weights, scales and others.

        Scales are those of compressed-tensors, `weight_scale` and `input_scale`, f32 of rank 1 or
        more. Without a `config.json`, `mlir_fp8.load_checkpoint` reads codes of any type, and takes
        blocks from the shapes of scales; what activations are is in no file.
        """
        arrays: dict[str, np.ndarray] = {}

        def add(name: str, array: np.ndarray) -> None:
            if name in arrays:
                raise Fp8Error(f"two tensors of the checkpoint are named '{name}'")
            arrays[name] = array

        for name, weight in self.weights.items():
            if weight.scale.shape != grid(weight.codes.shape, weight.block):
                shapes = f"{list(weight.scale.shape)} for blocks of {list(weight.block)}"
                raise Fp8Error(f"the scale of '{name}' {list(weight.codes.shape)} is {shapes}")
            add(name, weight.codes)
            scale = np.atleast_1d(weight.scale.astype(np.float32, copy=False))
            add(weight_scale_names(name)[0], scale)
            if weight.input_scale is not None:
                add(input_scale_names(name)[0], np.array([weight.input_scale], np.float32))
        for name, array in self.others.items():
            add(name, array)
        for name, number in self.cache_scales.items():
            add(name, np.array([number], np.float32))
        return arrays

    @property
    def bytes(self) -> int:
        """What weights, scales and other tensors take in memory."""
        held = (each.codes.nbytes + each.scale.nbytes for each in self.weights.values())
        return sum(held) + sum(array.nbytes for array in self.others.values())
