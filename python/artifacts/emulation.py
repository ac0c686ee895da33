"""Modules for consumers older than their small floats, and back: both passes on whole modules."""

import io

from torch_mlir import ir

from mlir_fp8.artifacts.dense_resources import make_dense
from mlir_fp8.context import make_context
from mlir_fp8.passes.pass_pipeline import run_pipeline


def emulated_copy(module: ir.Module | ir.Operation, version: str, *, name: str) -> ir.Module:
    """A copy, in a context of its own, in which StableHLO `version` knows all small floats.

    Newer ones travel as ui8; see `stablehlo-emulate-small-floats`. `name` is for errors.
    """
    bytecode = io.BytesIO()
    module.operation.write_bytecode(bytecode)
    foreign = module.operation.context.allow_unregistered_dialects
    context = make_context(allow_unregistered_dialects=foreign)
    copy = ir.Module.parse(bytecode.getvalue(), context)
    make_dense(copy.operation, name)
    run_pipeline(copy, [f"stablehlo-emulate-small-floats{{target={version}}}"], name=name)
    return copy


def restore_small_floats(module: ir.Module, *, name: str) -> None:
    """Give emulated small floats their types back, in place; `name` is for errors."""
    run_pipeline(module, ["stablehlo-raise-emulation"], name=name)
