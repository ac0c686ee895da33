"""The devices of a sharded module as a mesh of JAX, and where its arguments lie on it."""

import contextlib
import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations
from mlir_fp8.base.shardings import Mesh, Shardy, frontend_attributes, read_sharding
from mlir_fp8.base.shardings import mesh_of as known_mesh
from mlir_fp8.xla.devices import imported_jax
from mlir_fp8.xla.mesh_option import parse_mesh

_MESH = re.compile(r"#?(?:sdy\.)?mesh<\[[^\]]*\](?:, device_ids=\[[^\]]*\])?>")


def check_mesh(mesh: Any) -> Any:
    """`mesh=` of `mlir_fp8.compile`: sizes of axes, a number of devices, or JAX's `Mesh`."""
    if isinstance(mesh, str):
        return parse_mesh(mesh)
    if isinstance(mesh, Mapping):
        sizes = dict(mesh)
    elif isinstance(mesh, int) and not isinstance(mesh, bool):
        sizes = {"devices": mesh}
    elif hasattr(mesh, "devices") and hasattr(mesh, "axis_names"):
        return mesh
    else:
        sizes = {}
    is_sound = sizes and all(
        isinstance(name, str) and isinstance(size, int) and not isinstance(size, bool) and size > 0
        for name, size in sizes.items()
    )
    if not is_sound:
        way_out = "give sizes of axes, as in {'x': 2, 'y': 4}, a number, or a jax.sharding.Mesh"
        raise Fp8Error(f"mesh is {mesh!r}: {way_out}")
    return mesh if isinstance(mesh, int) else sizes


def mesh_of(module: ir.Module, mesh: Any, platform: str) -> Any:
    """JAX's mesh: `mesh` itself, or of its axes; of the module's own, where it has one.

    An `Fp8Error` where both are there and differ, or JAX has not as many devices.
    """
    own = _own_mesh(module)
    if hasattr(mesh, "axis_names"):
        _check_same(own, dict(zip(mesh.axis_names, mesh.devices.shape, strict=True)))
        return mesh
    axes = own.axes if own is not None else None
    if isinstance(mesh, int):
        if axes is not None and math.prod(axes.values()) != mesh:
            raise Fp8Error(
                f"{mesh} devices are asked for, and the module's mesh is {_spelled(axes)}"
            )
        axes = axes or {"devices": mesh}
    else:
        _check_same(own, mesh)
        axes = dict(mesh)
    jax = imported_jax()
    count = math.prod(axes.values())
    devices = cpu_devices(count) if platform == "cpu" else jax.devices(platform)
    if len(devices) < count:
        raise Fp8Error(f"{count} devices are asked for, and jax has {len(devices)} of {platform}")
    listed = np.array(devices[:count]).reshape(tuple(axes.values()))
    kinds = (jax.sharding.AxisType.Auto,) * len(axes)
    return jax.sharding.Mesh(listed, tuple(axes), axis_types=kinds)


def cpu_devices(count: int) -> "Sequence[Any]":
    """JAX's devices of the CPU: `count` of them, where JAX has not started yet."""
    jax = imported_jax()
    if "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):
        with contextlib.suppress(RuntimeError):  # it has started
            jax.config.update("jax_num_cpu_devices", count)
    devices = jax.devices("cpu")
    if len(devices) < count:
        way_out = "set XLA_FLAGS=--xla_force_host_platform_device_count before JAX starts"
        raise Fp8Error(
            f"{count} devices are asked for, and jax has {len(devices)} of cpu: {way_out}"
        )
    return devices


def argument_specs(function: ir.Operation, mesh: Any) -> list[Any]:
    """A `PartitionSpec` for each argument: as the function says, whole where it says nothing."""
    jax = imported_jax()
    listed = (
        list(ir.ArrayAttr(function.attributes["arg_attrs"]))
        if "arg_attrs" in function.attributes
        else []
    )
    count = len(ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs)
    if not listed:
        return [jax.sharding.PartitionSpec()] * count
    return [_spec(read_sharding(ir.DictAttr(each)), mesh) for each in listed]


def _spec(sharding: Any, mesh: Any) -> Any:
    jax = imported_jax()
    if not isinstance(sharding, Shardy):
        return jax.sharding.PartitionSpec()
    dims = [re.findall(r'"([^"]+)"', dim) for dim in sharding.dims]
    names = [name for dim in dims for name in dim]
    # Parts of axes have no form there; XLA moves what is whole to where the module wants it.
    if '":(' in str(sharding) or set(names) - set(mesh.axis_names):
        return jax.sharding.PartitionSpec()
    return jax.sharding.PartitionSpec(*(tuple(dim) or None for dim in dims))


def _own_mesh(module: ir.Module) -> Mesh | None:
    """The module's first mesh of more than one device."""
    for op in operations(module.operation):
        for text in frontend_attributes(op.attributes).values():
            for listed in _MESH.findall(text):
                found = known_mesh(module.operation, listed)
                if found is not None and len(found.devices) > 1:
                    return found
    return None


def _check_same(own: Mesh | None, given: Mapping[str, int]) -> None:
    if own is not None and list(own.axes.items()) != list(given.items()):
        raise Fp8Error(f"mesh is {_spelled(given)}, and the module's is {_spelled(own.axes)}")


def _spelled(axes: Mapping[str, int]) -> str:
    return ",".join(f"{name}={size}" for name, size in axes.items())
