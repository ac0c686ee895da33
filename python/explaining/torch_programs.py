"""PyTorch programs, explained: the paths of modules, and what FP8 would be of what is not."""

from typing import cast

from torch_mlir import ir

from mlir_fp8.compiling.argument_names import NAME
from mlir_fp8.compiling.entry import functions


def is_of_torch(module: ir.Module) -> bool:
    """Whether `mlir_fp8.torch.export` made it: its results are named."""
    return any(
        NAME in ir.DictAttr(each)
        for function in functions(module)
        if "res_attrs" in function.attributes
        for each in ir.ArrayAttr(function.attributes["res_attrs"])
    )


def module_path(location: ir.Location) -> str:
    """The path of the module that an op is of: `layers.0.self_attn.q_proj`; empty for none."""
    if isinstance(location, ir.NameLoc):
        return location.name_str
    if isinstance(location, ir.CallSiteLoc):
        return module_path(location.callee) or module_path(location.caller)
    if isinstance(location, ir.FusedLoc):
        inner = cast("list[ir.Location]", location.locations)
        return next(filter(None, map(module_path, inner)), "")
    return ""


def quantized_copy(module: ir.Module) -> ir.Module:
    """A copy in which products are scaled FP8; raises `Fp8Error` where that cannot be."""
    from mlir_fp8.quantization import quantize

    return quantize(module, "current").module
