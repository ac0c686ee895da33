"""`stablehlo-slice-before-transpose`: parts of a tensor that is transposed whole."""

import dataclasses
import math

from torch_mlir import ir

from mlir_fp8.base.operations import defining_op, operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.scaled_dot.uses import users
from mlir_fp8.lowering.rewriting.stablehlo import build

_BOUNDS = ("start_indices", "limit_indices", "strides")


@dataclasses.dataclass(frozen=True)
class StablehloSliceBeforeTranspose(ModulePass):
    """Transpose slices of a tensor, where its transpose is used in slices alone, no part twice.

    XLA:GPU then makes each slice by one kernel, in the order that its reader wants, where it would
    write the transpose, copy the slices, and transpose those again.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module, "stablehlo.transpose"):
                slices = users(op.results[0])
                if _are_all(slices, op.results[0]):
                    for each in slices:
                        _swap(each)
                    op.erase()


def _are_all(readers: list[ir.Operation], of: ir.Value) -> bool:
    """Whether `readers` are slices, of no more elements than there are."""
    whole = ir.RankedTensorType(of.type)
    if not readers or not whole.has_static_shape:
        return False
    if any(each.name != "stablehlo.slice" for each in readers):
        return False
    sizes = [ir.RankedTensorType(each.results[0].type).shape for each in readers]
    return sum(map(math.prod, sizes)) <= math.prod(whole.shape)


def _swap(slice_: ir.Operation) -> None:
    """Let `slice_` read what is transposed before it, and transpose that."""
    transpose = defining_op(slice_.operands[0])
    order = list(ir.DenseI64ArrayAttr(transpose.attributes["permutation"]))
    result = ir.RankedTensorType(slice_.results[0].type)
    sizes, bounds = [0] * len(order), {name: [0] * len(order) for name in _BOUNDS}
    for to, dim in enumerate(order):
        sizes[dim] = result.shape[to]
        for name in _BOUNDS:
            bounds[name][dim] = ir.DenseI64ArrayAttr(slice_.attributes[name])[to]
    attributes = {name: ir.DenseI64ArrayAttr.get(each) for name, each in bounds.items()}
    with ir.InsertionPoint(slice_), slice_.location:
        part = ir.RankedTensorType.get(sizes, result.element_type)
        taken = build("slice", part, [transpose.operands[0]], attributes)
        permutation = {"permutation": ir.DenseI64ArrayAttr.get(order)}
        made = build("transpose", result, [taken], permutation)
    replace_op(slice_, [made])
