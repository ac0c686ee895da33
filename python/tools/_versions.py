"""`--version` of every tool: a file of its own, as it needs no passes."""

import importlib.metadata

from torch_mlir._mlir_libs import _stablehlo


def version_text() -> str:
    """The versions of this project and of what its numbers depend on."""
    versions = {name: importlib.metadata.version(name) for name in ("mlir-fp8", "torch-mlir")}
    return (
        f"mlir-fp8 {versions['mlir-fp8']}\n"
        f"torch-mlir {versions['torch-mlir']}\n"
        f"StableHLO {_stablehlo.get_current_version()}\n"
    )
