"""A scatter into a slice as one into the whole tensor."""

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.lowering.rewriting.stablehlo import build, convert, splat


def scattered(op: ir.Operation, whole: ir.Value, number: ir.Value) -> ir.Value:
    """What the scatter `op` does to slice `number` along dimension 0 of `whole`, done to `whole`.

    The slice is clamped into the tensor, as `dynamic_slice` does, what `op` puts outside of it is
    dropped, as before. Built at the current insertion point.
    """
    numbers = _stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
    last = ir.RankedTensorType(whole.type).shape[0] - 1
    bounds = [splat(number.type, each) for each in (0, last)]
    number = build("clamp", number.type, [bounds[0], number, bounds[1]])
    indices = _with_first(op.operands[1], numbers.index_vector_dim, number)
    new = op.clone().operation
    new.operands[0] = whole
    new.operands[1] = indices
    new.attributes["scatter_dimension_numbers"] = _stablehlo.ScatterDimensionNumbers.get(
        list(numbers.update_window_dims),
        [0, *(dim + 1 for dim in numbers.inserted_window_dims)],
        [dim + 1 for dim in numbers.input_batching_dims],
        list(numbers.scatter_indices_batching_dims),
        [0, *(dim + 1 for dim in numbers.scattered_dims_to_operand_dims)],
        numbers.index_vector_dim,
    )
    new.results[0].set_type(whole.type)
    return new.results[0]


def _with_first(indices: ir.Value, vector: int, number: ir.Value) -> ir.Value:
    """`indices`, whose vectors are along dimension `vector`, with `number` before each."""
    type_ = ir.RankedTensorType(indices.type)
    element, shape = type_.element_type, list(type_.shape)
    if vector == len(shape):
        shape.append(1)
        indices = build("reshape", ir.RankedTensorType.get(shape, element), [indices])
    first = ir.RankedTensorType.get([*shape[:vector], 1, *shape[vector + 1 :]], element)
    none = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
    repeated = build("broadcast_in_dim", first, [convert(number, element)], none)
    shape[vector] += 1
    along = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), vector)}
    made = ir.RankedTensorType.get(shape, element)
    return build("concatenate", made, [repeated, indices], along)
