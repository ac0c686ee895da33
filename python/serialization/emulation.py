"""Emulation of small floats for older consumers, and its inverse: both passes on whole modules."""

from torch_mlir import ir

from mlir_fp8.artifacts.dense_resources import dense_copy
from mlir_fp8.artifacts.fit import Fit
from mlir_fp8.artifacts.versions import survey
from mlir_fp8.base.context import make_context
from mlir_fp8.lowering.arithmetic._emulation import formats_newer_than
from mlir_fp8.passes.pass_pipeline import run_pipeline


def emulated_copy(module: ir.Module | ir.Operation, version: str, *, name: str) -> ir.Module:
    """A copy, in a context of its own, in which StableHLO `version` knows all small floats.

    Newer ones travel as ui8; see `stablehlo-emulate-small-floats`. `name` is for errors.
    """
    foreign = module.operation.context.allow_unregistered_dialects
    copy = dense_copy(module, make_context(allow_unregistered_dialects=foreign), name)
    passes = [f"stablehlo-emulate-small-floats{{target={version}}}"]
    if Fit(survey(copy.operation, name), name, True, lambda _: None).has_older_form(version):
        passes = [*_older_forms(version), *passes]
    run_pipeline(copy, passes, name=name)
    return copy


def _older_forms(version: str) -> list[str]:
    """The passes that give ops newer than `version` their older forms, as the writer would.

    Before emulation, for what they make has no marks; but after arithmetic is in f32, for the
    older form of one op is several, each of which would round.
    """
    limit = ",".join(formats_newer_than(version))
    wide = [f"accumulate-in-f32{{formats={limit}}}", f"float-normalization{{formats={limit}}}"]
    return [*(wide if limit else []), f"stablehlo-compatibility-expander{{target={version}}}"]


def restore_small_floats(module: ir.Module, *, name: str) -> None:
    """Give emulated small floats their types back, in place; `name` is for errors."""
    run_pipeline(module, ["stablehlo-raise-emulation"], name=name)
