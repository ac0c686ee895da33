"""Tensors of one number, made before torch-mlir could fold them.

It takes negative whole numbers that are added to folded floats for unsigned ones, compares them by
their bits, and takes the sign of -2 for 1.
"""

from typing import Any

import torch
from torch import Tensor
from torch.fx import Node
from torch_mlir import ir

from mlir_fp8.torch.functions import Body, writes

_aten = torch.ops.aten


def _is_known(node: Node) -> bool:
    value = node.meta.get("val")
    if not isinstance(value, Tensor) or not all(type(size) is int for size in value.shape):
        return False
    return not any(isinstance(each, Node) for each in _numbers(node))


def _numbers(node: Node) -> list[Any]:
    """The number, where the op takes one."""
    place = _PLACES.get(node.target)
    if place is None:
        return []
    name, at = place
    return [node.args[at] if len(node.args) > at else node.kwargs[name]]


_PLACES = {
    _aten.full.default: ("fill_value", 1),
    _aten.full_like.default: ("fill_value", 1),
    _aten.new_full.default: ("fill_value", 2),
    _aten.fill.Scalar: ("value", 1),
    _aten.scalar_tensor.default: ("s", 0),
}
_ONES = (_aten.ones.default, _aten.ones_like.default, _aten.new_ones.default)
_ZEROS = (
    *(_aten.zeros.default, _aten.zeros_like.default, _aten.new_zeros.default),
    *(_aten.empty.memory_format, _aten.empty_like.default, _aten.new_empty.default),
    *(_aten.empty_strided.default, _aten.new_empty_strided.default),
)


@writes(*_PLACES, *_ONES, *_ZEROS, when=_is_known)
def splat(body: Body) -> None:
    """The number in each place; a tensor without values has zeros."""
    (target,) = body.outputs
    node = body.function.node
    number = next(iter(_numbers(node)), 1 if node.target in _ONES else 0)
    body.give(body.let(f"stablehlo.constant {_attribute(target, number)}"))


def _attribute(target: ir.RankedTensorType, number: Any) -> str:
    element = target.element_type
    if isinstance(element, ir.ComplexType):
        parts = ir.RankedTensorType.get(target.shape, element.element_type)
        both = complex(number)
        values = [
            _splat(parts, each).split("<")[1].split(">")[0] for each in (both.real, both.imag)
        ]
        return f"dense<({', '.join(values)})> : {target}"
    return _splat(target, number)


def _splat(target: ir.RankedTensorType, number: Any) -> str:
    element = target.element_type
    if isinstance(element, ir.IntegerType):
        whole = bool(number) if element.width == 1 else int(number)
        attribute: ir.Attribute = ir.IntegerAttr.get(element, whole)
    else:
        attribute = ir.FloatAttr.get(element, float(number))
    return str(ir.DenseElementsAttr.get_splat(target, attribute))
