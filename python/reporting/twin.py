"""The same program in f32: every narrow float is f32, and every rounding to one the identity."""

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.float_formats import NARROW_FLOATS
from mlir_fp8.lowering.rewriting.stablehlo import (
    convert,
    convert_operand,
    element_type,
    narrow_format,
    with_element,
)
from mlir_fp8.reporting.naming import value_name

_KEPT = frozenset(
    {
        "stablehlo.bitcast_convert",
        "stablehlo.rng",
        "chlo.constant_like",
        "chlo.next_after",
        "chlo.broadcast_next_after",
    }
)
"""What means the codes of its type, or draws or holds numbers of it: stays, between converts."""

_RETYPED = ("stablehlo", "chlo", "func")
"""The dialects whose ops take f32 in the place of any other float."""

_CONVERT = "fp8.convert"


def widen(function: ir.Operation) -> list[str]:
    """Put f32 in the place of f8, f6, f4, bf16 and f16 in the body of `function`.

    Arguments and constants convert, which is exact. `reduce_precision` is a rounding too, and a
    dot's `algorithm` rounds its operands: both go. Returns a line for each op that stays narrow.
    """
    ops = operations(function)[1:]
    for op in ops:
        _check(op)
    # By position: the hash of an op is that of its operands, which change.
    kept = [[narrow_format(each) for each in op.operands] if _stays(op) else None for op in ops]
    with ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]), ir.Location.unknown():
        for argument in function.regions[0].blocks[0].arguments:
            _convert_uses(argument)
    for op, formats in zip(ops, kept, strict=True):
        if formats is not None or _is_constant(op):
            with ir.InsertionPoint.after(op), op.location:
                for result in op.results:
                    _convert_uses(result)
            continue
        for value in _defined(op):
            if narrow_format(value) is not None:
                value.set_type(with_element(value.type, ir.F32Type.get()))
    for op, formats in zip(ops, kept, strict=True):
        for index, fmt in enumerate(formats or ()):
            if fmt is not None:
                convert_operand(op, index, getattr(ir, fmt.type_class).get())
    notes = [
        f"{value_name(op.location)}: {op.name} stays on a narrow float in the f32 program"
        for op, formats in zip(ops, kept, strict=True)
        if formats is not None and op.name != "chlo.constant_like"
    ]
    for op in ops:
        _drop_rounding(op)
    return notes


def _is_constant(op: ir.Operation) -> bool:
    return op.name.endswith(".constant")


def _check(op: ir.Operation) -> None:
    values = (*op.operands, *_defined(op))
    elements = [
        str(each.type if element_type(each) is None else element_type(each)) for each in values
    ]
    narrow = next((each for each in elements if each in NARROW_FLOATS), None)
    is_known = op.name.partition(".")[0] in _RETYPED or _is_constant(op) or op.name == _CONVERT
    if narrow and not is_known:
        raise op_error(op, f"on {narrow} cannot be made one on f32 here: write it in StableHLO")


def _stays(op: ir.Operation) -> bool:
    values = (*op.operands, *op.results)
    return op.name in _KEPT and any(narrow_format(value) is not None for value in values)


def _defined(op: ir.Operation) -> list[ir.Value]:
    arguments = [each for region in op.regions for block in region for each in block.arguments]
    return [*op.results, *arguments]


def _convert_uses(value: ir.Value) -> None:
    """Give the users of a narrow `value` its f32, by a convert at the insertion point."""
    if narrow_format(value) is None:
        return
    wide = convert(value, ir.F32Type.get())
    value.replace_all_uses_except(wide, ir.OpResult(wide).owner.operation)


def _drop_rounding(op: ir.Operation) -> None:
    if op.name == _CONVERT:
        with ir.InsertionPoint(op), op.location:
            op.results[0].replace_all_uses_with(convert(op.operands[0], ir.F32Type.get()))
        op.erase()
        return
    if op.name == "stablehlo.dot_general" and "algorithm" in op.attributes:
        del op.attributes["algorithm"]
    is_identity = op.name == "stablehlo.reduce_precision" or (
        op.name == "stablehlo.convert"
        and element_type(op.operands[0]) == element_type(op.results[0])
    )
    if is_identity:
        op.results[0].replace_all_uses_with(op.operands[0])
        op.erase()
