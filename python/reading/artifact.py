"""`mlir_fp8.deserialize`: the module in a portable artifact, or in what `jax.export` writes."""

from torch_mlir import ir

from mlir_fp8.artifacts.portable import artifact_version, read
from mlir_fp8.artifacts.targets import oldest_version
from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect_for
from mlir_fp8.dialects.stablehlo_versions import version_key
from mlir_fp8.failures.internal_error import public
from mlir_fp8.reading.exported import is_exported, read_exported, take_all_arguments
from mlir_fp8.reading.shardy import needs_shardy, shardings_in_stablehlo


@public
def deserialize(
    data: bytes | bytearray | memoryview,
    *,
    context: ir.Context | None = None,
    raise_emulation: bool = False,
    name: str = "artifact",
) -> ir.Module:
    """The StableHLO module in a portable artifact; `name` stands for the file in errors.

    With `raise_emulation`, small floats that travel as ui8 (`serialize(..., emulate=True)`) get
    their types back. What `jax.export.Exported.serialize()` writes is read too: `main` then takes
    every argument of the exported function, those that JAX dropped as well.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise Fp8Error(f"{name} is {type(data).__name__}, not bytes")
    data = bytes(data)
    if not data.strip():
        raise Fp8Error(f"{name}: the file is empty")
    if is_exported(data):
        exported = read_exported(data, name)
        module = deserialize(
            exported.artifact, context=context, raise_emulation=raise_emulation, name=name
        )
        take_all_arguments(module, exported, name)
        return module
    version = artifact_version(data)
    if version is None:
        raise Fp8Error(f"{name}: not a StableHLO portable artifact")
    if version_key(version) < version_key(oldest_version()):
        raise Fp8Error(
            f"{name}: written for StableHLO {version}, older than {oldest_version()}, the oldest "
            "that is read"
        )

    context = context or make_context()
    load_fp8_dialect_for(data, context)
    try:
        module = read(data, context, name)
    except Fp8Error as error:
        if not needs_shardy(error):
            raise
        plain = shardings_in_stablehlo(data, name)
        return deserialize(plain, context=context, raise_emulation=raise_emulation, name=name)
    if raise_emulation:
        from mlir_fp8.serialization.emulation import restore_small_floats

        restore_small_floats(module, name=name)
    return module
