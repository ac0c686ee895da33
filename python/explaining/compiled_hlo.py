"""The optimized HLO of a module, by XLA on the GPU that there is."""

import os
from typing import Any

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.serialization.serialize import serialize

_WAY_OUT = "run it where one is, or give what XLA dumped there (--xla_dump_to) by --hlo=FILE"


def compiled_hlo(module: ir.Module, name: str) -> str:
    """What XLA:GPU makes of `module`, as HLO text.

    Raises `Fp8Error` where there is no GPU, no JAX with CUDA, or XLA refuses the module.
    """
    try:
        import jax  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise Fp8Error(f"--optimized compiles by jax, which is not installed: {_WAY_OUT}") from None
    before = os.environ.get("TF_CPP_MIN_LOG_LEVEL")
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    try:
        device = jax.devices("gpu")[0]
    except RuntimeError:
        raise Fp8Error(
            f"--optimized compiles by XLA:GPU, and jax sees no GPU: {_WAY_OUT}"
        ) from None
    finally:
        if before is None:
            del os.environ["TF_CPP_MIN_LOG_LEVEL"]
        else:
            os.environ["TF_CPP_MIN_LOG_LEVEL"] = before
    return _compiled(serialize(module), device, name)


def _compiled(artifact: bytes, device: Any, name: str) -> str:
    from jax._src import compiler  # pyright: ignore[reportMissingImports]
    from jax._src.interpreters import mlir  # pyright: ignore[reportMissingImports]
    from jax._src.lib import xla_client  # pyright: ignore[reportMissingImports]
    from jaxlib.mlir.dialects import stablehlo  # pyright: ignore[reportMissingImports]

    try:
        with mlir.make_ir_context() as context:
            module: Any = stablehlo.deserialize_portable_artifact(context, artifact)
            options: Any = compiler.get_compile_options(num_replicas=1, num_partitions=1)
            devices: Any = xla_client.DeviceList((device,))
            executable: Any = device.client.compile_and_load(module, devices, options)
        return executable.hlo_modules()[0].to_string()
    except Exception as error:  # whatever XLA raises
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise Fp8Error(f"{name}: XLA:GPU does not compile it: {reason[0]}") from None
