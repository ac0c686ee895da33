"""linalg's ops, built without the bindings' classes of them, which take a tenth of a second to
import."""

from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.lowering._retype import element_type


def yield_op(values: Sequence[ir.Value]) -> None:
    ir.Operation.create("linalg.yield", operands=values)


def fill(value: ir.Value, out: ir.Value) -> ir.Operation:
    """`linalg.fill` of `out`, a tensor or a buffer, with the scalar `value`."""
    return _moved("linalg.fill", value, out)


def copy(source: ir.Value, out: ir.Value) -> ir.Operation:
    """`linalg.copy` of `source` to `out`, of one shape and element type."""
    return _moved("linalg.copy", source, out)


def _moved(name: str, source: ir.Value, out: ir.Value) -> ir.Operation:
    results = [out.type] if isinstance(out.type, ir.RankedTensorType) else []
    sizes = ir.DenseI32ArrayAttr.get([1, 1])
    op = ir.Operation.create(
        name, results, [source, out], attributes={"operandSegmentSizes": sizes}, regions=1
    )
    types = [element_type(source.type), element_type(out.type)]
    block = op.regions[0].blocks.append(*types, arg_locs=[op.location] * 2)
    with ir.InsertionPoint(block), op.location:
        yield_op([block.arguments[0]])
    return op
