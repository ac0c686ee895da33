"""Quantized types made of scaled FP8 whose scales are known: integers, or f8 as types store it."""

from dataclasses import dataclass, field

import numpy as np
from torch_mlir import ir

from mlir_fp8.artifacts.dense_resources import make_dense
from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.dialects import fp8
from mlir_fp8.dialects._fp8_product_parts import Product, product_parts
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.dialects.uniform_types import storage_type
from mlir_fp8.lowering.fp8.composite_to_fp8 import CompositeToFp8
from mlir_fp8.lowering.fp8.ops.products import after_sum, plain_product
from mlir_fp8.lowering.fp8.quantized_types.constants import (
    integer_attribute,
    spread,
    sqnr_text,
)
from mlir_fp8.lowering.fp8.quantized_types.layouts import Layout, largest_numbers
from mlir_fp8.lowering.fp8.quantized_types.products import (
    Operand,
    has_integer_form,
    integer_sum,
    split_result,
)
from mlir_fp8.lowering.fp8.quantized_types.roots import PRODUCTS, Root, find_roots, scale_operand
from mlir_fp8.lowering.fp8.quantized_types.storage import Remark
from mlir_fp8.lowering.rewriting.stablehlo import (
    build,
    build_op,
    convert,
    element_type,
    with_element,
)

LARGEST = {"i8": 127, "i4": 7}
"""Integers that may be stored, and the largest magnitude of a code: they are symmetric."""
FLOAT = "f8"
"""Stores what is f8 or f4 as it is."""
_FLOATS = ("f8E4M3FN", "f8E5M2", "f4E2M1FN")
"""What types of MLIR store."""


def to_quantized_types(module: ir.Operation, storage: str) -> list[Remark]:
    """Rewrite `module`; what became of each tensor in FP8, and why others stay."""
    load_fp8_dialect(module.context)
    CompositeToFp8().run(module)
    make_dense(module, "module")
    conversion = _Conversion(storage)
    with ir.Location.unknown(module.context):
        for op in operations(module, *PRODUCTS):
            split_result(op)
        conversion.run(module)
    return conversion.remarks


@dataclass
class _Conversion:
    storage: str
    remarks: list[Remark] = field(default_factory=list)
    _typed: dict[ir.Value, Layout] = field(default_factory=dict)
    """Values of quantized types, with their scales."""

    @property
    def _is_float(self) -> bool:
        return self.storage == FLOAT

    def run(self, module: ir.Operation) -> None:
        for root in find_roots(module, self._refusal, both=not self._is_float):
            if root.left:
                stays = f"stays {element_type(root.value)}: {root.left}"
                self._say(root.op, f"{_what(root)} {stays}")
                continue
            with ir.InsertionPoint(root.op), root.op.location:
                self._convert(root)
        for op in operations(module, "fp8.dequantize", *PRODUCTS):
            if any(operand in self._typed for operand in list(op.operands)[:2]):
                with ir.InsertionPoint(op), op.location:
                    self._rewrite(op)

    def _refusal(self, root: Root) -> str:
        """Why `root`, whose scale is known, has no type that stores it."""
        assert root.layout is not None
        if self._is_float:
            if str(element_type(root.value)) not in _FLOATS:
                return f"types store {', '.join(_FLOATS)}"
            return "no type stores floats in blocks" if root.layout.counts else ""
        if root.is_constant and not np.isfinite(root.numbers()).all():
            return "it has elements that are infinite or NaN"
        return "" if self._integers(root).is_usable else "its steps are no normal numbers of f32"

    def _integers(self, root: Root) -> Layout:
        """The scales of the integers that take the place of `root`."""
        assert root.layout is not None
        largest = LARGEST[self.storage]
        if not root.is_constant:
            fmt = FORMATS[str(element_type(root.value))]
            return root.layout.times(float(fmt.max) / largest)
        steps = largest_numbers(root.numbers(), root.layout) / np.float32(largest)
        steps[steps < np.finfo(np.float32).tiny] = 1
        return root.layout.of(tuple(float(each) for each in steps.ravel()))

    def _convert(self, root: Root) -> None:
        """Put a value of a quantized type in the place of `root`, and of what moves make of it."""
        assert root.layout is not None
        layout = root.layout if self._is_float else self._integers(root)
        for value, before in root.layouts.items():
            if value != root.value:
                self._typed[value] = before.of(layout.numbers)
                value.set_type(self._tensor(value, self._typed[value]))
        made = self._constant(root, layout) if root.is_constant else self._quantizer(root, layout)
        self._typed[made] = layout
        root.value.replace_all_uses_with(made)
        root.op.erase()

    def _quantizer(self, root: Root, layout: Layout) -> ir.Value:
        type_ = self._type(root.value, layout)
        self._say(root.op, f"'fp8.quantize' to {element_type(root.value)} becomes {type_}")
        number = convert(root.op.operands[0], ir.F32Type.get())
        if self._is_stored(layout):
            return fp8.uniform_quantize(number, type_)
        return build_op("stablehlo.uniform_quantize", self._tensor(root.value, layout), [number])

    def _constant(self, root: Root, layout: Layout) -> ir.Value:
        if self._is_float:
            type_ = self._type(root.value, layout)
            self._say(root.op, f"{_what(root)} is read as {type_}")
            return build("constant", root.value.type, [], {"value": root.op.attributes["value"]})
        exact = root.numbers()
        shape, largest = exact.shape, LARGEST[self.storage]
        scale = spread(layout.array(exact.ndim), shape)
        codes = np.round(np.clip(exact / scale, -largest, largest))
        lost = sqnr_text(codes.astype(np.float32) * scale, exact)
        self._say(root.op, f"{_what(root)} becomes {self.storage}: {lost}")
        value = integer_attribute(codes, self.storage, root.op.context)
        return build("constant", self._tensor(root.value, layout), [], {"value": value})

    def _is_stored(self, layout: Layout) -> bool:
        """Whether the value is of what is stored, with the type at ops of `fp8` alone.

        StableHLO's ops take no floats that types store, and no blocks.
        """
        return self._is_float or bool(layout.counts)

    def _type(self, value: ir.Value, layout: Layout) -> ir.Type:
        """The quantized type of what takes the place of `value`."""
        element = value.type.element_type
        shape = ir.RankedTensorType(value.type).shape
        if self._is_float:
            return layout.type_of(element, 0, shape)
        return layout.type_of(ir.Type.parse(self.storage), LARGEST[self.storage], shape)

    def _tensor(self, value: ir.Value, layout: Layout) -> ir.Type:
        """The type of the value that takes the place of `value`."""
        type_ = self._type(value, layout)
        return with_element(value.type, storage_type(type_) if self._is_stored(layout) else type_)

    def _rewrite(self, op: ir.Operation) -> None:
        """A dequantize or a product of values that are typed now."""
        if op.name == "fp8.dequantize":
            element = ir.RankedTensorType(op.results[0].type).element_type
            replace_op(op, [convert(self._wide(op, 0), element)])
            return
        parts = product_parts(op)
        total = self._integer_sum(op, parts)
        if total is not None:
            self._say(op, f"'{op.name}' becomes a product of integers")
        else:
            total = plain_product(parts, *(self._wide(op, side) for side in (0, 1)))
            self._say(op, f"'{op.name}' becomes a product of dequantized operands, in f32")
        replace_op(op, after_sum(parts, total))

    def _integer_sum(self, op: ir.Operation, parts: Product) -> ir.Value | None:
        """The scaled sum of a product of integers; None where StableHLO has no such product."""
        left, right = (self._typed.get(op.operands[side]) for side in (0, 1))
        if left is None or right is None or self._is_float:
            return None
        if not has_integer_form(parts, left, right):
            return None
        return integer_sum(parts, Operand(parts.a, left), Operand(parts.b, right))

    def _wide(self, op: ir.Operation, side: int) -> ir.Value:
        """What operand `side` of `op` stands for, f32."""
        value = op.operands[side]
        wide = with_element(value.type, ir.F32Type.get())
        layout = self._typed.get(value)
        if layout is not None and self._is_stored(layout):
            return fp8.uniform_dequantize(value, self._type(value, layout))
        if layout is not None:
            return build_op("stablehlo.uniform_dequantize", wide, [value])
        scale, is_inverse = scale_operand(op, side)
        if scale is None:
            return convert(value, ir.F32Type.get())
        return fp8.dequantize(value, scale, ir.F32Type.get(), inverse=is_inverse)

    def _say(self, op: ir.Operation, text: str) -> None:
        self.remarks.append((op.location, text))


def _what(root: Root) -> str:
    return f"a constant {root.value.type}" if root.is_constant else "'fp8.quantize'"
