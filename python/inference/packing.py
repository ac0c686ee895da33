"""Weights packed once, by compiled code: what a module takes whose weights are in panels."""

from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.arrays.packing import packed
from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.context import make_context
from mlir_fp8.compiling.compilation import compile as compile_module
from mlir_fp8.compiling.compiled_module import CompiledModule
from mlir_fp8.inference.argument_checks import check_array
from mlir_fp8.lowering.fp8.weights.bits import BitLayout
from mlir_fp8.lowering.fp8.weights.names import described, own_names
from mlir_fp8.lowering.fp8.weights.packed import Layout, PackedLayout, packed_layout
from mlir_fp8.tensors.foreign import as_array


class Packing:
    """The code that packs the weights of a function: compiled once for each type and layout."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, PackedLayout], CompiledModule] = {}

    def packed(self, name: str, element: str, layout: Layout, array: Any) -> Any:
        """`array`, of `element`, in panels or bit-packed; `Fp8Error` where it is of another type.

        An array of the bytes, bit-packed already, is given back.
        """
        if isinstance(layout, BitLayout):
            return _bit_packed(name, layout, as_array(f"weight '{name}'", array))
        key = (element, layout)
        if key not in self._code:
            self._code[key] = compile_module(packing_module(element, layout))
        code = self._code[key]
        check_array(name, code.arguments[0], array)
        (packed,) = code(array)
        return packed


def _bit_packed(name: str, layout: BitLayout, array: Any) -> np.ndarray:
    if getattr(array, "dtype", None) == np.uint8 and array.shape == layout.packed_shape:
        return array
    check_array(name, TensorSpec(layout.shape, layout.element), array)
    return packed(np.asarray(array))


def packing_module(element: str, layout: PackedLayout) -> ir.Module:
    """A module that packs a matrix of `element`."""
    rows, columns = layout.shape
    type_ = f"tensor<{rows}x{columns}x{element}>"
    module = ir.Module.parse(f"func.func @main(%w: {type_}) {{ return }}", make_context())
    function = module.body.operations[0].operation
    block = function.regions[0].blocks[0]
    block.operations[0].operation.erase()
    with module.context, ir.Location.unknown(), ir.InsertionPoint(block):
        result = layout.pack(block.arguments[0])
        ir.Operation.create("func.return", operands=[result])
        signature = ir.FunctionType.get([block.arguments[0].type], [result.type])
        function.attributes["function_type"] = ir.TypeAttr.get(signature)
    return module


def packed_arguments(function: ir.Operation) -> dict[str, tuple[str, Layout]]:
    """The element type and the layout of each packed argument of `function`, by name."""
    arguments = list(function.regions[0].blocks[0].arguments)
    attributes = described(function, "arg_attrs", len(arguments))
    found: dict[str, tuple[str, Layout]] = {}
    for name, value, each in zip(own_names(function), arguments, attributes, strict=True):
        layout = packed_layout(each)
        if layout is not None:
            element = str(ir.RankedTensorType(value.type).element_type)
            found[name] = (layout.element if isinstance(layout, BitLayout) else element, layout)
    return found
