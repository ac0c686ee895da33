"""Tables of f64 in the module that is compiled, looked up by f32 numbers' bits."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from mlir_fp8.lowering.codec.float_codec import constant, with_element
from mlir_fp8.lowering.real_functions.real import Bits, Real


def looked_up(name: str, table: Sequence[float], index: Bits) -> Real:
    """`table[index]`; the table becomes a constant `name` of the module."""
    f64 = ir.F64Type.get()
    type_ = ir.MemRefType.get([len(table)], f64)
    user = index.value.owner
    assert not isinstance(user, ir.Block)
    _declare(user.operation, name, table, type_)
    buffer = memref.get_global(type_, name)
    if not isinstance(index.value.type, ir.VectorType):
        return Real(memref.load(buffer, [arith.index_castui(ir.IndexType.get(), index.value)]))
    lanes = with_element(index.value.type, f64)
    everywhere = constant(lanes, ir.IntegerType.get_signless(1), 1)
    first = arith.constant(ir.IndexType.get(), 0)
    nothing = constant(lanes, f64, 0.0)
    return Real(vector.gather(lanes, buffer, [first], index.value, everywhere, nothing))


def _declare(user: ir.Operation, name: str, table: Sequence[float], type_: ir.Type) -> None:
    module = user
    while module.parent is not None:
        module = module.parent.operation
    if name in ir.SymbolTable(module):
        return
    f64 = ir.F64Type.get()
    numbers = [ir.FloatAttr.get(f64, each) for each in table]
    tensor = ir.RankedTensorType.get([len(table)], f64)
    with ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
        ir.Operation.create(
            "memref.global",
            attributes={
                "sym_name": ir.StringAttr.get(name),
                "sym_visibility": ir.StringAttr.get("private"),
                "type": ir.TypeAttr.get(type_),
                "initial_value": ir.DenseElementsAttr.get(numbers, tensor),
                "constant": ir.UnitAttr.get(),
            },
        )
