"""`stablehlo-emulate-small-floats`: newer small floats travel as ui8, in ops that a target knows.

What the types newer than the target compute is done in f32 first (`accumulate-in-f32` and
`float-normalization`, on these types alone), which leaves conversions and ops that move data. The
values become ui8, one code each, and each conversion a call of a private function that computes it
with the bits of f32 or f64. Marks say what was what, for `stablehlo-raise-emulation`.
"""

import dataclasses

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import function_type, operations
from mlir_fp8.dialects.float_formats import FloatFormat
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.arithmetic._emulated_conversion import Conversion, FunctionKey, is_conversion
from mlir_fp8.lowering.arithmetic._emulation import (
    ARGUMENT_MARKS,
    MARK,
    UNCHANGED,
    Carriers,
    attributes_of,
    dense,
    emulated,
    formats_newer_than,
    is_emulated,
    mark_of,
    storage_type,
)
from mlir_fp8.lowering.arithmetic.accumulate_in_f32 import AccumulateInF32
from mlir_fp8.lowering.arithmetic.float_normalization import FloatNormalization
from mlir_fp8.lowering.rewriting.retype import codes_of_constants, retype, retype_values
from mlir_fp8.lowering.rewriting.stablehlo import with_element


@dataclasses.dataclass(frozen=True)
class StablehloEmulateSmallFloats(ModulePass):
    """Store the small floats that StableHLO `target` lacks as ui8, with the same results.

    Types that the target has stay. Arguments and results of functions become ui8 too. Constants
    keep their bits. Ops that would compute on codes as numbers are refused.
    """

    target: str = "0.9.0"

    def run(self, module: ir.Operation) -> None:
        formats = formats_newer_than(self.target)
        if not formats:
            return
        limit = ",".join(formats)
        AccumulateInF32(formats=limit).run(module)
        FloatNormalization(formats=limit).run(module)
        with module.context, ir.Location.unknown():
            _emulate(module, formats)


def _emulate(module: ir.Operation, formats: dict[str, FloatFormat]) -> None:
    carriers = Carriers(formats)
    ops = operations(module)
    if already := next(filter(is_emulated, ops), None):
        raise op_error(already, "is emulated already; run stablehlo-raise-emulation first")
    conversions = [op for op in ops if is_conversion(op, formats)]
    expanded = set(conversions)
    for op in ops:
        reason = None if op in expanded else carriers.check(op) or _bodiless(op, carriers)
        if reason is not None:
            raise op_error(op, reason)
    pending = [Conversion(op, formats) for op in conversions]
    constants = [op for op in ops if op.name == "stablehlo.constant" and carriers.format_at(op)]
    for op in ops:
        _mark(op, formats)
    retype_values(ops, lambda leaf: emulated(leaf, formats))
    _retype_constants(constants, formats)
    functions: dict[FunctionKey, str] = {}
    for conversion in pending:
        conversion.become_call(functions)


def _bodiless(op: ir.Operation, carriers: Carriers) -> str | None:
    if op.name != "func.func" or len(op.regions[0].blocks):
        return None
    name = carriers.named_in(ir.TypeAttr(op.attributes["function_type"]).value)
    return name and f"has no body, and who gives it would not know that ui8 stands for {name}"


def _mark(op: ir.Operation, formats: dict[str, FloatFormat]) -> None:
    if op.name == "func.func":
        _mark_function(op, formats)
        return
    results = [mark_of(result.type, formats) for result in op.results]
    if any(results):
        op.attributes[MARK] = _strings(results)
    arguments = [
        [mark_of(argument.type, formats) for argument in block.arguments]
        for region in op.regions
        for block in region
    ]
    if any(any(marks) for marks in arguments):
        op.attributes[ARGUMENT_MARKS] = ir.ArrayAttr.get([_strings(marks) for marks in arguments])


def _strings(marks: list[str | None]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.StringAttr.get(mark or UNCHANGED) for mark in marks])


def _mark_function(op: ir.Operation, formats: dict[str, FloatFormat]) -> None:
    signature = function_type(op)
    for key, types in (("arg_attrs", signature.inputs), ("res_attrs", signature.results)):
        marks = [mark_of(type_, formats) for type_ in types]
        if not any(marks):
            continue
        old = attributes_of(op, key) or [{}] * len(marks)
        op.attributes[key] = ir.ArrayAttr.get(
            [_with_mark(each, mark) for each, mark in zip(old, marks, strict=True)]
        )
    changed = retype(signature, lambda leaf: emulated(leaf, formats))
    op.attributes["function_type"] = ir.TypeAttr.get(changed)


def _with_mark(attributes: dict[str, ir.Attribute], mark: str | None) -> ir.DictAttr:
    return ir.DictAttr.get(attributes | ({MARK: ir.StringAttr.get(mark)} if mark else {}))


def _retype_constants(constants: list[ir.Operation], formats: dict[str, FloatFormat]) -> None:
    values = [op.attributes["value"] for op in constants]
    for op, value in zip(constants, values, strict=True):
        if not isinstance(value, ir.DenseElementsAttr):
            raise op_error(op, "holds its elements outside of the module: make them dense")
    codes = codes_of_constants(values, lambda type_: formats[str(type_)].storage_bits)
    for op, code in zip(constants, codes, strict=True):
        op.attributes["value"] = _unsigned(ir.DenseElementsAttr(code))


def _unsigned(codes: ir.DenseElementsAttr) -> ir.Attribute:
    """The same bits as ui8."""
    shaped = with_element(codes.type, storage_type())
    array = np.asarray(codes).view(np.uint8)
    if codes.is_splat:
        value = ir.IntegerAttr.get(storage_type(), int(array.flat[0]))
        return ir.DenseElementsAttr.get_splat(shaped, value)
    return dense(array, shaped)
