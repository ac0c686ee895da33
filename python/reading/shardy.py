"""Drops JAX's sharding annotations (the `sdy` dialect): one process holds every shard.

They place parts of tensors on devices, and do not change values.
"""

from mlir_fp8.artifacts.untrusted import allowance, patience
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import CrashError, call_isolated


def needs_shardy(error: Fp8Error) -> bool:
    """Whether an artifact could not be read for the annotations in it."""
    return "dialect 'sdy' is unknown" in str(error)


def without_shardings(data: bytes, name: str) -> bytes:
    """The module in `data` without them: an artifact of the same version, otherwise generic text.

    `name` stands for the file in errors and locations. Raises `Fp8Error` naming the op where one
    computes per device, as `sdy.manual_computation` does.
    """

    def work() -> bytes:
        from mlir_fp8.artifacts import mhlo

        return mhlo.without_shardings(data, name)

    try:
        return call_isolated(work, seconds=patience(len(data)), memory=allowance(len(data)))
    except CrashError as error:
        raise Fp8Error(f"{name}: damaged, or nested too deeply: {error}") from None
