"""`fp8-pack-constants`: constants of f6 and f4 as bytes without gaps between codes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.arrays.packing import packed
from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.dialects._fp8_unpack import SHORT
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.weights.bits import BitLayout
from mlir_fp8.lowering.rewriting.retype import codes_of_constants
from mlir_fp8.lowering.rewriting.stablehlo import build, element_type, has_static_shape, names

_TO_PRODUCTS = names("stablehlo", "convert multiply reshape transpose") | {"fp8.dequantize"}
_PRODUCTS = names("stablehlo", "dot dot_general") | {"fp8.scaled_dot"}


@dataclass(frozen=True)
class Fp8PackConstants(ModulePass):
    """Replace constants of f6 and f4 by half and three quarters of the bytes, and `fp8.unpack`.

    Constants of fewer than `min_size` elements stay, and those whose rows are no whole bytes, and
    splats. With `of_products` all that not only products read, decoded and scaled: compiled code
    unpacks others in each call.
    """

    min_size: int = 1024
    of_products: bool = False

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module, "stablehlo.constant"):
                layout = self._layout(op)
                if layout is not None and (
                    not self.of_products or _reaches_products(op.results[0])
                ):
                    _replace(op, layout)

    def _layout(self, op: ir.Operation) -> BitLayout | None:
        value = op.results[0]
        if str(element_type(value)) not in SHORT or not has_static_shape(value):
            return None
        type_ = ir.RankedTensorType(value.type)
        constant = op.attributes["value"]
        is_dense = isinstance(constant, ir.DenseElementsAttr) and not constant.is_splat
        if not is_dense or int(np.prod(type_.shape)) < self.min_size:
            return None
        layout = BitLayout.of(type_)
        return None if isinstance(layout, str) else layout


def _reaches_products(value: ir.Value) -> bool:
    users = [use.owner.operation for use in value.uses]
    return bool(users) and all(
        user.name in _PRODUCTS or (user.name in _TO_PRODUCTS and _reaches_products(user.results[0]))
        for user in users
    )


def _replace(op: ir.Operation, layout: BitLayout) -> None:
    with op.location, ir.InsertionPoint(op):
        (codes,) = codes_of_constants([op.attributes["value"]], lambda _: 8)
        array = np.array(ir.DenseIntElementsAttr(codes)).view(FORMATS[layout.element].dtype)
        type_ = layout.packed_type(op.results[0].type)
        held: Any = packed(array.reshape(layout.shape))
        ui8 = ir.RankedTensorType(type_).element_type
        value = ir.DenseElementsAttr.get(held, type=ui8, shape=list(layout.packed_shape))
        constant = build("constant", type_, [], {"value": value})
        replace_op(op, [layout.matrix(constant)])
