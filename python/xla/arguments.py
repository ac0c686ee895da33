"""A caller's argument as an array of JAX on the device of a module.

What is on the device already is not copied: arrays of JAX, results of other modules, tensors of
torch and of others by DLPack; on the CPU numpy arrays and tensors too, where XLA's alignment of 64
bytes is met.
"""

from typing import Any

import numpy as np

from mlir_fp8.arrays.scalars import scalar_array
from mlir_fp8.arrays.tensor_specs import TensorSpec, is_masked, sound, spell
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tensors.detached import warn_detached
from mlir_fp8.tensors.foreign import as_array, kind_of
from mlir_fp8.xla.device_array import DeviceArray
from mlir_fp8.xla.failures import one_line

_GPU = (2, 10)
"""CUDA and ROCm, by DLPack's numbers."""


def is_shared(value: Any) -> bool:
    """Whether `value` is memory of the host that its owner may write to while XLA reads it."""
    return not isinstance(value, DeviceArray) and kind_of(value) != "jax"


def is_placed(value: Any, dtype: Any, shape: tuple[int, ...], device: Any) -> bool:
    """Whether `value` is an array of JAX on `device` alone, of the type, and there still."""
    if kind_of(value) != "jax" or value.dtype != dtype or value.shape != shape:
        return False
    try:  # What is traced has no device, what was deleted says of none.
        return getattr(value, "device", None) == device and not value.is_deleted()
    except RuntimeError:
        return False


def placed(what: str, spec: TensorSpec, value: Any, device: Any, *, is_donated: bool) -> Any:
    """`value` on `device`, of exactly the declared type; `what` stands for it in errors.

    What is donated is memory that XLA may write to: only JAX's own is, all other is copied first.
    """
    import jax  # pyright: ignore[reportMissingImports]

    if isinstance(value, DeviceArray):
        value = value.jax
    array = _on_gpu(what, value) if _is_on_gpu(value) else value
    is_foreign = array is not value
    with one_line(what, str(device)):
        if isinstance(array, jax.Array):
            _check_jax(what, spec, array)
            if not is_foreign and array.device == device:
                return array
            return jax.device_put(array, device, may_alias=not (is_foreign and is_donated))
        host = host_array(what, spec, array)
        is_kept = device.platform == "cpu" and not is_donated
        return jax.device_put(host, device, may_alias=is_kept)


def _check_jax(what: str, spec: TensorSpec, array: Any) -> None:
    import jax  # pyright: ignore[reportMissingImports]
    from jax.core import Tracer  # pyright: ignore[reportMissingImports]

    if isinstance(array, Tracer):
        raise Fp8Error(f"{what} is traced by JAX (jit, grad, vmap): call it outside of it")
    if jax.dtypes.issubdtype(array.dtype, jax.dtypes.extended):
        raise Fp8Error(f"{what} is of {array.dtype}: give jax.random.key_data(key)")
    if array.is_deleted():
        raise Fp8Error(f"{what} was deleted, or donated to an earlier call")
    if len(array.devices()) > 1:
        raise Fp8Error(f"{what} is spread over {len(array.devices())} devices: gather it first")
    if array.dtype != spec.dtype or array.shape != spec.shape:
        raise Fp8Error(f"{what} is {_spelled(array)}, declared {spec}")


def host_array(what: str, spec: TensorSpec, value: Any) -> np.ndarray:
    """`value`, of the host, as an array of exactly the declared type."""
    if is_masked(value):
        raise Fp8Error(f"{what} is masked: fill it (numpy.ma.filled), or pass its data")
    array = as_array(what, value)
    if not isinstance(array, np.ndarray | np.generic):
        if spec.shape:
            raise Fp8Error(f"{what} is a {type(value).__name__}, not an array of {spec}")
        return scalar_array(what, spec.element, array)
    array = np.asarray(array)
    if array.dtype != spec.dtype or array.shape != spec.shape:
        raise Fp8Error(f"{what} is {spell(array)}, declared {spec}")
    return sound(what, np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED"]))


def _is_on_gpu(value: Any) -> bool:
    if isinstance(value, np.ndarray | np.generic) or kind_of(value) == "jax":
        return False
    if kind_of(value) == "torch":
        return value.device.type == "cuda"
    return hasattr(value, "__dlpack__") and value.__dlpack_device__()[0] in _GPU


def _on_gpu(what: str, value: Any) -> Any:
    """A tensor of another library on a GPU as a JAX array of the same memory."""
    import jax  # pyright: ignore[reportMissingImports]

    if kind_of(value) == "torch":
        if value.requires_grad:
            warn_detached(f"{what} requires gradients, which results will not have")
        # XLA reads rows one after the other; what is strided, conjugated or negated is copied.
        value = value.detach().resolve_conj().resolve_neg().contiguous()
    with one_line(f"{what} is a {type(value).__name__} that JAX does not take", "the GPU"):
        return jax.dlpack.from_dlpack(value)


def _spelled(array: Any) -> str:
    return spell(np.broadcast_to(np.zeros((), array.dtype), array.shape))
