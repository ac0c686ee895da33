"""The module of a traced function, through our passes, and as an artifact for JAX again."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8 import pipelines
from mlir_fp8.artifacts.mhlo import bridge_version, for_compiler
from mlir_fp8.base.context import format_location, make_context
from mlir_fp8.base.operations import operations
from mlir_fp8.compiling.entry import copy_of
from mlir_fp8.jax.options import Passes
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.quantization import quantize
from mlir_fp8.reading.loader import parse
from mlir_fp8.serialization.serialize import serialize


@dataclass(frozen=True)
class Program:
    """What became of a function."""

    name: str
    module: ir.Module
    """With ops of the `fp8` dialect where it was quantized, for `explain`."""
    artifact: bytes
    """Plain StableHLO that the installed jaxlib reads."""
    state: dict[str, np.ndarray]
    """Of before the first step, in the order in which `main` takes it behind its own arguments."""
    of_cuda: str
    """A call in it that NVIDIA's GPUs alone have, and where; empty without one."""


def program_of(artifact: bytes, name: str, passes: Passes) -> Program:
    """The module in `artifact` as `passes` say; `name` stands for it in errors."""
    module = parse(for_compiler(artifact, name), name, make_context())
    state: dict[str, np.ndarray] = {}
    if passes.recipe is not None:
        options: dict[str, Any] = dict(passes.options)
        if passes.target is not None:
            options["target"] = passes.target
        quantized = quantize(module, passes.recipe, **options)
        module, state = quantized.module, quantized.state
    elif passes.target is not None:
        run_pipeline(module, _FOR_TARGET[passes.target], name=name)
    lowered = copy_of(module)
    run_pipeline(lowered, pipelines.to_stablehlo_of_artifacts(), name=name)
    artifact = serialize(lowered, bridge_version(), name=name)
    return Program(name, module, artifact, state, _of_cuda(lowered))


_CUDA_CALLS = ("__gpu$", "__cu", "cu")
"""Kernels of ours, and cuBLAS, cuDNN, cuSOLVER and JAX's own by their names' beginnings."""


def _of_cuda(module: ir.Module) -> str:
    for op in operations(module.operation, "stablehlo.custom_call"):
        target = ir.StringAttr(op.attributes["call_target_name"]).value
        if target.startswith(_CUDA_CALLS):
            return f"stablehlo.custom_call @{target} at {format_location(op.location)}"
    return ""


_FOR_TARGET = {
    "xla-gpu": [
        "fp8-fuse-scaled-dot",
        "fp8-canonicalize-for-xla-gpu{allow-reassociation=true allow-excess-precision=true}",
    ]
}
"""For programs whose dots are FP8 already."""
