"""JAX functions compiled by way of this project's passes: `mlir_fp8.jax.jit`.

Importing this package does not import JAX; `pip install 'mlir-fp8[xla]'` brings it.
"""

import importlib
from typing import TYPE_CHECKING, Any

from mlir_fp8.base.fork_lock import LOADING

if TYPE_CHECKING:
    from mlir_fp8.jax.explaining import explain as explain
    from mlir_fp8.jax.jitting import jit as jit
    from mlir_fp8.jax.threaded import Threaded as Threaded

_HOMES = {"Threaded": "threaded", "explain": "explaining", "jit": "jitting"}

__all__ = ["Threaded", "explain", "jit"]


def __dir__() -> list[str]:
    """With the names that nobody has asked for yet."""
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module 'mlir_fp8.jax' has no attribute '{name}'")
        from mlir_fp8.xla.devices import imported_jax

        imported_jax()
        with LOADING:
            value = getattr(importlib.import_module(f"mlir_fp8.jax.{home}"), name)
        globals()[name] = value
        return value
