"""`fp8.unpack` in StableHLO."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.fp8.ops.scaling import broadcast, with_shape
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, splat, with_element


def unpack(op: ir.Operation, operands: Sequence[ir.Value]) -> list[ir.Value]:
    """The StableHLO of an `fp8.unpack` on `operands`, at the current insertion point."""
    (packed,), type_ = operands, ir.RankedTensorType(op.results[0].type)
    if FORMATS[str(type_.element_type)].bits == 4:
        pairs = ir.RankedTensorType.get([*packed.type.shape, 2], type_.element_type)
        return [build("reshape", type_, [build("bitcast_convert", pairs, [packed])])]
    return [_sixes(packed, type_)]


def _sixes(packed: ir.Value, type_: ir.RankedTensorType) -> ir.Value:
    """Numbers of f6, which no type of StableHLO has the bits of: looked up in a table of them."""
    ui32 = ir.IntegerType.get_unsigned(32)
    *outer, last = packed.type.shape
    threes = build("reshape", with_shape(packed, [*outer, last // 3, 3]), [packed])
    words = convert(threes, ui32)
    whole = ir.RankedTensorType.get([*outer, last // 3, 4], ui32)
    dims, rank = list(range(len(outer) + 1)), len(outer) + 2
    lanes = ir.RankedTensorType.get([4], ui32)
    total = None
    for byte in range(3):
        word = _byte(words, byte)
        shifted = build("shift_left", word.type, [word, splat(word.type, 8 * byte)])
        total = shifted if total is None else build("or", word.type, [total, shifted])
    assert total is not None
    places: Any = np.array([0, 6, 12, 18], np.uint32)
    number = ir.DenseElementsAttr.get(places, type=ui32)
    shifts = broadcast(build("constant", lanes, [], {"value": number}), whole, [rank - 1])
    codes = build("shift_right_logical", whole, [broadcast(total, whole, dims), shifts])
    codes = build("and", whole, [codes, splat(whole, 63)])
    return _looked_up(build("reshape", with_element(type_, ui32), [codes]), type_)


def _byte(words: ir.Value, byte: int) -> ir.Value:
    """The bytes of that number of groups of three."""
    *outer, _ = words.type.shape
    starts, limits = [0] * len(outer) + [byte], [*outer, byte + 1]
    numbers = {"start_indices": starts, "limit_indices": limits, "strides": [1] * (len(outer) + 1)}
    attributes = {key: ir.DenseI64ArrayAttr.get(each) for key, each in numbers.items()}
    one = build("slice", with_shape(words, [*outer, 1]), [words], attributes)
    return build("reshape", with_shape(words, outer), [one])


def _looked_up(codes: ir.Value, type_: ir.RankedTensorType) -> ir.Value:
    element = type_.element_type
    all_codes: Any = np.arange(64, dtype=np.uint8)
    of_table = ir.RankedTensorType.get([64], element)
    value = ir.DenseElementsAttr.get(all_codes, type=element, shape=[64])
    table = build("constant", of_table, [], {"value": value})
    rank = type_.rank
    dims = ir.Attribute.parse(
        f"#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0],"
        f" index_vector_dim = {rank}>"
    )
    sizes = ir.DenseI64ArrayAttr.get([1])
    attributes = {"dimension_numbers": dims, "slice_sizes": sizes}
    return build("gather", type_, [table, codes], attributes)
