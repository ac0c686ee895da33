"""What `fp8-opt` does with one chunk of its input: parse, run the passes, print."""

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from mlir_fp8.artifacts.portable import BYTECODE_MAGIC
from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.failures.trace import step
from mlir_fp8.passes.pass_manager import build_pass_manager, own_names
from mlir_fp8.passes.pass_pipeline import run_passes
from mlir_fp8.passes.pipeline_refusal import UnknownPassError, did_you_mean
from mlir_fp8.passes.registered_names import PASSES
from mlir_fp8.reading.loader import parse
from mlir_fp8.tools._command import print_to_stderr
from mlir_fp8.tools._diagnostics import Report, error_report, listening, print_report
from mlir_fp8.tools._expected_diagnostics import ExpectedDiagnostics
from mlir_fp8.tools._native_stderr import shown_at_once
from mlir_fp8.tools._opt_options import FLAGS, Options


@dataclass(frozen=True)
class ChunkResult:
    """`output` is empty where the chunk failed; with expected failures that is still good."""

    is_good: bool
    output: bytes


def process(data: bytes, file: str, options: Options) -> ChunkResult:
    """Run the pipeline on one chunk in a context of its own; diagnostics are printed or checked."""
    context = make_context(allow_unregistered_dialects=options.allow_unregistered_dialect)
    manager = _pass_manager(options, context)
    if options.verify_diagnostics is None:
        output = _transform(data, file, options, manager, context, print_report)
        return ChunkResult(output is not None, output or b"")
    expected = ExpectedDiagnostics(
        data.decode(errors="replace"),
        file,
        print_report,
        only_expected=options.verify_diagnostics == "only-expected",
    )
    output = _transform(data, file, options, manager, context, expected.hear)
    return ChunkResult(expected.all_met(), output or b"")


def _pass_manager(options: Options, context: ir.Context) -> PassManager:
    pipeline = options.passes if options.pass_pipeline is None else options.pass_pipeline
    try:
        manager = build_pass_manager(pipeline, context)
    except UnknownPassError as error:
        if options.pass_pipeline is not None:
            raise
        known = [f"--{name}" for name in (*FLAGS, *own_names(), *PASSES)]
        flag = f"--{error.name}"
        raise Fp8Error(f"unknown flag or pass '{flag}'{did_you_mean(flag, known)}") from None
    if options.prints_ir:
        manager.enable_ir_printing(
            print_before_all=options.mlir_print_ir_before_all,
            print_after_all=options.prints_ir_after,
            print_module_scope=options.mlir_print_ir_module_scope,
            print_after_change=options.mlir_print_ir_after_change,
            print_after_failure=options.mlir_print_ir_after_failure,
            large_elements_limit=options.mlir_elide_elementsattrs_if_larger,
            enable_debug_info=options.mlir_print_debuginfo,
            print_generic_op_form=options.mlir_print_op_generic,
        )
    if options.mlir_timing:
        manager.enable_timing()
    if options.dump_pass_pipeline:
        print_to_stderr(str(manager))
    return manager


def _transform(
    data: bytes,
    file: str,
    options: Options,
    manager: PassManager,
    context: ir.Context,
    hear: Callable[[Report], None],
) -> bytes | None:
    """The chunk's output; None after an error, which `hear` was told."""
    errors = 0

    def count_and_hear(report: Report) -> None:
        nonlocal errors
        errors += report.severity == "error"
        hear(report)

    with listening(context, file, count_and_hear):
        try:
            module = parse(data, file, context, keep_mhlo=True)
        except Fp8Error as error:
            for report in _parse_reports(data, file, context, error_report(error)):
                hear(report)
            return None
        # From here on MLIR's errors come as diagnostics, in order with its warnings.
        context.emit_error_diagnostics = True
        try:
            with shown_at_once(options.mlir_timing or options.prints_ir):
                run_passes(manager, module.operation, verify_each=options.verify_each)
        except ir.MLIRError:
            if errors == 0:
                how = "--mlir-print-ir-after-failure shows the pass and its input"
                hear(Report("error", None, f"a pass failed without a reason; {how}"))
            return None
    with step("printing"):
        return _output(module, options)


def _parse_reports(data: bytes, file: str, context: ir.Context, first: Report) -> list[Report]:
    """All that MLIR says of text that it cannot parse, notes included; just `first` for the rest.

    Loading reports one error. Where that is MLIR's own, parsing once more gives what goes with it.
    """
    if data.startswith(BYTECODE_MAGIC) or first.place is None:
        return [first]
    heard: list[Report] = []
    context.emit_error_diagnostics = True
    with listening(context, file, heard.append), contextlib.suppress(ir.MLIRError):
        ir.Module.parse(data, context)
    is_same = heard and heard[0].place == first.place and first.message in heard[0].message
    return heard if is_same else [first]


def _output(module: ir.Module, options: Options) -> bytes:
    if options.emit_bytecode:
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()
    text = module.operation.get_asm(
        binary=True,
        large_elements_limit=options.mlir_elide_elementsattrs_if_larger,
        enable_debug_info=options.mlir_print_debuginfo,
        print_generic_op_form=options.mlir_print_op_generic,
        use_local_scope=options.mlir_print_local_scope,
        # Without verification between passes, an invalid module must still print.
        assume_verified=options.verify_each,
    )
    return cast(bytes, text).rstrip() + b"\n"
