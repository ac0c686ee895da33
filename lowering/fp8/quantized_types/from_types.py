"""Scaled FP8 made of quantized types: what is stored in 8 bits or fewer becomes f8 with a scale.

Types stay on values until all ops are rewritten, and say how each is quantized; then f8, or where
more than 8 bits are stored the expressed type, takes their place.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from torch_mlir import ir

from mlir_fp8.artifacts.dense_resources import make_dense
from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import function_type, operations, read_instead, replace_op
from mlir_fp8.dialects._fp8_attributes import SIZES
from mlir_fp8.dialects._fp8_product_shapes import CONVOLUTION_ATTRIBUTES
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.arithmetic._quantized import (
    MOVES,
    REFUSED,
    is_quantized,
    quantization,
)
from mlir_fp8.lowering.fp8.composite_to_fp8 import CompositeToFp8
from mlir_fp8.lowering.fp8.ops.products import dot_numbers
from mlir_fp8.lowering.fp8.quantized_types.borders import Borders, is_private
from mlir_fp8.lowering.fp8.quantized_types.storage import (
    WIDE,
    Remark,
    Storage,
    is_wide,
)
from mlir_fp8.lowering.fp8.quantized_types.uniform_ops import scale_uniform_ops
from mlir_fp8.lowering.fp8.scaling.contractions import is_convolution
from mlir_fp8.lowering.fp8.scaling.replacement import scales_sum
from mlir_fp8.lowering.rewriting.retype import retype
from mlir_fp8.lowering.rewriting.stablehlo import build_op, names, with_element

_PRODUCTS = names("stablehlo", "convolution dot dot_general")
_READS_STORAGE = names("stablehlo", "bitcast_convert composite custom_call") | {"quant.scast"}
_DIALECTS = ("stablehlo", "chlo", "func", "quant")


def from_quantized_types(module: ir.Operation, format_: str) -> list[Remark]:
    """Rewrite `module`; what became of constants and products, and what stays wide.

    Public functions keep their signatures: what they are given is dequantized and quantized again.
    """
    load_fp8_dialect(module.context)
    CompositeToFp8().run(module)
    make_dense(module, "module")
    conversion = _Conversion(Storage(format_))
    with ir.Location.unknown(module.context):
        conversion.run(module)
    return conversion.remarks


@dataclass
class _Conversion:
    storage: Storage
    remarks: list[Remark] = field(default_factory=list)

    def run(self, module: ir.Operation) -> None:
        self.remarks += scale_uniform_ops(module, self.storage)
        ops = operations(module)
        found = [op for op in ops if _has_quantized(op)]
        if not found:
            return
        functions = [op for op in ops if op.name == "func.func"]
        borders = Borders(self.storage)
        for function in functions:
            borders.add(function)
        special: dict[str, Callable[[ir.Operation], None]] = {
            "func.call": borders.call,
            "func.return": borders.returned,
            "quant.dcast": self._dequantize,
            "quant.qcast": self._quantize,
            "stablehlo.constant": self._constant,
            "stablehlo.uniform_dequantize": self._dequantize,
            "stablehlo.uniform_quantize": self._quantize,
        }
        for op in found:
            _check(op)
            self.storage.check(op)
            with op.location, ir.InsertionPoint(op):
                if op.name in special:
                    special[op.name](op)
                elif op.name not in MOVES and op.name != "func.func" and not self._product(op):
                    self._compute(op)
        for function in functions:
            borders.arguments(function)
        for op in operations(module):
            self._retype(op, borders.kept)

    def _quantize(self, op: ir.Operation) -> None:
        result = op.results[0]
        q = quantization(op, result)
        assert q is not None
        if is_wide(q):
            self._say(op, f"{result.type} stays {q.expressed}: it stores more than 8 bits")
        number = self.storage.number(op, op.operands[0])
        replace_op(op, [self.storage.stored(number, q, result.type)])

    def _dequantize(self, op: ir.Operation) -> None:
        replace_op(op, [self.storage.number(op, op.operands[0])])

    def _constant(self, op: ir.Operation) -> None:
        q = quantization(op, op.results[0])
        if q is None or q.is_float:
            return
        type_ = op.results[0].type
        op.attributes["value"], lost = self.storage.constant(op.attributes["value"], type_, q)
        if lost:
            self._say(op, f"{type_} {lost}")

    def _product(self, op: ir.Operation) -> bool:
        """Whether `op` became a scaled product: both operands are f8."""
        if op.name not in _PRODUCTS or "algorithm" in op.attributes:
            return False
        left, right = (quantization(op, each) for each in op.operands)
        if left is None or right is None or is_wide(left) or is_wide(right):
            return False
        formats = [str(self.storage.element(each.type.element_type)) for each in op.operands]
        if str(left.expressed) not in WIDE or formats == ["f8E5M2"] * 2:
            return False
        operands = [*op.operands]
        operands += [
            self.storage.scale_of(value, q)
            for value, q in zip(op.operands, (left, right), strict=True)
        ]
        attributes = _attributes(op)
        attributes[SIZES] = ir.DenseI32ArrayAttr.get([1, 1, 1, 1, 0, 0, 0])
        if not all(scales_sum(op, side, operands[2 + side]) for side in (0, 1)):
            attributes["operand_type"] = ir.TypeAttr.get(ir.F32Type.get())
        name = "fp8.scaled_convolution" if is_convolution(op) else "fp8.scaled_dot"
        result = op.results[0]
        made = build_op(name, with_element(result.type, left.expressed), operands, attributes)
        q = quantization(op, result)
        self._say(op, f"'{op.name}' becomes {name} of {formats[0]} by {formats[1]}")
        replace_op(op, [made if q is None else self.storage.stored(made, q, result.type)])
        return True

    def _compute(self, op: ir.Operation) -> None:
        """An op of floats: operands dequantized, results quantized."""
        for index, operand in enumerate(op.operands):
            op.operands[index] = self.storage.number(op, operand)
        with ir.InsertionPoint.after(op):
            for result in op.results:
                q = quantization(op, result)
                if q is None:
                    continue
                quantized = result.type
                result.set_type(with_element(quantized, q.expressed))
                read_instead(result, partial(self.storage.stored, q=q, result=quantized))

    def _retype(self, op: ir.Operation, kept: set[ir.Value]) -> None:
        values = [*op.results]
        values += [value for region in op.regions for b in region for value in b.arguments]
        for value in values:
            if value not in kept:
                value.set_type(retype(value.type, self.storage.element))
        if op.name == "func.func" and is_private(op):
            signature = retype(function_type(op), self.storage.element)
            op.attributes["function_type"] = ir.TypeAttr.get(signature)

    def _say(self, op: ir.Operation, text: str) -> None:
        self.remarks.append((op.location, text))


def _has_quantized(op: ir.Operation) -> bool:
    values = [*op.operands, *op.results]
    values += [value for region in op.regions for b in region for value in b.arguments]
    return any(is_quantized(value) or "!quant." in str(value.type) for value in values)


def _check(op: ir.Operation) -> None:
    if op.name in _READS_STORAGE:
        reason = "reads what is stored, which FP8 stores otherwise: dequantize before it"
        raise op_error(op, reason)
    if op.name in REFUSED or op.name.partition(".")[0] not in _DIALECTS:
        raise op_error(op, "on quantized types has no form in FP8: dequantize its operands")


def _attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    """Those of the product that `op` is, and what others gave it."""
    names_ = CONVOLUTION_ATTRIBUTES if is_convolution(op) else ()
    found = {name: op.attributes[name] for name in op.attributes if name in names_ or "." in name}
    if not is_convolution(op):
        found["dot_dimension_numbers"] = dot_numbers(op)
    return found
