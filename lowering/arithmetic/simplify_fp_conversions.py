"""`simplify-fp-conversions`: roundings to a narrow type between wider values are dropped.

Named after XLA's pass, which `xla_allow_excess_precision` turns on: it takes `A -> B -> C` for
`A -> C`, whatever the types are. Here the type that is left out must be a listed one, so that
rounding to f8 and the like, which is what a quantized program means, stays.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations, producer
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.arithmetic._dot_algorithm import ALGORITHM_ROUNDING
from mlir_fp8.lowering.rewriting.stablehlo import (
    convert,
    element_type,
    names,
    narrow_formats,
    with_element,
)

_MOVEMENT = names("stablehlo", "broadcast broadcast_in_dim reshape reverse slice transpose")
"""The ops of one operand between two converts that move f32 as well as the narrow type."""


@dataclass(frozen=True)
class SimplifyFpConversions(ModulePass):
    """Drop the conversions f32 or f64 -> narrow -> float, also across reshapes and the like.

    Ops in a listed type then keep f32 between one and the next. Arguments, results, loop-carried
    values and all other values of the narrow type are rounded as before; so are the results of
    `reduce_precision` and of the algorithm of a dot.

    Options: `formats`, comma-separated, are the narrow types that may be left out.
    """

    formats: str = "bf16,f16"

    def run(self, module: ir.Operation) -> None:
        formats = narrow_formats(self.formats)
        with module.context:
            for op in operations(module, inner_first=True):
                if op.name == "stablehlo.convert" and _widens(op, formats):
                    _bypass(op)


def _is_wide(value: ir.Value) -> bool:
    return isinstance(element_type(value), ir.F32Type | ir.F64Type)


def _widens(op: ir.Operation, formats: frozenset[str]) -> bool:
    return str(element_type(op.operands[0])) in formats and isinstance(
        element_type(op.results[0]), ir.FloatType
    )


def _bypass(op: ir.Operation) -> None:
    """Give the users of `op` the value before rounding, moved in the same way."""
    moves: list[ir.Operation] = []
    source = producer(op.operands[0])
    while source is not None and source.name in _MOVEMENT:
        moves.append(source)
        source = producer(source.operands[0])
    if source is None or source.name != "stablehlo.convert" or not _is_wide(source.operands[0]):
        return
    if ALGORITHM_ROUNDING in source.attributes:
        return
    value = source.operands[0]
    wide, target = (ir.ShapedType(each.type).element_type for each in (value, op.results[0]))
    for move in reversed(moves):
        with ir.InsertionPoint(move), move.location:
            copy = move.clone()
        copy.operation.operands[0] = value
        value = copy.operation.results[0]
        value.set_type(with_element(value.type, wide))
    with ir.InsertionPoint(op), op.location:
        value = convert(value, target)
    op.results[0].replace_all_uses_with(value)
    for unused in (op, *moves, source):
        if not list(unused.results[0].uses):
            unused.erase()
