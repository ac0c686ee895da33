"""References in numpy for what the interpreter cannot run, or nobody else gets right."""

import math
import re
from collections.abc import Callable

import ml_dtypes
import numpy as np
from sample_groups import Case, spec_of

from mlir_fp8.arrays.tensor_specs import is_integer

Results = tuple[np.ndarray, ...]
_EPSILON = 0.5


def reference(case: Case, arrays: list[np.ndarray]) -> Results | None:
    """The results of a case by numpy, or None where there is no reference for its op.

    Narrow floats compute in f64, where all sums of these arguments are exact, and round once.
    """
    rule = _REFERENCES.get(case.sample.op)
    results = () if rule is None else rule(case, [_wide(array) for array in arrays])
    if not results:
        return None
    types = (spec_of(type_).dtype for type_ in case.result_types)
    return tuple(_narrow(np.asarray(each), to) for each, to in zip(results, types, strict=True))


def _wide(array: np.ndarray) -> np.ndarray:
    if is_integer(array):
        return array.astype(np.uint64 if array.dtype == np.uint64 else np.int64)
    return array if array.dtype.kind == "c" else array.astype(np.float64)


def _narrow(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if dtype == np.bool_ or array.dtype.kind not in "iu":
        return array.astype(dtype)
    low, bits = int(ml_dtypes.iinfo(dtype).min), ml_dtypes.iinfo(dtype).bits
    if bits == 64:
        return array.astype(dtype)
    return ((array - low) % (1 << bits) + low).astype(dtype)


def _einsum(case: Case, arrays: list[np.ndarray]) -> Results:
    equation = re.search(r'einsum_config = "([^"]*)"', case.text)
    assert equation is not None
    return (np.einsum(equation.group(1), *arrays),)


def _per_feature(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance over all dimensions but the last."""
    axes = tuple(range(array.ndim - 1))
    return array.mean(axes), array.var(axes)


def _normalized(array: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    return (array - mean) / np.sqrt(variance + _EPSILON)


def _batch_norm_training(case: Case, arrays: list[np.ndarray]) -> Results:
    array, scale, offset = arrays
    mean, variance = _per_feature(array)
    return _normalized(array, mean, variance) * scale + offset, mean, variance


def _batch_norm_inference(case: Case, arrays: list[np.ndarray]) -> Results:
    array, scale, offset, mean, variance = arrays
    return (_normalized(array, mean, variance) * scale + offset,)


def _batch_norm_grad(case: Case, arrays: list[np.ndarray]) -> Results:
    """The derivatives of `_batch_norm_training` with this mean and variance."""
    array, scale, mean, variance, grad = arrays
    axes = tuple(range(array.ndim - 1))
    normalized = _normalized(array, mean, variance)
    to_scale, to_offset = (grad * normalized).sum(axes), grad.sum(axes)
    count = array.size // array.shape[-1]
    centered = grad - to_offset / count - normalized * to_scale / count
    return scale / np.sqrt(variance + _EPSILON) * centered, to_scale, to_offset


def _fft(case: Case, arrays: list[np.ndarray]) -> Results:
    functions: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "FFT": np.fft.fft,
        "IFFT": np.fft.ifft2,
        "RFFT": np.fft.rfft,
        "IRFFT": lambda array: np.fft.irfft(array, n=7),
    }
    return (functions[case.sample.form](arrays[0]),)


def _of_complex(function: Callable[..., np.ndarray]) -> Callable[[Case, list[np.ndarray]], Results]:
    """For complex numbers alone, which numpy orders as the specification does."""
    return lambda case, arrays: (function(*arrays),) if "complex" in case.element else ()


def _compare(case: Case, arrays: list[np.ndarray]) -> Results:
    functions: dict[str, Callable[..., np.ndarray]] = {
        "LT": np.less,
        "LE": np.less_equal,
        "GT": np.greater,
        "GE": np.greater_equal,
    }
    function = functions.get(case.sample.form or "LT")
    return () if function is None else _of_complex(function)(case, arrays)


def _custom_call(case: Case, arrays: list[np.ndarray]) -> Results:
    if case.sample.form == "identity":
        return (arrays[0],)
    return (np.vectorize(math.erf, otypes=[np.float64])(arrays[0]),)


_OF_ONE_PROCESS = (
    *("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute"),
    *("cross-replica-sum", "reduce_scatter", "async_start", "async_done"),
)
"""Collectives, which give a process alone what they are given."""

_REFERENCES: dict[str, Callable[[Case, list[np.ndarray]], Results]] = {
    **{f"stablehlo.{op}": lambda case, arrays: (arrays[0],) for op in _OF_ONE_PROCESS},
    "chlo.broadcast_compare": _compare,
    "chlo.broadcast_maximum": _of_complex(np.maximum),
    "chlo.broadcast_minimum": _of_complex(np.minimum),
    "stablehlo.batch_norm_grad": _batch_norm_grad,
    "stablehlo.batch_norm_inference": _batch_norm_inference,
    "stablehlo.batch_norm_training": _batch_norm_training,
    "stablehlo.broadcast": lambda case, arrays: (np.broadcast_to(arrays[0], (2, 3, 5)),),
    "stablehlo.clamp": _of_complex(
        lambda low, array, high: np.minimum(np.maximum(array, low), high)
    ),
    "stablehlo.compare": _compare,
    "stablehlo.custom_call": _custom_call,
    "stablehlo.dot": lambda case, arrays: (arrays[0] @ arrays[1],),
    "stablehlo.einsum": _einsum,
    "stablehlo.fft": _fft,
    "stablehlo.maximum": _of_complex(np.maximum),
    "stablehlo.minimum": _of_complex(np.minimum),
    "stablehlo.real_dynamic_slice": lambda case, arrays: (arrays[0][1:6:2],),
    "stablehlo.torch_index_select": lambda case, arrays: (arrays[0][arrays[1]],),
    "stablehlo.unary_einsum": _einsum,
}
