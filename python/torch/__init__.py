"""PyTorch programs as modules of this project, and the backend `mlir_fp8` of `torch.compile`.

Importing this package does not import PyTorch; `pip install 'mlir-fp8[torch]'` brings it.
"""

import importlib
from typing import TYPE_CHECKING, Any

from mlir_fp8.base.fork_lock import LOADING

if TYPE_CHECKING:
    from mlir_fp8.torch.dynamo.backend import mlir_fp8 as backend
    from mlir_fp8.torch.export import export as export
    from mlir_fp8.torch.torch_module import TorchModule as TorchModule
    from mlir_fp8.torch.torchao import torchao_on_cpu as torchao_on_cpu

_HOMES = {
    "TorchModule": ("torch_module", "TorchModule"),
    "backend": ("dynamo.backend", "mlir_fp8"),
    "export": ("export", "export"),
    "torchao_on_cpu": ("torchao", "torchao_on_cpu"),
}

__all__ = ["TorchModule", "backend", "export", "torchao_on_cpu"]


def __dir__() -> list[str]:
    """With the names that nobody has asked for yet."""
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        home, own = _HOMES.get(name, ("", ""))
        if not home:
            raise AttributeError(f"module 'mlir_fp8.torch' has no attribute '{name}'")
        from mlir_fp8.torch.installed import check_torch

        check_torch()
        with LOADING:
            value = getattr(importlib.import_module(f"mlir_fp8.torch.{home}"), own)
        globals()[name] = value
        return value
