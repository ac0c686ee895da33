"""Arrays that are to be arguments, checked before code gets them."""

from typing import Any

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.compiled_module import argument_array


def check_array(name: str, spec: TensorSpec, array: Any) -> None:
    """Refuse an array that is not of `spec`, by the name of its argument."""
    try:
        argument_array(0, spec, array)
    except Fp8Error as error:
        reason = str(error).removeprefix("argument 0 ")
        raise Fp8Error(f"argument '{name}' {reason}") from None
