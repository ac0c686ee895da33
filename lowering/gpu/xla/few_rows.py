"""Products of few rows by f8 weights: which they are, weight-only ones too, and their kernels."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import is_used, producer
from mlir_fp8.dialects._fp8_product_parts import product_parts
from mlir_fp8.lowering.fp8.scaled_dot.uses import users
from mlir_fp8.lowering.fp8.xla_gpu.refusals import NO_E5M2, are_both_e5m2
from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS
from mlir_fp8.lowering.gpu.kernels.few_rows.kernel import few_rows_kernel
from mlir_fp8.lowering.gpu.kernels.few_rows.shape import MOST_ROWS, FewRows
from mlir_fp8.lowering.gpu.kernels.few_rows.shares import fitted, shared_out
from mlir_fp8.lowering.gpu.kernels.product.shape import FORMATS, Epilogue
from mlir_fp8.lowering.gpu.xla.calls import KernelCalls
from mlir_fp8.lowering.gpu.xla.costs import Costs, Verdict, product_verdict
from mlir_fp8.lowering.gpu.xla.product_dims import Dims, dims_of
from mlir_fp8.lowering.gpu.xla.products import (
    epilogue_of,
    matrix,
    reshaped,
    scales_and_bias,
    steps_refusal,
)
from mlir_fp8.lowering.gpu.xla.times import FORMS, kind_of_few_rows
from mlir_fp8.lowering.rewriting.stablehlo import element_type

_DEAD = ("stablehlo.convert", "stablehlo.broadcast_in_dim")
"""What nothing reads any more when a kernel has its codes and its scale."""
DOT, SCALED_DOT = "stablehlo.dot_general", "fp8.scaled_dot"
FORM = FORMS["few_rows"]
"""What candidates differ in."""


@dataclass(frozen=True)
class FewRowsProduct:
    """A dot, what it multiplies, and the ops behind it that its kernel computes too."""

    op: ir.Operation
    a: ir.Value
    b: ir.Value
    others: Callable[[], list[ir.Value]]
    """Builds the scales and the bias, as the kernel takes them."""
    shape: FewRows
    dims: Dims
    result: ir.Value
    """What the kernel gives."""
    joined: Sequence[ir.Operation] = ()
    """From the last on, behind the dot."""


def is_weight_only(op: ir.Operation) -> bool:
    """Whether `op` is a dot of wide numbers by f8 codes, widened."""
    if op.name != DOT:
        return False
    left, right = (_codes(each) for each in list(op.operands)[:2])
    return right is not None and left is None


def few_rows_of(op: ir.Operation) -> FewRowsProduct | str:
    """What is known of a dot of either kind; or why no kernel of few rows computes it."""
    types = [ir.RankedTensorType(each.type) for each in list(op.operands)[:2]]
    if not all(each.has_static_shape for each in types):
        return "its sizes are not known"
    dims = dims_of(op)
    if dims.has_batches:
        return "it has batches"
    rows = math.prod(types[0].shape[i] for i in dims.free[0])
    if not 1 <= rows <= MOST_ROWS:
        return f"it has {rows} rows, not 1 to {MOST_ROWS}"
    if not dims.is_matrix:
        return "its weights are no matrix as they lie in memory"
    try:
        return (_scaled if op.name == SCALED_DOT else _weight_only)(op, dims, rows)
    except Fp8Error as error:
        return str(error)


def _shape(a: ir.Value, b: ir.Value, dims: Dims, rows: int, epilogue: Epilogue) -> FewRows:
    sizes = list(ir.RankedTensorType(b.type).shape)
    n, k = (math.prod(sizes[i] for i in each) for each in (dims.free[1], dims.contracted[1]))
    shape = FewRows(
        rows,
        n,
        k,
        str(element_type(a)),
        str(element_type(b)),
        epilogue,
        k_major=dims.k_major or k == 1,
    )
    return shared_out(shape)


def _scaled(op: ir.Operation, dims: Dims, rows: int) -> FewRowsProduct | str:
    parts = product_parts(op)
    reason = "it adds c" if parts.c is not None else steps_refusal(parts)
    if reason:
        return reason
    epilogue = epilogue_of(parts, dims)
    if isinstance(epilogue, str):
        return epilogue
    shape = _shape(parts.a, parts.b, dims, rows, epilogue)

    def others() -> list[ir.Value]:
        return scales_and_bias(parts, dims)

    return FewRowsProduct(op, parts.a, parts.b, others, shape, dims, op.results[0])


def _codes(x: ir.Value) -> ir.Value | None:
    """The f8 codes that `x` is the numbers of."""
    op = producer(x)
    if op is None or op.name != "stablehlo.convert":
        return None
    return op.operands[0] if str(element_type(op.operands[0])) in FORMATS else None


def _weight_only(op: ir.Operation, dims: Dims, rows: int) -> FewRowsProduct | str:
    if "algorithm" in op.attributes:
        return "an algorithm is asked for"
    a, codes = op.operands[0], _codes(op.operands[1])
    assert codes is not None
    if str(element_type(a)) not in ELEMENTS:
        return f"its activations are of {element_type(a)}"
    result = op.results[0]
    if str(element_type(result)) not in ELEMENTS:
        return f"its result is of {element_type(result)}"
    dot_type = str(element_type(result))
    joined: list[ir.Operation] = []
    scales: list[ir.Value] = []
    kind = ""
    found = _scaling(result, dims) if dot_type == "f32" else None
    if found is not None:
        multiply, scale, kind = found
        scales, result = [scale], multiply.results[0]
        joined.insert(0, multiply)
    narrowing = _only_user(result, "stablehlo.convert")
    if narrowing is not None and str(element_type(narrowing.results[0])) in ELEMENTS:
        result = narrowing.results[0]
        joined.insert(0, narrowing)
    epilogue = Epilogue("", kind, dot_type, dot_type, result=str(element_type(result)))
    shape = _shape(a, codes, dims, rows, epilogue)

    def others() -> list[ir.Value]:
        return [_one_dimension(each) for each in scales]

    return FewRowsProduct(op, a, codes, others, shape, dims, result, joined)


def _only_user(x: ir.Value, name: str) -> ir.Operation | None:
    found = users(x)
    if len(list(x.uses)) != 1 or found[0].name != name:
        return None
    return found[0]


def _scaling(x: ir.Value, dims: Dims) -> tuple[ir.Operation, ir.Value, str] | None:
    """The product of `x`, f32, by a scale that is broadcast: the op, the scale, its kind."""
    op = _only_user(x, "stablehlo.multiply")
    if op is None:
        return None
    (other,) = (each for each in op.operands if each != x)
    spread = producer(other)
    if spread is None or spread.name != "stablehlo.broadcast_in_dim":
        return None
    scale = spread.operands[0]
    type_ = ir.RankedTensorType(scale.type)
    if math.prod(type_.shape) == 1:
        return op, scale, "tensor"
    last = ir.RankedTensorType(x.type).rank - 1
    to = list(ir.DenseI64ArrayAttr(spread.attributes["broadcast_dimensions"]))
    sizes = list(type_.shape)
    if (
        len(dims.free[1]) == 1
        and to == [last]
        and sizes == [ir.RankedTensorType(x.type).shape[last]]
    ):
        return op, scale, "column"
    return None


def kind_of(found: FewRowsProduct) -> str:
    """As the table spells it."""
    has_codes = found.shape.a_type in FORMATS
    return kind_of_few_rows(has_codes=has_codes, k_major=found.shape.k_major)


def verdict_of_few_rows(found: FewRowsProduct, costs: Costs) -> tuple[Verdict, FewRowsProduct]:
    """By the times of the nearest product; and `found` in the form that was fastest there."""
    shape = found.shape
    size = (shape.rows, shape.n, shape.k)
    verdict, timed = product_verdict(costs, "few_rows", kind_of(found), size)
    if found.op.name == SCALED_DOT and are_both_e5m2(product_parts(found.op)):
        verdict = Verdict(alone=NO_E5M2)
    if timed is None:
        return verdict, found
    chosen: dict[str, Any] = dict(zip(FORM, timed.form, strict=True))
    made = dataclasses.replace(shape, **chosen)
    return verdict, dataclasses.replace(found, shape=fitted(made))


def put_few_rows(found: FewRowsProduct, calls: KernelCalls) -> None:
    """Put a kernel in the place of the op, and of those behind it that it computes."""
    op, shape = found.op, found.shape
    last = found.joined[0] if found.joined else op
    result = ir.RankedTensorType(found.result.type)
    with ir.InsertionPoint(last), op.location:
        operands = [matrix(found.a, found.dims.free[0], found.dims.contracted[0])]
        sizes = [shape.n, shape.k] if shape.k_major else [shape.k, shape.n]
        operands.append(reshaped(found.b, sizes))
        operands += found.others()
        made_type = ir.RankedTensorType.get([shape.rows, shape.n], result.element_type)
        (made,) = calls.build(few_rows_kernel(shape), operands, [made_type])
        found.result.replace_all_uses_with(reshaped(made, list(result.shape)))
    made_for_it = [producer(x) for each in (*found.joined, op) for x in each.operands]
    for each in (*found.joined, op):
        each.erase()
    for each in made_for_it:
        if each is not None and each.name in _DEAD and not is_used(each.results[0]):
            each.erase()


def _one_dimension(x: ir.Value) -> ir.Value:
    return reshaped(x, [math.prod(ir.RankedTensorType(x.type).shape)])
