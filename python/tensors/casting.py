"""Casts of what is not a numpy array, or to what is none."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tensors.foreign import (
    Kind,
    as_array,
    check_kind,
    given_as,
    is_foreign,
    is_torch_dtype,
    result_kind,
)
from mlir_fp8.tensors.outputs import Output


def cast_tensor(
    cast: Callable[..., np.ndarray],
    element_of: Callable[[Any], str],
    array: Any,
    dtype: Any,
    saturate: bool,
    out: Any,
    threads: int | None,
    as_: Kind | None,
) -> Any:
    """As `mlir_fp8.cast`, where `array`, `dtype` or `out` is of another library, or `as_` given.

    `cast` is that of numpy arrays, `element_of` gives the MLIR name of a type.
    """
    if out is not None and as_ is not None:
        raise Fp8Error("out and as_ are both given: results are what out is")
    kind = result_kind(as_, [array])
    source = as_array("array", array)
    dtype = _numpy_dtype(dtype)
    if not hasattr(source, "dtype") or (out is not None and not is_foreign(out)):
        return cast(source, dtype, saturate, out, threads)
    spec = TensorSpec(source.shape, element_of(dtype))
    if out is None:
        check_kind(kind, "result", spec)
        return given_as(kind, "result", cast(source, dtype, saturate, None, threads))
    output = Output("out", out, spec)
    output.store(cast(source, dtype, saturate, output.array, threads))
    output.note_written()
    return out


def _numpy_dtype(dtype: Any) -> Any:
    if not is_torch_dtype(dtype):
        return dtype
    from mlir_fp8.torch.tensors import numpy_dtype

    return numpy_dtype(dtype)
