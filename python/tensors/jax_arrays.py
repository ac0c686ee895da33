"""JAX arrays as numpy arrays and back."""

import functools
from typing import Any

import numpy as np

from mlir_fp8.base.errors import Fp8Error


def jax_to_numpy(what: str, array: Any) -> np.ndarray:
    """A JAX array's own memory, read-only; only shards on several devices are copied into one.

    Raises `Fp8Error` as `check_jax` does.
    """
    check_jax(what, array)
    try:
        return np.asarray(array)
    except (RuntimeError, TypeError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise Fp8Error(f"{what} is a JAX array that cannot be read: {reason}") from None


def check_jax(what: str, array: Any) -> None:
    """An `Fp8Error` starting with `what` where a JAX array has no values here.

    It is traced, deleted, on other devices than the CPU, of other processes, or of keys.
    """
    import jax  # pyright: ignore[reportMissingImports]
    from jax.core import Tracer  # pyright: ignore[reportMissingImports]

    if isinstance(array, Tracer):
        way_out = "call it outside, or by jax.pure_callback"
        raise Fp8Error(f"{what} is traced by JAX (jit, grad, vmap): {way_out}")
    if jax.dtypes.issubdtype(array.dtype, jax.dtypes.extended):
        raise Fp8Error(f"{what} is of {array.dtype}: give jax.random.key_data(key)")
    if array.is_deleted():
        raise Fp8Error(f"{what} is a JAX array that was deleted or donated")
    others = sorted({str(device) for device in array.devices() if device.platform != "cpu"})
    if others:
        way_out = "give jax.device_get(array)"
        raise Fp8Error(f"{what} is on {', '.join(others)}, this runs on the CPU: {way_out}")
    if not array.is_fully_addressable:
        raise Fp8Error(f"{what} is spread over other processes: gather it first")


def check_jax_dtype(what: str, dtype: np.dtype, shape: tuple[int, ...]) -> None:
    """An `Fp8Error` starting with `what` where JAX has no arrays of `dtype`, or would narrow it."""
    import jax  # pyright: ignore[reportMissingImports]

    kept = _kept(dtype, jax.config.read("jax_enable_x64"))
    if kept is None:
        message = f"{what} is {dtype}{list(shape)}, a type that JAX has not: give as_='numpy'"
        raise Fp8Error(message)
    if kept != dtype:
        way_out = "set jax_enable_x64, or give as_='numpy'"
        raise Fp8Error(f"{what} is {dtype}{list(shape)}, which JAX makes {kept}: {way_out}")


@functools.cache
def _kept(dtype: np.dtype, has_64_bits: bool) -> np.dtype | None:
    """What JAX makes of `dtype`, None where nothing."""
    import jax  # pyright: ignore[reportMissingImports]

    try:
        return np.dtype(jax.numpy.asarray(np.zeros(1, dtype)).dtype)
    except Exception:  # of XLA and of JAX, of many kinds
        return None


def numpy_to_jax(what: str, array: np.ndarray) -> Any:
    """`array`, which nobody writes to any more, as a JAX array on the CPU."""
    import jax  # pyright: ignore[reportMissingImports]

    check_jax_dtype(what, array.dtype, array.shape)
    if jax.default_backend() == "cpu":
        return jax.numpy.asarray(array)
    return jax.device_put(array, jax.local_devices(backend="cpu")[0])
