"""A module that XLA has compiled for the devices of a mesh, called on arrays."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.failures.internal_error import public
from mlir_fp8.xla.arguments import host_array
from mlir_fp8.xla.failures import one_line


class ShardedModule:
    """An entry function that XLA has compiled for several devices.

    Calling it takes an array per argument, of the types that `arguments` says: numpy arrays and
    others of the host, or JAX arrays however they are sharded, and gives a tuple of JAX arrays,
    sharded as XLA likes or as the module says; with `as_="numpy"`, of numpy arrays. Where the
    module is the program of each device, arguments and results have a dimension of devices first.
    `shardings` are where arguments lie: what is there already is not moved.
    With several processes (`jax.distributed`), each calls it, with equal arrays of the host or with
    JAX's global ones.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        hlo: Callable[[], str],
        mesh: Any,
        entry: str,
        arguments: Sequence[TensorSpec],
        results: Sequence[TensorSpec],
        shardings: Sequence[Any],
    ) -> None:
        self.entry = entry
        self.mesh = mesh
        self.arguments: tuple[TensorSpec, ...] = tuple(arguments)
        self.results: tuple[TensorSpec, ...] = tuple(results)
        self.shardings = tuple(shardings)
        self._function = function
        self._hlo = hlo

    @public
    def __call__(self, *arrays: Any, as_: Literal["jax", "numpy"] = "jax") -> tuple[Any, ...]:
        if as_ not in ("jax", "numpy"):
            raise Fp8Error(f"as_ is {as_!r}: give jax or numpy")
        if len(arrays) != len(self.arguments):
            raise Fp8Error(
                f"'{self.entry}' takes {len(self.arguments)} arguments, {len(arrays)} were given"
            )
        import jax  # pyright: ignore[reportMissingImports]

        place = f"{self.mesh.devices.size} devices"
        with jax.enable_x64(True), one_line(f"'{self.entry}'", place):
            given = [
                self._placed(f"argument {number}", spec, array, sharding)
                for number, (spec, array, sharding) in enumerate(
                    zip(self.arguments, arrays, self.shardings, strict=True)
                )
            ]
            results = self._function(*given)
            if as_ == "jax":
                return tuple(results)
            return tuple(map(_whole, results))

    @property
    def optimized_hlo(self) -> str:
        """The text of the HLO that XLA made of it for one device, collectives included."""
        return self._hlo()

    def _placed(self, what: str, spec: TensorSpec, array: Any, sharding: Any) -> Any:
        import jax  # pyright: ignore[reportMissingImports]

        if not isinstance(array, jax.Array):
            array = host_array(what, spec, array)
        elif array.dtype != spec.dtype or array.shape != spec.shape:
            raise Fp8Error(f"{what} is {array.dtype}{list(array.shape)}, declared {spec}")
        return jax.device_put(array, sharding)


def _whole(array: Any) -> np.ndarray:
    """`array` with the parts that other processes hold."""
    if array.is_fully_addressable or array.is_fully_replicated:
        return np.asarray(array)
    from jax.experimental import multihost_utils  # pyright: ignore[reportMissingImports]

    return np.asarray(multihost_utils.process_allgather(array, tiled=True))
