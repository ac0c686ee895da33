"""Torch tensors as numpy arrays and back, without a copy."""

import functools

import ml_dtypes
import numpy as np
import torch

from mlir_fp8.errors import Fp8Error

_ML_DTYPES = (
    "bfloat16",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
)


@functools.cache
def coded_dtypes() -> dict[torch.dtype, np.dtype]:
    """The dtypes that numpy has of ml_dtypes alone."""
    return {getattr(torch, name): np.dtype(getattr(ml_dtypes, name)) for name in _ML_DTYPES}


@functools.cache
def _torch_dtypes() -> dict[np.dtype, torch.dtype]:
    return {dtype: of_torch for of_torch, dtype in coded_dtypes().items()}


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """The memory of a tensor on the CPU as an array of its shape, strides and dtype.

    float8 and bfloat16 are dtypes of ml_dtypes. Gradients stay behind. What has no strided memory
    on the CPU (other devices, sparse tensors), and dtypes that numpy has not, are an `Fp8Error`.
    """
    if tensor.layout != torch.strided:
        raise Fp8Error(f"a tensor of layout {tensor.layout} has no array: make it dense first")
    if tensor.device.type != "cpu":
        raise Fp8Error(f"a tensor is on {tensor.device}, not on the CPU: give tensor.cpu()")
    tensor = tensor.detach().resolve_conj().resolve_neg()
    dtype = coded_dtypes().get(tensor.dtype)
    if dtype is None:
        try:
            return tensor.numpy()
        except (TypeError, RuntimeError):
            raise Fp8Error(f"numpy has no dtype for {tensor.dtype}: convert it first") from None
    codes = torch.uint8 if dtype.itemsize == 1 else torch.uint16
    return tensor.view(codes).numpy().view(dtype)


def to_torch(array: np.ndarray) -> torch.Tensor:
    """A tensor on the memory of `array`, of its shape and dtype, those of ml_dtypes included."""
    dtype = _torch_dtypes().get(array.dtype)
    if dtype is None:
        return torch.from_numpy(array)
    codes = np.uint8 if array.dtype.itemsize == 1 else np.uint16
    return torch.from_numpy(array.view(codes)).view(dtype)
