"""The file of `jax.export.Exported.serialize()`, read by JAX, for one platform or for several."""

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from mlir_fp8.arrays.tensor_specs import TensorSpec, element_name
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.xla.artifact import Artifact, check_readable
from mlir_fp8.xla.failures import reason_of

_INSIDE = re.compile(rb"ML\xefR.StableHLO_v\d+\.\d+\.\d+\0", re.DOTALL)


def is_exported_file(data: bytes) -> bool:
    """Whether `data` holds an artifact behind something else, as such files do."""
    found = _INSIDE.search(data)
    return found is not None and found.start() > 0


def read_exported_file(data: bytes, name: str) -> Artifact | None:
    """What is in the file, or None where the compiler has to make another artifact of it first.

    That is so for open sizes and for types without arrays. `name` stands for the file in errors.
    Raises `Fp8Error` for a damaged file, and for functions of several devices or with effects.
    """
    try:
        exported: Any = import_module("jax.export").deserialize(bytearray(data))
    except Exception as error:  # of flatbuffers, of many kinds
        reason = reason_of(error, "cpu")
        raise Fp8Error(f"{name}: not what jax.export's serialize writes: {reason}") from None
    check_readable(exported.mlir_module_serialized, name)
    if exported.nr_devices > 1:
        way_out = "give it a mesh (fp8-run: --devices), or export it for one"
        devices = exported.nr_devices
        raise Fp8Error(f"{name}: is made for {devices} devices, this runs on one: {way_out}")
    if exported.ordered_effects or exported.unordered_effects:
        raise Fp8Error(f"{name}: has effects, such as callbacks: call it by jax.export")
    arguments, results = _specs(exported.in_avals), _specs(exported.out_avals)
    if arguments is None or results is None:
        return None
    return Artifact(
        exported.mlir_module_serialized,
        arguments,
        results,
        ("",) * len(arguments),
        ("",) * len(results),
        (),
        tuple(exported.module_kept_var_idx),
        tuple(exported.platforms),
    )


def _specs(avals: Sequence[Any]) -> tuple[TensorSpec, ...] | None:
    specs: list[TensorSpec] = []
    for aval in avals:
        element = None if _is_extended(aval.dtype) else element_name(aval.dtype)
        if element is None or not all(isinstance(size, int) for size in aval.shape):
            return None
        specs.append(TensorSpec(tuple(aval.shape), element))
    return tuple(specs)


def _is_extended(dtype: Any) -> bool:
    dtypes = import_module("jax.dtypes")
    return bool(dtypes.issubdtype(dtype, dtypes.extended))
