"""JAX's shardings (the `sdy` dialect) as StableHLO holds them: strings and XLA's custom calls."""

from mlir_fp8.artifacts.untrusted import allowance, patience
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import CrashError, call_isolated


def needs_shardy(error: Fp8Error) -> bool:
    """Whether an artifact could not be read for the shardings in it."""
    return "dialect 'sdy' is unknown" in str(error)


def shardings_in_stablehlo(data: bytes, name: str) -> bytes:
    """The module in `data` in the form of XLA's round trip, see docs/multi_device.md.

    An artifact of the same version, otherwise generic text. `name` stands for the file in errors
    and locations. Raises `Fp8Error` naming the op that has no such form.
    """

    def work() -> bytes:
        from mlir_fp8.artifacts import shardy

        return shardy.as_custom_calls(data, name)

    try:
        return call_isolated(work, seconds=patience(len(data)), memory=allowance(len(data)))
    except CrashError as error:
        raise Fp8Error(f"{name}: damaged, or nested too deeply: {error}") from None
