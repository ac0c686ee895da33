"""`mlir_fp8.cast`: numpy arrays from one element type to another, by native code."""

from typing import Any, TypeVar, overload

import numpy as np

from mlir_fp8.arrays.address import address_of
from mlir_fp8.arrays.tensor_specs import element_dtype, element_name, is_masked, sound
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.native.cast_blocks import run_by_blocks
from mlir_fp8.compiling.native.cast_kernel import Kernel, kernel
from mlir_fp8.compiling.native.quick_cast import PER_THREAD, cast_quickly, remember
from mlir_fp8.compiling.threads import check_threads, thread_count
from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS
from mlir_fp8.failures.internal_error import public
from mlir_fp8.tensors.foreign import Kind, is_foreign, is_torch_dtype

Tensor = TypeVar("Tensor")

_NO_DTYPE = (TypeError, ValueError, SyntaxError)
"""What numpy says of what it takes for no type."""


@overload
def cast(
    array: np.ndarray | np.generic,
    dtype: Any,
    saturate: bool = False,
    out: np.ndarray | None = None,
    threads: int | None = None,
) -> np.ndarray: ...
@overload
def cast(
    array: Tensor,
    dtype: Any,
    saturate: bool = False,
    out: Tensor | None = None,
    threads: int | None = None,
) -> Tensor: ...
@overload
def cast(
    array: Any,
    dtype: Any,
    saturate: bool = False,
    out: Any = None,
    threads: int | None = None,
    as_: Kind | None = None,
) -> Any: ...


def cast(
    array: Any,
    dtype: Any,
    saturate: bool = False,
    out: Any = None,
    threads: int | None = None,
    as_: Kind | None = None,
) -> Any:
    """`array` with every element rounded once to `dtype`, to nearest, ties to even.

    `dtype` is a type of numpy, ml_dtypes or torch, or a name: MLIR's, such as "f8E4M3FN" (whose
    "i8" has 8 bits), else numpy's. Both types are floats, any of this project's, f16, bf16, f32 or
    f64, or one is an integer of 8 to 64 bits. `array` has any shape and strides and is not written.
    Values are those of `stablehlo.convert` in compiled modules (docs/numerics.md): beyond a small
    float's range infinity, else NaN, else the largest; the largest with `saturate`. Floats to
    integers go toward zero, to the nearest number in range, NaN to 0. The same type copies bits.
    `out`, of the shape of `array` and of `dtype`, takes the results, is returned, and may overlap
    `array`; without it a new array has the memory layout that numpy's `astype` gives.
    `array` and `out` may be torch tensors too, `array` a JAX array or anything with DLPack, on the
    CPU. A new array is of the kind of `array` (numpy's for other libraries), or what `as_` says:
    "numpy", "torch" or "jax".
    Large arrays are cast by `threads`: unless given, MLIR_FP8_NUM_THREADS, else one per processor.
    Raises `Fp8Error` naming what cannot be cast.
    """
    if type(array) is np.ndarray and as_ is None:
        results = cast_quickly(array, dtype, saturate, out, threads)
        if results is not None:
            return results
    return _cast(array, dtype, saturate, out, threads, as_)


@public
def _cast(
    array: Any, dtype: Any, saturate: bool, out: Any, threads: int | None, as_: Kind | None
) -> Any:
    if as_ is None and not (is_foreign(array) or is_foreign(out) or is_torch_dtype(dtype)):
        return _cast_array(array, dtype, saturate, out, threads)
    from mlir_fp8.tensors.casting import cast_tensor

    return cast_tensor(_cast_array, _element, array, dtype, saturate, out, threads, as_)


def _element(dtype: Any) -> str:
    return _castable("dtype", _target(dtype))


def _cast_array(
    array: Any, dtype: Any, saturate: bool, out: Any, threads: int | None
) -> np.ndarray:
    source = _checked(array)
    target = _target(dtype)
    element = _castable("array", source.dtype)
    check_threads(threads)
    count = threads or thread_count()
    if out is None:
        out = np.empty_like(source, target, subok=False)
    else:
        _check_out(out, source, target)
        if np.may_share_memory(source, out):
            source = source.copy()
    wanted = _castable("dtype", target)
    # Of subclasses, a part or a transposed view may be of another shape.
    read, written = _codes(source), _codes(np.asarray(out))
    if element == wanted:
        np.copyto(written, read)
        return out
    if element not in FORMATS and wanted not in FORMATS:
        raise Fp8Error(f"from {element} to {wanted}: numpy casts integers (array.astype)")
    # Of other types there is one kernel, whatever is asked for.
    clamps = _truth("saturate", saturate) and wanted in SMALL_FLOATS
    convert = kernel(element, wanted, saturate=clamps)
    _run(convert, read, written, count)
    remember(source.dtype, dtype, saturate, convert, target)
    return out


def _truth(what: str, value: Any) -> bool:
    try:
        return bool(value)
    except (TypeError, ValueError):
        raise Fp8Error(f"{what} is a {type(value).__name__}: give True or False") from None


def _checked(array: Any) -> np.ndarray:
    if is_masked(array):
        raise Fp8Error("array is masked: fill it (numpy.ma.filled), or pass its data")
    if not isinstance(array, np.ndarray | np.generic):
        raise Fp8Error(f"array is a {type(array).__name__}: give a numpy array")
    return sound("array", np.asarray(array))


def _target(dtype: Any) -> np.dtype:
    """The numpy or ml_dtypes type that `dtype` is or names."""
    if isinstance(dtype, str) and dtype in FORMATS:
        return FORMATS[dtype].dtype
    try:
        return element_dtype(dtype) if isinstance(dtype, str) else np.dtype(dtype)
    except (*_NO_DTYPE, Fp8Error):
        pass
    try:
        return np.dtype(dtype)
    except _NO_DTYPE:
        names = ", ".join(name for name, fmt in FORMATS.items() if fmt.has_dtype)
        raise Fp8Error(f"dtype is {dtype!r}: give a numpy type or one of {names}") from None


def _castable(what: str, dtype: np.dtype) -> str:
    """The MLIR name of `dtype`; an `Fp8Error` starting with `what` where it is not cast."""
    if not dtype.isnative:
        way_out = "give it this machine's byte order (array.astype(dtype.newbyteorder('=')))"
        raise Fp8Error(f"{what} is {dtype.str}, of foreign byte order: {way_out}")
    name = element_name(dtype)
    if name in FORMATS or (name is not None and name.lstrip("ui") in ("8", "16", "32", "64")):
        return name
    raise Fp8Error(f"{what} is {dtype}: only floats and integers of 8 to 64 bits are cast")


def _check_out(out: Any, source: np.ndarray, target: np.dtype) -> None:
    if not isinstance(out, np.ndarray) or is_masked(out):
        raise Fp8Error(f"out is a {type(out).__name__}: give a numpy array")
    if out.dtype != target or out.shape != source.shape:
        wanted = f"{target}{list(source.shape)}"
        raise Fp8Error(f"out is {out.dtype}{list(out.shape)}, the results are {wanted}")
    if not out.flags.writeable:
        raise Fp8Error("out is read-only")


def _codes(array: np.ndarray) -> np.ndarray:
    """The same memory as unsigned integers, which numpy moves without a look at what they mean."""
    return array.view(f"u{array.dtype.itemsize}")


def _run(convert: Kernel, source: np.ndarray, target: np.ndarray, threads: int) -> None:
    if _have_one_layout(source, target):
        _run_flat(convert, source, target, threads)
    elif source.size:
        run_by_blocks(convert, source, target, min(threads, source.size // PER_THREAD))


def _have_one_layout(source: np.ndarray, target: np.ndarray) -> bool:
    """Whether both are aligned and without gaps, their elements in memory in the same order."""
    arrays = source, target
    if not (source.flags.aligned and target.flags.aligned):
        return False
    if all(array.flags.c_contiguous for array in arrays):
        return True
    strides = source.strides
    order = sorted(range(source.ndim), key=lambda axis: -strides[axis])
    return all(array.transpose(order).flags.c_contiguous for array in arrays)


def _run_flat(convert: Kernel, source: np.ndarray, target: np.ndarray, threads: int) -> None:
    read, written, size = address_of(source), address_of(target), source.size
    parts = min(threads, size // PER_THREAD)
    if parts > 1:
        convert.share(read, written, size, parts)
    else:
        convert(read, written, size)
