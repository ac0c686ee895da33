"""Torch tensors as numpy arrays and back, of the same memory wherever both can name it."""

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from mlir_fp8.arrays.packing import packed, unpacked
from mlir_fp8.arrays.tensor_specs import element_dtype, element_name
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.torch.plain import plain

if TYPE_CHECKING:
    import torch  # pyright: ignore[reportMissingImports]

PACKED = "float4_e2m1fn_x2"
_ELEMENTS = {
    "bool": "i1",
    **{f"int{bits}": f"i{bits}" for bits in (2, 4, 8, 16, 32, 64)},
    **{f"uint{bits}": f"ui{bits}" for bits in (2, 4, 8, 16, 32, 64)},
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2": "f8E5M2",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "float8_e8m0fnu": "f8E8M0FNU",
    PACKED: "f4E2M1FN",
}
"""MLIR's names by torch's. A torch without some of these types has no tensors of them."""
_SHORT = {"i2": "int8", "i4": "int8", "ui2": "uint8", "ui4": "uint8"}


def to_numpy(tensor: "torch.Tensor", what: str = "tensor") -> np.ndarray:
    """`tensor` as an array: its own memory where numpy or ml_dtypes has the type, strides kept.

    bf16, f8, f16 to f64, integers, bool and complex numbers are not copied. float4_e2m1fn_x2
    [..., n] becomes f4E2M1FN [..., 2n]; int4, uint4, int2 and uint2 hold a number per byte, as they
    do viewed as int8 or uint8. These, and tensors with their conjugate or negative bit set, are
    copied. A tensor that requires gradients is detached with a `DetachedWarning`, unless gradients
    are off. Raises `Fp8Error` starting with `what` for tensors that have no values in this
    process's memory, or other than dense ones.
    """
    try:
        return _array(what, plain(what, tensor))
    except (RuntimeError, TypeError, NotImplementedError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise Fp8Error(
            f"{what} is a {type(tensor).__name__} that cannot be read: {reason}"
        ) from None


def to_torch(array: np.ndarray, what: str = "array") -> "torch.Tensor":
    """`array` as a CPU tensor: of its memory where it is writable and torch has the type.

    f4E2M1FN [..., 2n] becomes float4_e2m1fn_x2 [..., n]; int4, uint4, int2 and uint2 hold a number
    per byte, to be viewed as int8 or uint8. These, read-only arrays, and strides that torch has not
    (negative ones, parts of elements) are copied. Raises `Fp8Error` starting with `what` for types
    that torch has not.
    """
    import torch  # pyright: ignore[reportMissingImports]

    dtype = torch_dtype(what, array.dtype, array.shape)
    element = element_name(array.dtype)
    if element == "f4E2M1FN":
        return torch.from_numpy(packed(array)).view(dtype)
    if element in _SHORT:
        return torch.from_numpy(array.astype(_SHORT[element])).view(dtype)
    size, flags = array.itemsize, array.flags
    is_shared = flags.writeable and flags.aligned
    if not is_shared or any(step < 0 or step % size for step in array.strides):
        array = np.array(array, order="C")
    if array.dtype.isbuiltin != 2:
        return torch.from_numpy(array)
    return torch.from_numpy(array.view(f"int{8 * size}")).view(dtype)


def torch_dtype(what: str, dtype: np.dtype, shape: tuple[int, ...]) -> Any:
    """The `torch.dtype` for an array; an `Fp8Error` starting with `what` where there is none."""
    element = element_name(dtype)
    if element == "f4E2M1FN" and (not shape or shape[-1] % 2):
        reason = "torch has f4 in pairs only, and the last size is odd"
        raise Fp8Error(f"{what} is {dtype}{list(shape)}: {reason}: give as_='numpy'")
    found = _dtypes().get(element)
    if found is None:
        reason = "a type that torch has not: give as_='numpy'"
        raise Fp8Error(f"{what} is {dtype}{list(shape)}, {reason}")
    return found


def numpy_dtype(dtype: "torch.dtype") -> np.dtype:
    """The numpy or ml_dtypes type of a `torch.dtype`; for float4_e2m1fn_x2, that of one element."""
    element = _elements().get(dtype)
    if element is None:
        raise Fp8Error(f"dtype is {dtype}, which numpy has no type for")
    return element_dtype(element)


def is_packed(tensor: "torch.Tensor") -> bool:
    """Whether each element of `tensor` is two of MLIR's."""
    return _elements().get(tensor.dtype) == "f4E2M1FN"


def in_bytes(tensor: "torch.Tensor") -> "torch.Tensor":
    """`tensor`, of float4_e2m1fn_x2 as the bytes that programs of PyTorch's take it in."""
    import torch  # pyright: ignore[reportMissingImports]

    return tensor.view(torch.uint8) if is_packed(tensor) else tensor


def memory(what: str, tensor: "torch.Tensor") -> np.ndarray:
    """The array to write results of `tensor`'s type to; bytes where `copy_into` is to write them.

    Raises `Fp8Error` starting with `what` where they would be lost, or are not what it holds.
    """
    import torch  # pyright: ignore[reportMissingImports]

    if tensor.requires_grad:
        raise Fp8Error(f"{what} requires gradients, which results have not: give tensor.detach()")
    if tensor.is_conj() or tensor.is_neg() or tensor._is_zerotensor():
        raise Fp8Error(f"{what} is a view with other values than its memory: give tensor.clone()")
    is_bytes = is_packed(tensor) or _elements().get(tensor.dtype) in _SHORT
    return to_numpy(tensor.view(torch.uint8) if is_bytes else tensor, what)


def copy_into(tensor: "torch.Tensor", array: np.ndarray) -> None:
    """`array` into a tensor of pairs or short integers, strides as they are."""
    import torch  # pyright: ignore[reportMissingImports]

    tensor.view(torch.uint8).copy_(to_torch(array).view(torch.uint8))


def note_written(tensor: "torch.Tensor") -> None:
    """Count a change of `tensor`, so that a backward that needs its old values says so."""
    from torch.autograd.graph import (  # pyright: ignore[reportMissingImports]
        increment_version,
    )

    if not tensor.is_inference():
        increment_version(tensor)


@functools.cache
def _elements() -> dict[Any, str]:
    import torch  # pyright: ignore[reportMissingImports]

    return {
        getattr(torch, name): element for name, element in _ELEMENTS.items() if hasattr(torch, name)
    }


@functools.cache
def _dtypes() -> dict[str | None, Any]:
    return {element: dtype for dtype, element in _elements().items()}


def _array(what: str, tensor: "torch.Tensor") -> np.ndarray:
    import torch  # pyright: ignore[reportMissingImports]

    element = _elements().get(tensor.dtype)
    if element is None:
        raise Fp8Error(f"{what} is of {tensor.dtype}, which MLIR and numpy have no type for")
    if element == "f4E2M1FN":
        if not tensor.ndim:
            raise Fp8Error(f"{what} is a pair of f4 without a dimension to hold it: give it one")
        return unpacked(tensor.view(torch.uint8).numpy())
    if element in _SHORT:
        return _short(what, tensor, element)
    dtype = element_dtype(element)
    if dtype.isbuiltin == 2:
        codes = torch.uint8 if dtype.itemsize == 1 else torch.int16
        return tensor.view(codes).numpy().view(dtype)
    return tensor.resolve_conj().resolve_neg().numpy()


def _short(what: str, tensor: "torch.Tensor", element: str) -> np.ndarray:
    import torch  # pyright: ignore[reportMissingImports]

    numbers = tensor.view(getattr(torch, _SHORT[element])).numpy()
    bits = int(element.lstrip("ui"))
    low, high = (0, 2**bits) if element.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    wrong = numbers[(numbers < low) | (numbers >= high)]
    if wrong.size:
        raise Fp8Error(f"{what} holds {wrong[0]}, which is no {element}")
    return numbers.astype(element_dtype(element))
