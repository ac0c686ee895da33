"""`compile(backend="xla", mesh=...)`: a module compiled by XLA for several devices."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.context import make_context, op_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations
from mlir_fp8.compiling.entry import entry_function, signature
from mlir_fp8.lowering.rewriting.collectives import has_channel
from mlir_fp8.reading.loader import parse
from mlir_fp8.simulation.grid import OF_DEVICES, is_for_each, of_devices
from mlir_fp8.xla.exported import artifact_exported
from mlir_fp8.xla.failures import one_line
from mlir_fp8.xla.making import made_artifact
from mlir_fp8.xla.meshes import argument_specs, check_mesh, mesh_of
from mlir_fp8.xla.options import XlaOptions
from mlir_fp8.xla.sharded_module import ShardedModule

_DEVICE = "device"


def compile_sharded(
    source: ir.Module | tuple[bytes, str],
    options: XlaOptions,
    mesh: Any,
    shapes: Sequence[Any] | None = None,
) -> ShardedModule:
    """`source` for the devices of `mesh`; raises `Fp8Error` where it is for others, or refused."""
    mesh = check_mesh(mesh)
    module = source if isinstance(source, ir.Module) else parse(*source, make_context())
    if options.donate:
        raise Fp8Error("donate goes without mesh")
    with module.context:
        function = entry_function(module, options.entry)
        takes, gives = signature(function)
    found = mesh_of(module, mesh, options.device.partition(":")[0])
    count = found.devices.size
    _check_count(module, count)
    artifact = made_artifact(module, options, shapes)
    if is_for_each(module):
        _check_partitions(module)
        return _of_each(module, artifact, options, _one_axis(found), takes, gives)
    specs = argument_specs(function, found)
    return _of_all(artifact, options, found, takes, gives, specs)


def _of_all(
    artifact: bytes,
    options: XlaOptions,
    mesh: Any,
    takes: Sequence[TensorSpec],
    gives: Sequence[TensorSpec],
    specs: Sequence[Any],
) -> ShardedModule:
    """A program of all devices, which XLA partitions."""
    import jax  # pyright: ignore[reportMissingImports]

    shardings = [jax.sharding.NamedSharding(mesh, spec) for spec in specs]
    # Without arguments, nothing else says where it runs.
    out = None if shardings else jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    with jax.enable_x64(True):
        exported = dataclasses.replace(
            artifact_exported(artifact, takes, gives), nr_devices=mesh.devices.size
        )
    return _compiled(exported.call, options, mesh, takes, gives, shardings, out)


def _of_each(
    module: ir.Module,
    artifact: bytes,
    options: XlaOptions,
    mesh: Any,
    takes: Sequence[TensorSpec],
    gives: Sequence[TensorSpec],
) -> ShardedModule:
    """The program of each device, with a dimension of devices first."""
    import jax  # pyright: ignore[reportMissingImports]

    with jax.enable_x64(True):
        exported = artifact_exported(artifact, takes, gives)

    def on_each(*parts: Any) -> list[Any]:
        return [each[None] for each in exported.call(*(part[0] for part in parts))]

    spec = jax.sharding.PartitionSpec(_DEVICE)
    call = jax.shard_map(
        on_each, mesh=mesh, in_specs=(spec,) * len(takes), out_specs=spec, check_vma=False
    )
    stacked = of_devices(module, mesh.devices.size, takes, gives)
    sharding = jax.sharding.NamedSharding(mesh, spec)
    return _compiled(call, options, mesh, stacked[0], stacked[1], [sharding] * len(takes), sharding)


def _compiled(
    call: Any,
    options: XlaOptions,
    mesh: Any,
    takes: Sequence[TensorSpec],
    gives: Sequence[TensorSpec],
    shardings: Sequence[Any],
    out: Any,
) -> ShardedModule:
    import jax  # pyright: ignore[reportMissingImports]

    with jax.enable_x64(True), one_line("XLA", f"{mesh.devices.size} devices"):
        jitted = jax.jit(
            call,
            in_shardings=tuple(shardings),
            out_shardings=out,
            compiler_options={"xla_allow_excess_precision": options.allow_excess_precision},
        )
        given = [jax.ShapeDtypeStruct(spec.shape, spec.dtype) for spec in takes]
        compiled = jitted.lower(*given).compile()
    return ShardedModule(
        jitted, lambda: compiled.as_text() or "", mesh, options.entry, takes, gives, shardings
    )


def _one_axis(mesh: Any) -> Any:
    import jax  # pyright: ignore[reportMissingImports]

    kinds = (jax.sharding.AxisType.Auto,)
    return jax.sharding.Mesh(mesh.devices.ravel(), (_DEVICE,), axis_types=kinds)


def _check_count(module: ir.Module, count: int) -> None:
    attributes = module.operation.attributes
    numbers = [
        ir.IntegerAttr(attributes[name]).value
        for name in ("mhlo.num_replicas", "mhlo.num_partitions")
        if name in attributes
    ]
    said = math.prod(numbers)
    if said > 1 and said != count:
        raise Fp8Error(f"{count} devices are asked for, and the module is for {said}")


def _check_partitions(module: ir.Module) -> None:
    """Devices are partitions for XLA here: what is among replicas would be something else."""
    for op in operations(module.operation):
        is_of_replicas = op.name in OF_DEVICES and not has_channel(op)
        if is_of_replicas and op.name != "stablehlo.partition_id":
            raise op_error(op, "is among replicas, and XLA's devices here are partitions: give it "
                               "a channel_handle, and use_global_device_ids")  # fmt: skip
