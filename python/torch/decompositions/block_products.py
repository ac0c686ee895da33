"""Products whose scales are those of blocks: `torch.nn.functional.scaled_mm`.

What a scale belongs to is in its recipe, where it lies in its swizzle (PyTorch, `ScalingType` and
`SwizzleType` of torch/nn/functional.py; aten/src/ATen/native/cuda/ScaledBlas.cpp).
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node
from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.rewriting.swizzled_scales import cut, spread, tensor, unswizzled
from mlir_fp8.torch.decompositions.casts import convert_value
from mlir_fp8.torch.functions import Body, writes

_V2 = getattr(torch.ops.aten, "_scaled_mm_v2", None)
_TENSOR, _ROW, _NV, _MX, _GROUP, _SQUARE = range(6)
_BLOCKS = {_NV: (1, 16), _MX: (1, 32), _GROUP: (1, 128), _SQUARE: (128, 128)}
"""Rows and columns of what one scale is for; of operands as [rows, K]."""
_SCALES = {_NV: "f8E4M3FN", _MX: "f8E8M0FNU"}
_SWIZZLED = 1


@dataclass
class _Side:
    """An operand as [rows, K], and its scales, each with its recipe."""

    body: Body
    codes: str
    shape: tuple[int, int]
    element: str
    scales: list[tuple[str, ir.RankedTensorType, int]]
    is_right: bool

    @property
    def what(self) -> str:
        return f"'aten._scaled_mm_v2' has {'scale_b' if self.is_right else 'scale_a'}"

    def type_of(self, element: str, shape: Any = None) -> str:
        sizes = self.shape if shape is None else shape
        return tensor(sizes, element)

    def numbers(self) -> tuple[str, str]:
        """What the codes stand for but for the number of the tensor, and that, f32; "" for none."""
        body, wide = self.body, self.type_of("f32")
        value = body.let(
            f"stablehlo.convert {self.codes} : ({self.type_of(self.element)}) -> {wide}"
        )
        of_tensor = ""
        for name, type_, recipe in self.scales:
            if recipe == _TENSOR:
                of_tensor = body.let(f"stablehlo.reshape {name} : ({type_}) -> tensor<f32>")
                continue
            spread = self._spread(name, type_, recipe)
            value = body.let(f"stablehlo.multiply {value}, {spread} : {wide}")
        return value, of_tensor

    def _spread(self, name: str, type_: ir.RankedTensorType, recipe: int) -> str:
        """A number for each element, f32."""
        rows, columns = self.shape
        block = (1, columns) if recipe == _ROW else _BLOCKS[recipe]
        counts = [-(-size // each) for size, each in zip(self.shape, block, strict=True)]
        if columns % block[1] or rows % block[0]:
            shown = "x".join(map(str, block))
            raise Fp8Error(f"{self.what} of blocks of {shown} that do not divide {rows}x{columns}")
        element = _SCALES.get(recipe, "f32")
        compact = self._compact(name, type_, recipe, counts)
        return spread(self.body.let, compact, element, counts, block)

    def _compact(
        self, name: str, type_: ir.RankedTensorType, recipe: int, counts: list[int]
    ) -> str:
        """The scales as [rows, blocks]."""
        if recipe in _SCALES:
            element = _SCALES[recipe]
            return unswizzled(self.body.let, name, str(type_), element, counts)
        if recipe == _GROUP or (recipe == _ROW and not self.is_right):
            return name
        # [blocks, rows], of squares with blocks of no element to a multiple of four.
        body, (blocks, rows) = self.body, type_.shape
        turned = self.type_of("f32", [rows, blocks])
        name = body.let(f"stablehlo.transpose {name}, dims = [1, 0] : ({type_}) -> {turned}")
        return cut(body.let, name, "f32", [rows, blocks], counts)


@writes(getattr(_V2, "default", None))
def scaled_mm(body: Body) -> None:
    """`(a * scales) @ (b * scales) + bias`, in f32, rounded once to the type of the result.

    `a` is [m, k], `b` [k, n]. Scales are f32 of the tensor, a row or blocks of 128, f8E8M0FNU of 32
    elements along k, f8E4M3FN of 16 with an f32 of the tensor beside them or without; those of 32
    and 16 are swizzled. Numbers of tensors multiply the sum. PyTorch has checked all sizes.
    """
    if dims := body.argument("contraction_dim", 10, ()):
        raise Fp8Error(f"'aten._scaled_mm_v2' has contraction_dim {list(dims)}: give none")
    sides: list[_Side] = []
    first = 2
    for index, at in enumerate((2, 5)):
        letter = "ab"[index]
        recipes = list(body.argument(f"recipe_{letter}", at + 1))
        swizzles = list(body.argument(f"swizzle_{letter}", at + 2))
        if recipes[0] in _SCALES and swizzles[:1] != [_SWIZZLED]:
            raise Fp8Error(f"'aten._scaled_mm_v2' has scale_{letter} without SWIZZLE_32_4_4")
        numbers = range(first, first + len(recipes))
        scales = [
            (f"%arg{i}", body.inputs[i], kind) for i, kind in zip(numbers, recipes, strict=True)
        ]
        sides.append(_side(body, index, scales))
        first += len(recipes)
    _write(body, sides, first)


def _has_blocks(node: Node) -> bool:
    return any(
        each.meta["val"].dtype == getattr(torch, "float8_e8m0fnu", None)
        or each.meta["val"].dtype == torch.float8_e4m3fn
        for each in node.args[2:4]
        if isinstance(each, Node)
    )


@writes(torch.ops.aten._scaled_mm.default, when=_has_blocks)
def scaled_mm_of_blocks(body: Body) -> None:
    """The same by `torch._scaled_mm`, which tells recipes by the types of scales: swizzled ones."""
    if body.argument("scale_result", 5) is not None:
        raise Fp8Error("'aten._scaled_mm' has a scale of the result beside those of blocks")
    sides: list[_Side] = []
    for index in (0, 1):
        name, type_ = f"%arg{2 + index}", body.inputs[2 + index]
        recipe = _MX if str(type_.element_type) == "f8E8M0FNU" else _NV
        sides.append(_side(body, index, [(name, type_, recipe)]))
    _write(body, sides, 4)


def _write(body: Body, sides: list[_Side], bias_at: int) -> None:
    """The product, times the number of the tensors, and with the bias, if there is an argument."""
    (a, of_a), (b, of_b) = (each.numbers() for each in sides)
    m, n = (each.shape[0] for each in sides)
    sum_ = f"tensor<{m}x{n}xf32>"
    value = body.let(
        f"stablehlo.dot_general {a}, {b}, contracting_dims = [1] x [1] :"
        f" ({sides[0].type_of('f32')}, {sides[1].type_of('f32')}) -> {sum_}"
    )
    if of_a:
        factor = body.let(f"stablehlo.multiply {of_a}, {of_b} : tensor<f32>")
        spread = body.let(
            f"stablehlo.broadcast_in_dim {factor}, dims = [] : (tensor<f32>) -> {sum_}"
        )
        value = body.let(f"stablehlo.multiply {value}, {spread} : {sum_}")
    if bias_at < len(body.inputs):
        bias, type_ = f"%arg{bias_at}", body.inputs[bias_at]
        wide = f"tensor<{n}xf32>"
        bias = body.let(f"stablehlo.convert {bias} : ({type_}) -> {wide}")
        bias = body.let(f"stablehlo.broadcast_in_dim {bias}, dims = [1] : ({wide}) -> {sum_}")
        value = body.let(f"stablehlo.add {value}, {bias} : {sum_}")
    narrow = body.outputs[0]
    if narrow.element_type.width == 8:
        source = ir.RankedTensorType(ir.Type.parse(sum_, narrow.context))
        body.give(convert_value(body, value, source, narrow))
        return
    body.give(body.let(f"stablehlo.convert {value} : ({sum_}) -> {narrow}"))


def _side(body: Body, index: int, scales: list[tuple[str, ir.RankedTensorType, int]]) -> _Side:
    """An operand as [rows, K]; of float4_e2m1fn_x2, which holds two codes to a byte, unpacked."""
    name, type_ = f"%arg{index}", body.inputs[index]
    element, sizes = str(type_.element_type), list(type_.shape)
    if index:
        sizes.reverse()
        turned = f"tensor<{sizes[0]}x{sizes[1]}x{element}>"
        name = body.let(f"stablehlo.transpose {name}, dims = [1, 0] : ({type_}) -> {turned}")
    if element == "ui8":
        rows, pairs = sizes
        packed = f"tensor<{rows}x{pairs}xui8>"
        apart, element = f"tensor<{rows}x{pairs}x2xf4E2M1FN>", "f4E2M1FN"
        name = body.let(f"stablehlo.bitcast_convert {name} : ({packed}) -> {apart}")
        sizes = [rows, 2 * pairs]
        plain = f"tensor<{rows}x{2 * pairs}xf4E2M1FN>"
        name = body.let(f"stablehlo.reshape {name} : ({apart}) -> {plain}")
    return _Side(body, name, (sizes[0], sizes[1]), element, scales, bool(index))
