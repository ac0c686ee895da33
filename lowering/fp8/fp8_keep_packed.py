"""`fp8-keep-packed`: f6 and f4 that arguments and constants hold bit-packed stay so for kernels."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations, producer, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import build, has_static_shape, with_element
from mlir_fp8.lowering.rewriting.unpack_calls import unpack_call


@dataclass(frozen=True)
class Fp8KeepPacked(ModulePass):
    """Make custom calls of `fp8.unpack` whose operand is an argument or a constant.

    So of `stablehlo.bitcast_convert` from bytes to pairs of f4 that a reshape puts side by side.
    Kernels of products read such operands as they lie; for all else they are unpacked into memory.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module, "fp8.unpack", "stablehlo.bitcast_convert"):
                last = op if op.name == "fp8.unpack" else _side_by_side(op)
                if last is not None and _is_held(op.operands[0]) and not _is_empty(last):
                    _replace(op.operands[0], last)


def _side_by_side(op: ir.Operation) -> ir.Operation | None:
    """The reshape that puts the pairs of f4 that `op` makes of bytes side by side."""
    source, made = op.operands[0].type, op.results[0].type
    uses = [use.owner.operation for use in op.results[0].uses]
    if str(made.element_type) != "f4E2M1FN" or not has_static_shape(op.results[0]):
        return None
    if str(source.element_type) not in ("i8", "ui8") or not source.rank or len(uses) != 1:
        return None
    *outer, last = source.shape
    is_flat = uses[0].name == "stablehlo.reshape"
    shape = list(uses[0].results[0].type.shape) if is_flat else []
    return uses[0] if shape == [*outer, 2 * last] else None


def _is_held(value: ir.Value) -> bool:
    op = producer(value)
    return op is None or op.name == "stablehlo.constant"


def _is_empty(op: ir.Operation) -> bool:
    """Whether `op` has no element: the function that unpacks would have no loop, and stay."""
    return 0 in op.results[0].type.shape


def _replace(packed: ir.Value, last: ir.Operation) -> None:
    with ir.InsertionPoint(last), last.location:
        ui8 = ir.IntegerType.get_unsigned(8)
        if packed.type.element_type != ui8:
            packed = build("bitcast_convert", with_element(packed.type, ui8), [packed])
        replace_op(last, [unpack_call(packed, last.results[0].type)])
