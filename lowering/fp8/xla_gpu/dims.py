"""Dots of any dimensions as XLA's GEMM rewriter wants them: batches, then one matrix by another.

`CreateF8CustomCall` of openxla/xla, xla/service/gpu/transforms/gemm_rewriter.cc, takes one
contracting and one other dimension of each operand. XLA's own passes would reshape in the midst of
dequantize and epilogue; here the f8 values are reshaped before it, and the result after it.
"""

import dataclasses
import math
from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.context import op_error
from mlir_fp8.dialects.fp8 import Product
from mlir_fp8.lowering.fp8.ops.scaling import broadcast, number, spread, with_shape
from mlir_fp8.lowering.rewriting.stablehlo import build

_TILE = 16


@dataclasses.dataclass(frozen=True)
class Matrices:
    """A dot as `parts` with `numbers`; its result [batches, M, N], cut, is the declared one.

    Zeros may have been added to M and N: of a row or column XLA makes a vector, which its FP8
    products do not take; and between the padded product that it would make of other sizes, and a
    factor or quantization of the result, there would be its slice. None are added to K: times an
    infinite scale they are NaN, in every sum.
    """

    parts: Product
    numbers: ir.Attribute
    shape: tuple[int, ...]
    """[batches, M, N] without what was added."""
    d_scale: ir.Value | None
    """That of the result without what was added."""
    padded: bool

    def cut(self, x: ir.Value) -> ir.Value:
        """`x`, of the padded shape, without what was added."""
        type_ = with_shape(x, self.shape)
        if x.type == type_:
            return x
        bounds = {
            "start_indices": [0] * len(self.shape),
            "limit_indices": list(self.shape),
            "strides": [1] * len(self.shape),
        }
        attributes = {name: ir.DenseI64ArrayAttr.get(each) for name, each in bounds.items()}
        return build("slice", type_, [x], attributes)


@dataclasses.dataclass(frozen=True)
class _Side:
    """An operand's dimensions, each group in the order in which it becomes one dimension."""

    shape: list[int]
    batching: list[int]
    free: list[int]
    contracting: list[int]

    @property
    def is_contracted_last(self) -> bool:
        return not self.free or not self.contracting or self.free[0] < self.contracting[0]

    @property
    def groups(self) -> list[list[int]]:
        rest = [self.free, self.contracting]
        rest = rest if self.is_contracted_last else rest[::-1]
        return [*([dim] for dim in self.batching), *rest]

    def size(self, dims: Sequence[int]) -> int:
        return math.prod(self.shape[dim] for dim in dims)

    @property
    def is_matrix(self) -> bool:
        in_order = [dim for group in self.groups for dim in group]
        return in_order == list(range(len(in_order))) and all(
            len(each) == 1 for each in self.groups
        )


def as_matrices(parts: Product) -> Matrices:
    """`parts` of a dot, reshaped where it is no matrix product yet; values are the same."""
    parts = _without_blocks(parts)
    lhs, rhs = _sides(parts)
    shape = (*(lhs.shape[dim] for dim in lhs.batching), lhs.size(lhs.free), rhs.size(rhs.free))
    parts = _reshaped(parts, lhs, rhs, shape)
    numbers = _numbers(len(shape) - 2, lhs, rhs)
    whole = _follows_directly(parts)
    m, n = (_padded(size, whole=whole) for size in shape[-2:])
    k = lhs.size(lhs.contracting)
    sizes = {
        "a": [m, k] if lhs.is_contracted_last else [k, m],
        "b": [n, k] if rhs.is_contracted_last else [k, n],
        "c": [m, n],
        "bias": [n],
    }
    added = {name: _pad(getattr(parts, name), each) for name, each in sizes.items()}
    scales = {"a_scale": sizes["a"], "b_scale": sizes["b"], "d_scale": sizes["c"]}
    added |= {name: _pad_scale(getattr(parts, name), each) for name, each in scales.items()}
    padded = dataclasses.replace(parts, **added)
    is_padded = padded.a != parts.a or padded.b != parts.b
    return Matrices(padded, numbers, shape, parts.d_scale, is_padded)


def _without_blocks(parts: Product) -> Product:
    """`parts` whose scales have, along each dimension, one number or one for each index."""
    data = {"a_scale": parts.a, "b_scale": parts.b, "d_scale": parts.op.results[0]}
    scales = {name: _by_index(getattr(parts, name), _sizes(of)) for name, of in data.items()}
    return dataclasses.replace(parts, **scales)


def _by_index(scale: ir.Value | None, shape: Sequence[int]) -> ir.Value | None:
    if scale is None or not _sizes(scale):
        return scale
    sizes = [1 if own == 1 else size for own, size in zip(_sizes(scale), shape, strict=True)]
    return spread(scale, ir.RankedTensorType(with_shape(scale, sizes)), range(len(sizes)))


def _follows_directly(parts: Product) -> bool:
    """Whether there is a step that XLA fuses with a product, but not with a slice of one."""
    scales_sum = parts.operand_type is None and (parts.a_scale or parts.b_scale) is not None
    return scales_sum or parts.alpha is not None or parts.saturate


def _sides(parts: Product) -> tuple[_Side, _Side]:
    numbers = _stablehlo.DotDimensionNumbers(parts.op.attributes["dot_dimension_numbers"])
    pairs = zip(numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions, strict=True)
    contracting = sorted(pairs)  # so that of the left operand nothing moves
    lhs = _side(parts.a, list(numbers.lhs_batching_dimensions), [each[0] for each in contracting])
    rhs = _side(parts.b, list(numbers.rhs_batching_dimensions), [each[1] for each in contracting])
    return lhs, rhs


def _side(operand: ir.Value, batching: list[int], contracting: list[int]) -> _Side:
    shape = _sizes(operand)
    free = [dim for dim in range(len(shape)) if dim not in (*batching, *contracting)]
    return _Side(shape, batching, free, contracting)


def _numbers(batches: int, lhs: _Side, rhs: _Side) -> ir.Attribute:
    batching = list(range(batches))
    return _stablehlo.DotDimensionNumbers.get(
        lhs_batching_dimensions=batching,
        rhs_batching_dimensions=batching,
        lhs_contracting_dimensions=[batches + lhs.is_contracted_last],
        rhs_contracting_dimensions=[batches + rhs.is_contracted_last],
    )


def _reshaped(parts: Product, lhs: _Side, rhs: _Side, shape: tuple[int, ...]) -> Product:
    if lhs.is_matrix and rhs.is_matrix:
        return parts
    if parts.bias is not None and not rhs.free:
        parts = _bias_as_matrix(parts)
    result = _sizes(parts.op.results[0])
    batches = len(shape) - 2
    ends = batches + len(lhs.free)
    groups = [*([dim] for dim in range(batches)), list(range(batches, ends))]
    groups.append(list(range(ends, len(result))))
    bias = parts.bias
    if bias is not None:
        columns = result[ends:]
        bias = _reshape(broadcast(bias, with_shape(bias, columns), [len(columns) - 1]), shape[-1:])
    return dataclasses.replace(
        parts,
        a=_grouped(parts.a, lhs.shape, lhs.groups),
        b=_grouped(parts.b, rhs.shape, rhs.groups),
        a_scale=_grouped_scale(parts.a_scale, lhs.shape, lhs.groups),
        b_scale=_grouped_scale(parts.b_scale, rhs.shape, rhs.groups),
        c=None if parts.c is None else _reshape(parts.c, shape),
        bias=bias,
        d_scale=_grouped_scale(parts.d_scale, result, groups),
    )


def _bias_as_matrix(parts: Product) -> Product:
    """Of a right operand that is a vector, the bias runs along rows: it is a matrix."""
    assert parts.bias is not None
    if parts.c is not None:
        reason = "adds a matrix and a bias to the product by a vector: add them up before"
        raise op_error(parts.op, reason)
    result = _sizes(parts.op.results[0])
    matrix = broadcast(parts.bias, with_shape(parts.bias, result), [len(result) - 1])
    return dataclasses.replace(parts, c=matrix, bias=None)


def _grouped(value: ir.Value, shape: Sequence[int], groups: list[list[int]]) -> ir.Value:
    """`value` transposed to the order of `groups`, each of which becomes one dimension."""
    order = [dim for group in groups for dim in group]
    if order != sorted(order):
        permutation = {"permutation": ir.DenseI64ArrayAttr.get(order)}
        type_ = with_shape(value, [shape[dim] for dim in order])
        value = build("transpose", type_, [value], permutation)
    return _reshape(value, [math.prod(shape[dim] for dim in group) for group in groups])


def _grouped_scale(
    scale: ir.Value | None, shape: Sequence[int], groups: list[list[int]]
) -> ir.Value | None:
    """As `_grouped`; a scale has size 1 along what it is the same for."""
    if scale is None or not _sizes(scale):
        return scale
    sizes = _sizes(scale)
    for group in groups:  # of a dimension made of several, each index has its own
        if any(sizes[dim] != 1 for dim in group):
            sizes = [shape[dim] if dim in group else size for dim, size in enumerate(sizes)]
    scale = broadcast(scale, with_shape(scale, sizes), list(range(len(sizes))))
    return _grouped(scale, sizes, groups)


def _sizes(value: ir.Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)


def _reshape(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    type_ = with_shape(value, shape)
    return value if value.type == type_ else build("reshape", type_, [value])


def _padded(size: int, *, whole: bool) -> int:
    return size + -size % _TILE if whole or size == 1 else size


def _pad(value: ir.Value | None, sizes: Sequence[int]) -> ir.Value | None:
    """Zeros after the last dimensions of `value`, up to `sizes`."""
    if value is None:
        return None
    before = _sizes(value)
    after = [*before[: len(before) - len(sizes)], *sizes]
    if after == before:
        return value
    zero = number(with_shape(value, []), 0.0)
    high = [new - old for new, old in zip(after, before, strict=True)]
    none = [0] * len(before)
    edges = {"edge_padding_low": none, "edge_padding_high": high, "interior_padding": none}
    attributes = {name: ir.DenseI64ArrayAttr.get(each) for name, each in edges.items()}
    return build("pad", with_shape(value, after), [value, zero], attributes)


def _pad_scale(scale: ir.Value | None, sizes: Sequence[int]) -> ir.Value | None:
    """As `_pad`, but for dimensions along which the scale is the same."""
    if scale is None or not _sizes(scale):
        return scale
    own = _sizes(scale)[-len(sizes) :]
    return _pad(scale, [1 if old == 1 else new for old, new in zip(own, sizes, strict=True)])
