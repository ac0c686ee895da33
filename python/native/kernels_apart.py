"""Kernels in a module of their own, which is compiled while passes still work on their callers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.context import make_context, mlir_error, symbol_name
from mlir_fp8.lowering.kernels.functions import APART, kernels_apart
from mlir_fp8.native.module_parts import Part, declared
from mlir_fp8.passes.unlocked import run_unlocked

_SHOWN = re.compile(r"^func\.func @([\w.]+)\(", re.MULTILINE)


@dataclass(frozen=True)
class Kernels:
    """Kernels that were taken out of a module."""

    text: str
    called: tuple[str, ...]
    """Those that what was left calls."""


def take_kernels(module: ir.Module) -> Kernels | None:
    """The kernels that `module` only declares, which it is without from then on."""
    text = kernels_apart(module.operation)
    if not text:
        return None
    del module.operation.attributes[APART]
    return Kernels(text, tuple(_SHOWN.findall(text)))


def lowered(kernels: Kernels, passes: Sequence[str]) -> Part:
    """The kernels in the LLVM dialect, by the pipeline `passes`, in a context of their own."""
    context = make_context()
    try:
        module = ir.Module.parse(kernels.text, context)
    except ir.MLIRError as error:
        raise mlir_error(error, "<kernels>") from None
    run_unlocked(module, passes)
    external = ir.Attribute.parse("#llvm.linkage<external>", context)
    for op in module.body:
        if symbol_name(op) in kernels.called:
            op.operation.attributes["linkage"] = external
    return Part(module, kernels.called[0], declared(module))
