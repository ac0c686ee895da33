"""What is known of the indices and masks of writes: along which dimensions they vary, and how."""

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8.scaling.origins import source_dims
from mlir_fp8.lowering.rewriting.stablehlo import has_static_shape, names

_MOST = 1 << 24
"""Elements of an index that is computed here at most."""
_ELEMENTWISE = names(
    "stablehlo",
    "abs add and clamp compare convert divide maximum minimum multiply negate not or remainder"
    " select sign subtract xor",
)
_MOVES = names("stablehlo", "broadcast_in_dim reshape transpose")
_ARITHMETIC = {
    "stablehlo.add": np.add,
    "stablehlo.multiply": np.multiply,
    "stablehlo.subtract": np.subtract,
}


def varying(value: ir.Value) -> frozenset[int]:
    """The dimensions of `value`, of static shape, along which its elements may differ."""
    shape = ir.RankedTensorType(value.type).shape
    every = frozenset(dim for dim, size in enumerate(shape) if size > 1)
    op = producer(value)
    if op is None or not all(map(has_static_shape, op.operands)):
        return every
    if op.name == "stablehlo.iota":
        return every & {ir.IntegerAttr(op.attributes["iota_dimension"]).value}
    if op.name == "stablehlo.constant":
        held = op.attributes["value"]
        is_one = isinstance(held, ir.DenseElementsAttr) and held.is_splat
        return frozenset() if is_one else every
    if op.name in _ELEMENTWISE:
        ranks = [ir.RankedTensorType(each.type).rank for each in op.operands]
        of = [varying(each) for each, rank in zip(op.operands, ranks, strict=True) if rank]
        return every & frozenset().union(*of)
    if op.name in _MOVES:
        before = varying(op.operands[0])
        return frozenset(dim for dim in every if source_dims(op, frozenset({dim})) & before)
    return every


def counts_along(value: ir.Value, dim: int) -> bool:
    """Whether `value`, of integers, is known to be the place of each element along `dim`."""
    shape = list(ir.RankedTensorType(value.type).shape)
    if varying(value) - {dim}:
        return False
    numbers = _computed(value)
    along = [size if i == dim else 1 for i, size in enumerate(shape)]
    return numbers is not None and bool((numbers == np.arange(shape[dim]).reshape(along)).all())


def _computed(value: ir.Value) -> np.ndarray | None:
    """The numbers of integers that constants and iotas make; None of any other."""
    type_ = ir.RankedTensorType(value.type)
    shape = list(type_.shape)
    op = producer(value)
    is_small = np.prod(shape, dtype=np.int64) <= _MOST
    if op is None or not isinstance(type_.element_type, ir.IntegerType) or not is_small:
        return None
    if op.name == "stablehlo.constant":
        held = op.attributes["value"]
        return (
            np.array(held).astype(np.int64) if isinstance(held, ir.DenseIntElementsAttr) else None
        )
    if op.name == "stablehlo.iota":
        dim = ir.IntegerAttr(op.attributes["iota_dimension"]).value
        along = [size if i == dim else 1 for i, size in enumerate(shape)]
        return np.broadcast_to(np.arange(shape[dim]).reshape(along), shape)
    if op.name not in (*_ARITHMETIC, *_MOVES, "stablehlo.convert"):
        return None
    operands = [_computed(each) for each in op.operands]
    known = [each for each in operands if each is not None]
    if len(known) < len(operands):
        return None
    if op.name in _ARITHMETIC:
        made = _ARITHMETIC[op.name](*known)
        width = ir.IntegerType(type_.element_type).width
        return made if not made.size or np.abs(made).max() < 1 << (width - 1) else None
    return _moved(op, known[0], shape)


def _moved(op: ir.Operation, numbers: np.ndarray, shape: list[int]) -> np.ndarray:
    if op.name == "stablehlo.reshape":
        return numbers.reshape(shape)
    if op.name == "stablehlo.transpose":
        return numbers.transpose(list(ir.DenseI64ArrayAttr(op.attributes["permutation"])))
    if op.name == "stablehlo.broadcast_in_dim":
        places = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
        order = sorted(range(len(places)), key=places.__getitem__)
        sizes = dict(zip(places, numbers.shape, strict=True))
        own = [sizes.get(dim, 1) for dim in range(len(shape))]
        return np.broadcast_to(numbers.transpose(order).reshape(own), shape)
    return numbers
