"""`arith-expand-small-floats`: arithmetic on f8, f6 and f4 is expanded before anything folds it.

Upstream's folders are wrong on these types (a NaN of f8E8M0FNU becomes infinity, a negative number
positive, the floor of 1.0 in f6 is 0), and inlining and dialect conversions run them. On integers
they are right.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.float_formats import OPAQUE_FLOATS
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.codec import float_codec as codec
from mlir_fp8.lowering.codes._small_float_ops import FormatsOfTypes
from mlir_fp8.lowering.codes.convert_small_floats_to_int import computation_of, expand
from mlir_fp8.lowering.rewriting.retype import element_type

_DIALECTS = ("arith.", "math.")


@dataclass(frozen=True)
class ArithExpandSmallFloats(ModulePass):
    """Expand `arith` and `math` ops on small floats as `convert-small-floats-to-int` does.

    Types stay as they are: `arith.bitcast` is between them and the codes. Tensors of dynamic shape
    are left alone. Options: `saturate` as there.
    """

    saturate: bool = False

    def run(self, module: ir.Operation) -> None:
        formats = FormatsOfTypes()
        ops = [op for op in operations(module) if op.name.startswith(_DIALECTS)]
        with ir.Location.unknown(module.context):
            for op in ops:
                values = [*op.operands, *op.results]
                is_small = any((fmt := formats[v.type]) and fmt.is_small for v in values)
                if is_small and all(map(_is_static, values)):
                    self._expand(op, formats)

    def _expand(self, op: ir.Operation, formats: FormatsOfTypes) -> None:
        computation = computation_of(op, formats)
        if computation is None:
            return
        with op.location:
            with ir.InsertionPoint(op):
                for index, operand in enumerate(op.operands):
                    op.operands[index] = _code(operand)
            result = op.results[0]
            if str(element_type(result.type)) in OPAQUE_FLOATS:
                _put_code(result)
        expand(computation, saturate=self.saturate)


def _is_static(value: ir.Value) -> bool:
    type_ = value.type
    return not isinstance(type_, ir.ShapedType) or (type_.has_rank and type_.has_static_shape)


def _code(value: ir.Value) -> ir.Value:
    """The code of `value` as `convert-small-floats-to-int` types it; values of other types as they
    are."""
    fmt = OPAQUE_FLOATS.get(str(element_type(value.type)))
    if fmt is None:
        return value
    code = arith.bitcast(_integer(value.type, fmt.bits), value)
    if fmt.bits == fmt.storage_bits:
        return code
    storage = _integer(value.type, fmt.storage_bits)
    # Constants keep a byte per element, all of which MLIR folds.
    mask = codec.constant(storage, element_type(storage), (1 << fmt.bits) - 1)
    return arith.andi(arith.extui(storage, code), mask)


def _put_code(result: ir.OpResult) -> None:
    """Retype `result` to its code, and bitcast that to the float for its users."""
    type_ = result.type
    fmt = OPAQUE_FLOATS[str(element_type(type_))]
    result.set_type(_integer(type_, fmt.storage_bits))
    with ir.InsertionPoint.after(result.owner):
        is_cut = fmt.bits != fmt.storage_bits
        code = arith.trunci(_integer(type_, fmt.bits), result) if is_cut else result
        value = arith.bitcast(type_, code)
    result.replace_all_uses_except(value, (code if is_cut else value).owner.operation)


def _integer(shaped: ir.Type, bits: int) -> ir.Type:
    return codec.with_element(shaped, ir.IntegerType.get_signless(bits))
