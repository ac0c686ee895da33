"""An FX graph of aten ops as a StableHLO module, by torch-mlir's importer and lowering."""

import contextlib
import re

from torch.fx import GraphModule
from torch_mlir import ir, passmanager

from mlir_fp8.context import format_location, make_context
from mlir_fp8.errors import Fp8Error
from mlir_fp8.torch.functions import define
from mlir_fp8.torch.node_importer import Importer

_PIPELINES = (
    "builtin.module(func.func(torch-match-quantized-custom-ops),"
    "torchdynamo-export-to-torch-backend-pipeline{backend-legal-ops= extra-library=})",
    "builtin.module(torch-backend-to-stablehlo-backend-pipeline{allow-non-finites=true})",
)
_OP = re.compile(r"'torch\.(?:aten|prims?|operator)[\w.]*'|torch\.\w+\.[\w.]+|\"(?:aten|\w+)\.[\w.]+\"")


def stablehlo_of(graph: GraphModule) -> ir.Module:
    """The module whose function `main` is `graph`; all of the graph's placeholders are arguments.

    Raises `Fp8Error` with the op and the line of what cannot be lowered; nothing is printed.
    """
    context = make_context()
    importer = Importer(context)
    importer.import_graph_module(graph)
    module = importer.module
    for pipeline in _PIPELINES:
        _run(pipeline, module)
    define(module, importer.functions)
    return module


def _run(pipeline: str, module: ir.Module) -> None:
    context = module.context
    found: list[str] = []

    def collect(diagnostic: ir.Diagnostic) -> bool:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            found.append(f"{_place(diagnostic.location)}{_reason(diagnostic.message)}")
        return True

    handler = context.attach_diagnostic_handler(collect)
    emits, context.emit_error_diagnostics = context.emit_error_diagnostics, True
    try:
        with context:
            manager = passmanager.PassManager.parse(pipeline)
            with contextlib.suppress(ir.MLIRError):
                manager.run(module.operation)
                if not found:
                    return
    finally:
        context.emit_error_diagnostics = emits
        handler.detach()  # pyright: ignore[reportAttributeAccessIssue]
    raise Fp8Error(found[0] if found else "torch-mlir cannot lower the program to StableHLO")


def _place(location: ir.Location) -> str:
    place = format_location(location)
    return "" if place in ("unknown", "") else f"{place}: "


def _reason(message: str) -> str:
    print("DIAG", message[:600])
    return message
