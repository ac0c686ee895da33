"""`fp8.attention_backward`s that kernels compute: which, why others are left, and their calls."""

import math
from dataclasses import dataclass, replace

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import replace_op
from mlir_fp8.dialects._fp8_attributes import float_of, is_set
from mlir_fp8.lowering.fp8.ops.attention import reduced
from mlir_fp8.lowering.fp8.ops.scaling import number
from mlir_fp8.lowering.gpu.kernels.attention_backward.kernel import attention_backward_kernel
from mlir_fp8.lowering.gpu.kernels.attention_backward.shape import AttentionBackward
from mlir_fp8.lowering.gpu.kernels.product.shape import ROWS
from mlir_fp8.lowering.gpu.xla.attention_calls import padded
from mlir_fp8.lowering.gpu.xla.calls import KernelCalls
from mlir_fp8.lowering.gpu.xla.costs import Costs, Verdict
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, element_type

ATTENTION_BACKWARD = "fp8.attention_backward"


@dataclass(frozen=True)
class FoundAttentionBackward:
    """An op, and the kernels that compute it: of keys and of queries."""

    op: ir.Operation
    shapes: tuple[AttentionBackward, AttentionBackward]


def attention_backward_of(op: ir.Operation) -> FoundAttentionBackward | str:
    """What is known of an `fp8.attention_backward`; or why no kernel computes it."""
    q, k, v = (list(ir.RankedTensorType(each.type).shape) for each in list(op.operands)[:3])
    scale = float_of(op, "scale")
    shape = AttentionBackward(
        q[0],
        q[1],
        k[1],
        q[2],
        k[2],
        q[3],
        v[3],
        scale=1.0 if scale is None else scale,
        element=str(element_type(op.operands[0])),
        causal=is_set(op, "causal"),
    )
    shapes = (
        replace(shape, consumers=1 if shape.keys <= ROWS else 2),
        replace(shape, of="queries", consumers=1 if shape.rows <= ROWS else 2),
    )
    try:
        for each in shapes:
            each.check()
    except Fp8Error as error:
        return str(error)
    return FoundAttentionBackward(op, shapes)


def verdict_of_attention_backward(
    found: FoundAttentionBackward, costs: Costs
) -> tuple[Verdict, FoundAttentionBackward]:
    return Verdict(unknown="no time of the kernels is known"), found


def put_attention_backward(found: FoundAttentionBackward, calls: KernelCalls) -> None:
    """Put kernels in the place of the op; what they take of a row is computed before."""
    op, (of_keys, of_queries) = found.op, found.shapes
    q, k, v, out, gradient, lse = op.operands
    f32 = ir.F32Type.get()
    with ir.InsertionPoint(op), op.location:
        wide = ir.RankedTensorType.get(ir.RankedTensorType(out.type).shape, f32)
        delta = build("multiply", wide, [convert(out, f32), convert(gradient, f32)])
        delta = padded(reduced("add", delta, 0.0), 2, of_keys.stored_rows)
        lse = build("multiply", lse.type, [lse, number(lse.type, 1 / math.log(2))])
        lse = padded(lse, 2, of_keys.stored_rows, math.inf)
        given = [q, k, v, gradient, lse, delta]
        made: list[ir.Value] = []
        for shape, like in ((of_queries, [q]), (of_keys, [k, v])):
            workspace = ir.RankedTensorType.get([shape.workspace], ir.IntegerType.get_signless(8))
            results = [*(each.type for each in like), workspace]
            made += calls.build(attention_backward_kernel(shape), given, results)[:-1]
    replace_op(op, made)
