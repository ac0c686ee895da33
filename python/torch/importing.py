"""An FX graph of aten ops as a StableHLO module, by torch-mlir's importer and lowering.

Both run in a forked child, whose answer is bytecode: torch-mlir crashes on some ops, and may loop.
"""

import contextlib
import io
from collections.abc import Callable

from torch.fx import GraphModule
from torch_mlir import ir, passmanager

from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import CrashError, call_isolated
from mlir_fp8.torch.constants import fold_constants
from mlir_fp8.torch.functions import define
from mlir_fp8.torch.graphs import type_numbers
from mlir_fp8.torch.indices import count_from_start
from mlir_fp8.torch.node_importer import Importer
from mlir_fp8.torch.refusals import (
    Told,
    UnnamedError,
    crash_error,
    lowering_error,
    named_error,
    refuse,
    refuse_left,
)

_TO_BACKEND = (
    "builtin.module(func.func(torch-match-quantized-custom-ops),"
    "torchdynamo-export-to-torch-backend-pipeline{backend-legal-ops= extra-library=})"
)
# torch-mlir's own pipeline, but for its last check, which refuses calls.
_TO_STABLEHLO = (
    "builtin.module(func.func(convert-torch-to-stablehlo{allow-non-finites=true},"
    "chlo-legalize-to-stablehlo,convert-torch-to-arith,canonicalize,cse),torch-func-backend-type-conversion-for-stablehlo,"
    "func.func(canonicalize,torch-finalizing-backend-type-conversion-for-stablehlo))"
)
_TO_STATIC = (
    "builtin.module(func.func(stablehlo-legalize-deprecated-ops{fail-on-unused=false},"
    "stablehlo-canonicalize-dynamism,canonicalize,cse),"
    "stablehlo-refine-shapes)"
)

_TO_SHORT = "builtin.module(canonicalize,cse)"


_FAILED, _UNNAMED = b"\0", b"\1"


def stablehlo_of(graph: GraphModule, meanwhile: Callable[[], object] | None = None) -> ir.Module:
    """The module whose function `main` is `graph`; all of the graph's placeholders are arguments.

    While torch-mlir is at work `meanwhile` is called. Raises `Fp8Error` with the op and the line of
    what cannot be lowered; nothing is printed.
    """
    type_numbers(graph)
    count_from_start(graph)
    refuse(graph)
    try:
        bytecode = lowered(graph, meanwhile)
    except CrashError as error:
        raise crash_error(graph, error, lowered) from None
    except UnnamedError as error:
        raise named_error(graph, error, lowered) from None
    return ir.Module.parse(bytecode, make_context())


def lowered(graph: GraphModule, meanwhile: Callable[[], object] | None = None) -> bytes:
    """The module of `graph` as bytecode; a `CrashError` where torch-mlir crashes or hangs."""

    def work() -> bytes:
        try:
            module = _lower(graph)
        except UnnamedError as error:
            return _UNNAMED + str(error).encode(errors="replace")
        except (Fp8Error, MemoryError):
            raise
        except Exception as error:  # no refusal: the parent is to raise it
            return _FAILED + f"{type(error).__name__}: {error}".encode(errors="replace")
        stream = io.BytesIO()
        module.operation.write_bytecode(stream)
        return stream.getvalue()

    answer = call_isolated(work, seconds=_patience(graph), meanwhile=meanwhile)
    if answer.startswith(_FAILED):
        raise RuntimeError(answer.removeprefix(_FAILED).decode())
    if answer.startswith(_UNNAMED):
        raise UnnamedError(answer.removeprefix(_UNNAMED).decode())
    return answer


def _patience(graph: GraphModule) -> float:
    """Seconds that lowering may take: a hundred times what it takes for programs that are sound."""
    return 60 + 0.2 * len(graph.graph.nodes)


def _lower(graph: GraphModule) -> ir.Module:
    importer = Importer(make_context())
    try:
        importer.import_graph_module(graph)
    except ValueError as error:
        told = str(error)
        if not told.startswith("aten."):
            raise
        raise UnnamedError(f"'{told.replace('.default ', chr(39) + ' ', 1)}") from error
    module = importer.module
    _run(_TO_BACKEND, module)
    _run(_TO_STABLEHLO, module)
    define(module, importer.functions)
    module.operation.walk(_compare_unsigned)
    refuse_left(module)
    _run(_TO_STATIC, module)
    fold_constants(module)
    _run(_TO_SHORT, module)
    return module


def _run(pipeline: str, module: ir.Module) -> None:
    context = module.context
    errors: list[Told] = []

    def collect(diagnostic: ir.Diagnostic) -> bool:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            errors.append(Told(diagnostic.message, diagnostic.location))
        return True

    handler = context.attach_diagnostic_handler(collect)
    emits, context.emit_error_diagnostics = context.emit_error_diagnostics, True
    try:
        with context, contextlib.suppress(ir.MLIRError):
            passmanager.PassManager.parse(pipeline).run(module.operation)
            if not errors:
                return
    finally:
        context.emit_error_diagnostics = emits
        handler.detach()  # pyright: ignore[reportAttributeAccessIssue]
    raise lowering_error(module, errors)


def _compare_unsigned(op: ir.Operation) -> ir.WalkResult:
    """torch-mlir compares booleans and unsigned integers as if they were signed."""
    if op.name == "stablehlo.compare":
        element = str(ir.RankedTensorType(op.operands[0].type).element_type)
        if element == "i1" or element.startswith("ui"):
            kind = ir.Attribute.parse("#stablehlo<comparison_type UNSIGNED>", op.context)
            op.attributes["compare_type"] = kind
    return ir.WalkResult.ADVANCE
