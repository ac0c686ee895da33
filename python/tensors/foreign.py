"""Which library an argument is of, and its values as a numpy array."""

import importlib.util
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error

Kind = Literal["numpy", "torch", "jax"]
KINDS: tuple[Kind, ...] = ("numpy", "torch", "jax")
_NEEDED = {"torch": "PyTorch: pip install 'mlir-fp8[torch]'", "jax": "JAX: pip install jax"}


def kind_of(value: Any) -> Kind:
    """The library that `value` is of, numpy for what is of neither of the others.

    Who has a tensor has imported its library: none is imported for a look.
    """
    if isinstance(value, getattr(sys.modules.get("torch"), "Tensor", ())):
        return "torch"
    if isinstance(value, getattr(sys.modules.get("jax"), "Array", ())):
        return "jax"
    return "numpy"


def is_foreign(value: Any) -> bool:
    """Whether `value` is a tensor or an array of another library than numpy."""
    if isinstance(value, np.ndarray | np.generic):
        return False
    return kind_of(value) != "numpy" or _has_dlpack(value)


def is_torch_dtype(value: Any) -> bool:
    """Whether `value` is a `torch.dtype`."""
    return isinstance(value, getattr(sys.modules.get("torch"), "dtype", ()))


def _has_dlpack(value: Any) -> bool:
    kind = type(value)
    return hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__")


def as_array(what: str, value: Any) -> Any:
    """The array of a torch tensor, a JAX array or anything with DLPack; else `value` itself.

    It is of the same memory where that is dense and on the CPU. Raises `Fp8Error` starting with
    `what` where its values are not there.
    """
    if isinstance(value, np.ndarray | np.generic):
        return value
    kind = kind_of(value)
    if kind == "torch":
        from mlir_fp8.torch.tensors import to_numpy

        return to_numpy(value, what)
    if kind == "jax":
        from mlir_fp8.tensors.jax_arrays import jax_to_numpy

        return jax_to_numpy(what, value)
    if _has_dlpack(value):
        from mlir_fp8.tensors.dlpack import from_dlpack

        return from_dlpack(what, value)
    return value


def as_arrays(values: Sequence[Any]) -> list[Any]:
    """`as_array` of the arguments of a function, by number."""
    return [as_array(f"argument {index}", value) for index, value in enumerate(values)]


def declared_shape(value: Any) -> Any:
    """The shape that a module declares for an array; `value` itself where it is none."""
    shape = getattr(value, "shape", value)
    if kind_of(value) == "torch":
        from mlir_fp8.torch.tensors import is_packed

        if is_packed(value) and shape:
            return (*shape[:-1], 2 * shape[-1])
    return shape


def result_kind(as_: Any, arguments: Iterable[Any]) -> Kind:
    """What results are given as: what `as_` names, else what the arguments are.

    Beside torch tensors or JAX arrays, numpy arrays and numbers do not count.
    """
    if as_ is None:
        kinds: set[Kind] = {kind_of(value) for value in arguments}
        kinds.discard("numpy")
        if len(kinds) > 1:
            raise Fp8Error(
                "arguments are torch tensors and JAX arrays: say which results are, as_="
            )
        return kinds.pop() if kinds else "numpy"
    if as_ not in KINDS:
        raise Fp8Error(f"as_ is {as_!r}: give one of {', '.join(KINDS)}")
    if as_ in _NEEDED and as_ not in sys.modules and importlib.util.find_spec(as_) is None:
        raise Fp8Error(f"as_={as_!r} needs {_NEEDED[as_]}")
    return as_


def check_kind(kind: Kind, what: str, spec: TensorSpec) -> None:
    """An `Fp8Error` starting with `what` where a result of `spec` cannot be given as `kind`."""
    if kind == "torch":
        from mlir_fp8.torch.tensors import torch_dtype

        torch_dtype(what, spec.dtype, spec.shape)
    elif kind == "jax":
        from mlir_fp8.tensors.jax_arrays import check_jax_dtype

        check_jax_dtype(what, spec.dtype, spec.shape)


def given_as(kind: Kind, what: str, array: np.ndarray) -> Any:
    """A new array as an array of `kind`, of the same memory where that can be."""
    if kind == "torch":
        from mlir_fp8.torch.tensors import to_torch

        return to_torch(array, what)
    if kind == "jax":
        from mlir_fp8.tensors.jax_arrays import numpy_to_jax

        return numpy_to_jax(what, array)
    return array
