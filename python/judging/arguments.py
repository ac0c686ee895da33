"""A caller's argument as the array that the interpreter takes."""

from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.arrays.scalars import scalar_array
from mlir_fp8.arrays.tensor_specs import TensorSpec, spell
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tensors.foreign import as_array


def interpreted_argument(index: int, type_: ir.Type, array: Any) -> tuple[TensorSpec, np.ndarray]:
    """`array` with its type; raises `Fp8Error` where it is not of the declared one."""
    what = f"argument {index}"
    if not isinstance(type_, ir.RankedTensorType):
        raise Fp8Error(f"{what} is declared {type_}: only tensors can be given")
    element = str(type_.element_type)
    array = as_array(what, array)
    is_array = isinstance(array, np.ndarray | np.generic)
    if not is_array and type_.rank == 0:
        return TensorSpec((), element), scalar_array(what, element, array)
    if not is_array:
        raise Fp8Error(f"{what} is a {type(array).__name__}, not an array of {type_}")
    array = np.asarray(array)
    spec = TensorSpec(array.shape, element)
    sizes = [None if type_.is_dynamic_dim(i) else type_.shape[i] for i in range(type_.rank)]
    fits = len(sizes) == array.ndim and all(
        declared in (None, given) for declared, given in zip(sizes, array.shape, strict=True)
    )
    if not fits or array.dtype != spec.dtype:
        raise Fp8Error(f"{what} is {spell(array)}, declared {type_}")
    return spec, array
