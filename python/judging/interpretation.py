"""`mlir_fp8.interpret`: a module of any dialects in StableHLO's reference interpreter."""

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from torch_mlir import ir, passmanager

from mlir_fp8.base.context import check_module
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import replace_op
from mlir_fp8.compiling.shapes import make_static
from mlir_fp8.dialects.fp8_loading import knows_fp8_dialect
from mlir_fp8.failures.internal_error import public
from mlir_fp8.interpreter import run
from mlir_fp8.interpreter.dense_values import dense
from mlir_fp8.interpreter.limits import check_seconds
from mlir_fp8.interpreter.run import Arguments, Evaluation, argument_types, find_entry
from mlir_fp8.judging.arguments import interpreted_argument
from mlir_fp8.judging.quantized_types import in_integers
from mlir_fp8.lowering.frontend.arith_constant_to_stablehlo import (
    ArithConstantToStablehlo,
    arith_constants,
)
from mlir_fp8.lowering.rewriting.shardings import annotations
from mlir_fp8.tensors.foreign import Kind, given_as, result_kind

_CALLS = "builtin.module(func.func(stablehlo-legalize-composite-to-call))"


@overload
def interpret(
    module: ir.Module,
    *arrays: np.ndarray | np.generic | complex,
    entry: str = "main",
    seconds: float = 60.0,
    as_: None = None,
) -> tuple[np.ndarray, ...]: ...
@overload
def interpret(
    module: ir.Module,
    *arrays: Any,
    entry: str = "main",
    seconds: float = 60.0,
    as_: Kind | None = None,
) -> tuple[Any, ...]: ...


@public
def interpret(
    module: ir.Module,
    *arrays: Any,
    entry: str = "main",
    seconds: float = 60.0,
    as_: Kind | None = None,
) -> tuple[Any, ...]:
    """The results of `entry` on `arrays`, computed by StableHLO's reference interpreter.

    Arrays are as `CompiledModule` takes and gives them, by `as_` too; a dynamic argument takes the
    shape of its array. `check.*` custom calls are checked, with an `Fp8Error` for the first that
    fails. An `Fp8Error` names the op and its place where the interpreter cannot run one, or says
    that `seconds` were not enough. The module itself is left as it is. Arguments and results of
    quantized types, of signed storage, are the integers that are stored.

    The interpreter rounds every op to its declared type: reductions and dots with a narrow result
    round at every step, where `compile` accumulates in f32. It is known to be wrong for logistic on
    f8, for floor, ceil and round of f8E3M4, and for convolutions of f8 to f32.
    """
    check_module(module)
    check_seconds("seconds", seconds)
    kind = result_kind(as_, arrays)
    function = find_entry(module, entry)
    if function is not None and "!quant." in str(function.attributes["function_type"]):
        module = in_integers(module)
        function = find_entry(module, entry)
    types = [] if function is None else argument_types(function)
    if len(arrays) != len(types):
        raise Fp8Error(f"'{entry}' takes {len(types)} arguments, {len(arrays)} were given")
    values = [
        interpreted_argument(i, *pair) for i, pair in enumerate(zip(types, arrays, strict=True))
    ]

    def constants(context: ir.Context) -> list[ir.Attribute]:
        return [dense(array, spec.element, context) for spec, array in values]

    evaluation = evaluate(module, constants, entry=entry, seconds=float(seconds))
    # Its own are whole bytes (int8 for i4); what numpy has no type for is refused.
    results = [each.array.astype(each.spec.dtype, copy=False) for each in evaluation.results]
    return tuple(given_as(kind, f"result {i}", array) for i, array in enumerate(results))


def evaluate(
    module: ir.Module,
    arguments: Arguments,
    *,
    entry: str = "main",
    seconds: float = 60.0,
    name: str = "-",
) -> Evaluation:
    """Run `entry` and read back everything that it recorded; errors as for `interpret`.

    `name` stands for the file in errors.
    """
    return run.evaluate(
        module,
        arguments,
        entry=entry,
        seconds=seconds,
        name=name,
        legalize=_legal,
        make_static=_make_static,
    )


def _legal(module: ir.Module) -> ir.Operation:
    """`module`, or a copy of StableHLO: without shardings, constants of `arith` and `fp8` ops."""
    knows_fp8 = knows_fp8_dialect(module.context)
    is_sharded = bool(annotations(module.operation))
    if not knows_fp8 and not is_sharded and not arith_constants(module.operation):
        return module.operation
    copy = module.operation.clone(ip=False).operation
    for op in annotations(copy):
        replace_op(op, op.operands if len(op.results) else [])
    ArithConstantToStablehlo().run(copy)
    if knows_fp8:
        from mlir_fp8.lowering.fp8.fp8_legalize_to_stablehlo import Fp8LegalizeToStablehlo

        Fp8LegalizeToStablehlo(chlo=False).run(copy)  # the interpreter knows no CHLO
    return copy


def _make_static(module: ir.Module, entry: ir.Operation, types: Sequence[ir.Type]) -> None:
    # First, or they become ops of the fp8 dialect: here their decompositions count.
    passmanager.PassManager.parse(_CALLS, module.context).run(module.operation)
    with module.context, ir.Location.unknown():
        make_static(module, entry, types)
