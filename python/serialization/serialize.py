"""`mlir_fp8.serialize`: a module as a StableHLO portable artifact, whatever dialects it is in."""

import functools
from collections.abc import Callable

from torch_mlir import ir

from mlir_fp8.artifacts.fit import Fit
from mlir_fp8.artifacts.portable import fit_of, write
from mlir_fp8.base.context import check_module, mlir_error, op_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations
from mlir_fp8.failures.internal_error import public
from mlir_fp8.serialization.fp8_ops import (
    with_composites,
    with_decompositions,
    with_own_constants,
)


@public
def serialize(
    module: ir.Module | ir.Operation,
    target: str = "current",
    *,
    strip_debuginfo: bool = False,
    emulate: bool = False,
    allow_other_dialects: bool = False,
    name: str = "module",
) -> bytes:
    """The portable artifact of a StableHLO module; the module itself is left as it is.

    `target` is a version such as `1.0.0`, a consumer such as `jaxlib-0.10.2`, of those in
    docs/compatibility.md, or a name: `current`, `minimum`, `WEEK_4`, `WEEK_12`, `MAX`, or `auto`,
    which is `minimum_version(module)`. `current`, 1.19.0, is read by jaxlib from 0.11.1 on, and not
    by jaxlib 0.10.2, the last one for Python 3.11. The artifact is readable by every consumer from
    that version on. Where an op has an older form of the same meaning, that form is written
    (`stablehlo-compatibility-expander`); `dense_resource` constants are written as dense ones. With
    `emulate`, small floats that `target` does not know travel as ui8, with the same results
    (`stablehlo-emulate-small-floats`). Ops of the `fp8` dialect travel as composites
    (`fp8-to-composite`), or as plain StableHLO where `target` has no composites or not their types,
    `arith.constant` of tensors as StableHLO's constants.
    With `allow_other_dialects`, ops that are not StableHLO are written in MLIR's own bytecode,
    which promises nothing between versions of MLIR.

    A module that `target` cannot hold is a `NewerFeaturesError`, what no version can hold another
    `Fp8Error`; `name` stands for the module in it.
    """
    if not isinstance(target, str):
        raise Fp8Error(f"target is {type(target).__name__}, not a version such as '1.0.0'")
    source = _checked(module, name)
    if not allow_other_dialects:
        source = with_own_constants(source)
    op = source if allow_other_dialects else with_composites(source, name)

    def fit_to(op: ir.Operation) -> Fit:
        return fit_of(op, name, _of_sizes(op), allow_other_dialects=allow_other_dialects)

    fit = fit_to(op)
    version = fit.version(target)
    if op is not source and not fit.takes_composites(version, emulate=emulate):
        op = with_decompositions(source, name)
        fit = fit_to(op)
    if emulate:
        from mlir_fp8.serialization.emulation import emulated_copy

        op = emulated_copy(op, version, name=name).operation
        fit = fit_to(op)
    return write(op, fit, version, strip_debuginfo=strip_debuginfo)


@public
def minimum_version(module: ir.Module | ir.Operation, *, name: str = "module") -> str:
    """The oldest StableHLO version that holds a module as it is, such as `1.7.0`.

    As it is: `serialize` also takes an older target for a module whose newer ops have older forms
    of the same meaning. What no version holds is an `Fp8Error`.
    """
    source = with_composites(with_own_constants(_checked(module, name)), name)
    return fit_of(source, name, _of_sizes(source)).minimum()


def _checked(module: ir.Module | ir.Operation, name: str) -> ir.Operation:
    """The op of a valid module; an invalid one would be written, and read by nobody."""
    check_module(module, ir.Operation, ir.OpView)
    op = module.operation
    if op.name != "builtin.module":
        raise op_error(op, "is not a module: give the builtin.module that holds it")
    try:
        op.verify()
    except ir.MLIRError as error:
        raise mlir_error(error, name) from None
    return op


def _of_sizes(module: ir.Operation) -> Callable[[ir.Operation], bool]:
    """Tells the ops that `legalize-sizes-to-stablehlo` legalizes in `module`."""

    @functools.cache
    def holds() -> bool:
        from mlir_fp8.lowering.frontend.legalize_sizes_to_stablehlo import holds_sizes

        return holds_sizes(operations(module))

    def is_of_sizes(op: ir.Operation) -> bool:
        # Imported where needed: most modules hold no other dialects.
        from mlir_fp8.lowering.frontend.legalize_sizes_to_stablehlo import is_candidate

        return is_candidate(op) and holds()

    return is_of_sizes
