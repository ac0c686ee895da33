"""A portable artifact as a function that JAX calls: `jax.export.Exported` with another body."""

import dataclasses
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from mlir_fp8.arrays.tensor_specs import TensorSpec


def artifact_call(
    artifact: bytes,
    arguments: Sequence[TensorSpec],
    results: Sequence[TensorSpec],
    kept: Sequence[int] | None = None,
    platforms: Sequence[str] = (),
) -> Callable[..., list[Any]]:
    """A function of arrays of `arguments` that gives a list of arrays of `results`.

    JAX puts the module into what it traces: nothing is called on the host. `main` takes the
    arguments of the numbers `kept`, all without it, and before them the number of one of the
    `platforms`, if there are several. 64-bit types need `jax.enable_x64`.
    """
    exported = artifact_exported(artifact, arguments, results)
    changes: dict[str, Any] = {} if kept is None else {"module_kept_var_idx": tuple(kept)}
    if len(platforms) > 1:
        changes["platforms"] = tuple(platforms)
    return dataclasses.replace(exported, **changes).call


def artifact_exported(
    artifact: bytes, arguments: Sequence[TensorSpec], results: Sequence[TensorSpec]
) -> Any:
    """The `Exported` of a function from `arguments` to `results` with `artifact` as its body."""
    jax: Any = import_module("jax")

    def same_types(*_: Any) -> list[Any]:
        return [jax.numpy.zeros(spec.shape, spec.dtype) for spec in results]

    given = [jax.ShapeDtypeStruct(spec.shape, spec.dtype) for spec in arguments]
    return exported_with(jax.jit(same_types), given, artifact)


def exported_with(jitted: Any, given: Sequence[Any], artifact: bytes) -> Any:
    """The `Exported` of `jitted` on arrays of the types `given`, with `artifact` as its body.

    `main` of the artifact takes every argument, and may run on any platform.
    """
    export: Any = import_module("jax.export")
    checks = [export.DisabledSafetyCheck.platform()]
    return dataclasses.replace(
        export.export(jitted, platforms=["cpu"], disabled_checks=checks)(*given),
        mlir_module_serialized=artifact,
        module_kept_var_idx=tuple(range(len(given))),
    )
