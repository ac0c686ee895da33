"""Conversions of emulated types, each a call of a private function that works on the codes.

A function, so that `stablehlo-raise-emulation` can recognize and replace it.
"""

import re
from collections.abc import Mapping

from torch_mlir import ir
from torch_mlir.dialects import func

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import replace_op
from mlir_fp8.dialects.float_formats import FloatFormat
from mlir_fp8.lowering.arithmetic._emulation import (
    EMULATED_OPS,
    HELPER,
    MARK,
    PREFIX,
    emulated,
    enclosing_module,
    storage_type,
)
from mlir_fp8.lowering.codec import stablehlo_codec
from mlir_fp8.lowering.rewriting.stablehlo import build, element_type, real_part, with_element

FunctionKey = tuple[ir.Operation, str, ir.Type, ir.Type]
"""Module, op, and the types that it had: what needs a function of its own."""


def is_conversion(op: ir.Operation, formats: Mapping[str, FloatFormat]) -> bool:
    """Whether `op` has to compute on codes. Bitcasts of eight bits are right on ui8 as they are."""
    if op.name not in EMULATED_OPS:
        return False
    operand, result = op.operands[0], op.results[0]
    source, target = (formats.get(str(element_type(value))) for value in (operand, result))
    if source is None and target is None:
        return False
    if op.name == "stablehlo.convert":
        return source is not target
    widths = [fmt.bits for fmt in (source, target) if fmt is not None]
    if max(widths) == min(widths) == 8 or (len(widths) == 2 and widths[0] == widths[1]):
        return False
    if len(widths) == 1 and _integer_width(result if source else operand) == widths[0]:
        return True
    raise op_error(
        op,
        f"from {operand.type} to {result.type} regroups bits, but emulated codes travel in 8 bits "
        "each; convert the codes as integers",
    )


def _integer_width(value: ir.Value) -> int | None:
    element = element_type(value)
    return element.width if isinstance(element, ir.IntegerType) else None


class Conversion:
    """A convert or bitcast, with the types that it had before they became ui8."""

    def __init__(self, op: ir.Operation, formats: Mapping[str, FloatFormat]) -> None:
        self._op = op
        self._operand, self._result = op.operands[0].type, op.results[0].type
        names = [str(element_type(value)) for value in (*op.operands, *op.results)]
        self._source, self._target = map(formats.get, names)
        self._types = [emulated(type_, formats) for type_ in (self._operand, self._result)]
        self._function = _function_name(op, names)

    def become_call(self, functions: dict[FunctionKey, str]) -> None:
        """Call the function of these types, from `functions` or built and added to them."""
        op = self._op
        key = (enclosing_module(op), op.name, self._operand, self._result)
        if key not in functions:
            functions[key] = self.build_function(key[0]).name.value
        result = op.results[0]
        attributes: dict[str, ir.Attribute] = dict(op.attributes.items())
        attributes["callee"] = ir.FlatSymbolRefAttr.get(functions[key])
        with ir.InsertionPoint(op), op.location:
            call = ir.Operation.create("func.call", [result.type], list(op.operands), attributes)
        replace_op(op, call.results)

    def build_function(self, module: ir.Operation) -> func.FuncOp:
        """A new function of `module`, its first op, that computes the conversion on codes."""
        signature = ir.FunctionType.get(self._types[:1], self._types[1:])
        place = ir.InsertionPoint(module.regions[0].blocks[0])
        with place, ir.Location.name(self._function):
            function = func.FuncOp(self._function, signature, visibility="private")
            function.attributes[HELPER] = ir.StringAttr.get(self._op.name)
            function.attributes["arg_attrs"] = _marks(self._source)
            function.attributes["res_attrs"] = _marks(self._target)
            with ir.InsertionPoint(function.add_entry_block()):
                func.ReturnOp([self._computed(function.arguments[0])])
        return function

    def _computed(self, value: ir.Value) -> ir.Value:
        fmt = self._source or self._target
        assert fmt is not None, "neither type is emulated"
        if self._op.name == "stablehlo.bitcast_convert":
            return _low_bits(value, fmt, self._types[1])
        if self._source is not None:
            return stablehlo_codec.decode(fmt, value)
        return stablehlo_codec.encode(fmt, real_part(value))


def _function_name(op: ir.Operation, element_names: list[str]) -> str:
    shaped = op.operands[0].type
    if not isinstance(shaped, ir.RankedTensorType):
        raise op_error(op, "on an unranked tensor cannot be emulated; refine shapes first")
    if not shaped.has_static_shape and shaped.encoding is not None:
        raise op_error(op, f"on {shaped} cannot be emulated; give it a static shape")
    sizes = ["d" if shaped.is_dynamic_dim(i) else str(n) for i, n in enumerate(shaped.shape)]
    kind = op.name.removeprefix("stablehlo.")
    pieces = [kind, *element_names, "x".join(sizes) or "scalar"]
    return PREFIX + ".".join(re.sub(r"\W+", "_", piece) for piece in pieces)


def _marks(fmt: FloatFormat | None) -> ir.ArrayAttr:
    marks: dict[str, ir.Attribute] = {MARK: ir.StringAttr.get(fmt.name)} if fmt else {}
    return ir.ArrayAttr.get([ir.DictAttr.get(marks)])


def _low_bits(value: ir.Value, fmt: FloatFormat, result: ir.Type) -> ir.Value:
    """Codes from ui8 to integers of their own width, or back; `value` is either."""
    narrow = ir.IntegerType.get_unsigned(fmt.bits)
    exact = with_element(value.type, narrow)
    if element_type(value) == storage_type():
        value = build("convert", exact, [value])
        return value if exact == result else build("bitcast_convert", result, [value])
    if value.type != exact:
        value = build("bitcast_convert", exact, [value])
    return build("convert", result, [value])
