"""MLIR types of PyTorch's dtypes, of those too that torch-mlir's importer has none for."""

import torch
from torch_mlir.extras.fx_importer import TORCH_DTYPE_TO_MLIR_TYPE_ASM

ELEMENT_TYPES: dict[torch.dtype, str] = {
    **TORCH_DTYPE_TO_MLIR_TYPE_ASM,
    torch.uint16: "ui16",
    torch.uint64: "ui64",
    # Bytes of two codes each: torch counts elements so, and moves whole ones.
    **({torch.float4_e2m1fn_x2: "ui8"} if hasattr(torch, "float4_e2m1fn_x2") else {}),
}
