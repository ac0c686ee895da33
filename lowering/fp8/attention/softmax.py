"""A softmax in f32 over the last dimension, found from its exponential."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8.attention.repeats import MOVES, moved, unmoved
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.spread import Part, Spread
from mlir_fp8.lowering.fp8.scaled_dot.uses import users
from mlir_fp8.lowering.fp8.scaled_dot.values import shape, splat_number
from mlir_fp8.lowering.rewriting.stablehlo import element_type

_LOWEST = -3.4028234663852886e38
_INFINITY = float("inf")


@dataclass(frozen=True)
class Softmax:
    """p = e / sum(e), e = exp(x - max(x)); with `is_safe` zeros where all x are -infinity.

    `largest` is the reduction to max(x), of x or of what x is moved from.
    """

    x: ir.Value
    p: ir.Value
    is_safe: bool
    largest: ir.Operation


@dataclass(frozen=True)
class _Row:
    """One number for each row of a tensor, over its last dimension, spread over another tensor."""

    reduce: ir.Operation
    spread: Spread
    start: float | None
    is_replaced: bool


def match_softmax(exponential: ir.Operation) -> Softmax | Obstacle | None:
    """The softmax around `exponential`; None where nothing of one is there."""
    e = exponential.results[0]
    difference = producer(exponential.operands[0])
    if difference is None or difference.name != "stablehlo.subtract":
        return None
    x, most = difference.operands
    largest = _row(most, "stablehlo.maximum", -_INFINITY, 0.0)
    if largest is None or not _is_of_rows(largest, x):
        return None
    if not isinstance(element_type(x), ir.F32Type):
        message = f"the softmax is in {element_type(x)}"
        return _refusal("softmax-type", message, exponential, "convert the scores to f32 before it")
    quotients = [op for op in users(e) if op.name == "stablehlo.divide"]
    if len(quotients) != 1 or quotients[0].operands[0] != e:
        message = "the exponentials are not divided by their sum before they weigh the values"
        return _refusal("softmax-form", message, exponential, "divide them before the second dot")
    total = _row(quotients[0].operands[1], "stablehlo.add", 0.0, 1.0)
    is_sum = total is not None and total.reduce.operands[0] == e and _is_of_rows(total, e)
    if total is None or not is_sum or total.start != 0:
        message = "the exponentials are divided by what is not their sum over the last dimension"
        return _refusal("softmax-form", message, quotients[0], "divide by the sum of the row")
    p = quotients[0].results[0]
    return _checked(Softmax(x, p, largest.is_replaced, largest.reduce), largest, total)


def _checked(found: Softmax, largest: _Row, total: _Row) -> Softmax | Obstacle:
    """`found`, unless its rows are others, or its numbers, or others want them."""
    op = largest.reduce
    starts = (-_INFINITY,) if found.is_safe else (-_INFINITY, _LOWEST)
    if largest.start not in starts:
        message = f"the largest of each row starts from {largest.start}"
        return _refusal("softmax-form", message, op, "start from -infinity")
    if largest.is_replaced != total.is_replaced:
        message = "only one of the largest and the sum is replaced where a row is hidden wholly"
        return _refusal("softmax-form", message, op, "replace both, as PyTorch does, or neither")
    e = total.reduce.operands[0]
    moved_from = largest.reduce.operands[0]
    for value, count in ((found.x, 2 if found.x == moved_from else 1), (moved_from, 2), (e, 2)):
        if len(users(value)) != count:
            message = "others use what the softmax goes through"
            return _refusal("other-users", message, producer(value) or op, "compute it twice")
    return found


def _row(value: ir.Value, body: str, replaced: float, by: float) -> _Row | None:
    """The reduction by `body` behind `value`, which has one number for each row.

    A number `replaced` may be replaced `by` another; the larger of -infinity and x is x.
    """
    chain: list[ir.Operation] = []
    is_replaced = False
    while (op := producer(value)) is not None and op.name != "stablehlo.reduce":
        if op.name in MOVES:
            chain.append(op)
            value = op.operands[0]
        elif op.name == "stablehlo.maximum" and _is_least(op):
            value = op.operands[1 if splat_number(op.operands[0]) is not None else 0]
        elif op.name == "stablehlo.select" and not is_replaced:
            if not _replaces(op, replaced, by):
                return None
            is_replaced, value = True, unmoved(op.operands[2])
        else:
            return None
    if op is None or not _reduces(op, body, len(shape(op.operands[0])) - 1):
        return None
    spread: Spread | None = Spread.whole(value)
    for each in reversed(chain):
        spread = None if spread is None else moved(spread, each)
    if spread is None:
        return None
    return _Row(op, spread, splat_number(op.operands[1]), is_replaced)


def _is_of_rows(row: _Row, x: ir.Value) -> bool:
    """Whether each element of `x` meets the number of its row, along the last dimension."""
    reduced, chain, root = row.reduce.operands[0], [], x
    while root != reduced and (op := producer(root)) is not None and op.name in MOVES:
        chain.append(op)
        root = op.operands[0]
    spread: Spread | None = Spread.whole(reduced)
    for each in reversed(chain):
        spread = None if spread is None else moved(spread, each)
    if root != reduced or spread is None:
        return False
    last = len(shape(reduced)) - 1
    met = [
        tuple(Part(None, part.size) if part.key and part.key[0] == last else part for part in parts)
        for parts in spread.dims
    ]
    is_last = spread.dims[-1] == Spread.whole(reduced).dims[-1]
    return is_last and tuple(met) == row.spread.dims


def _is_least(op: ir.Operation) -> bool:
    return -_INFINITY in (splat_number(operand) for operand in op.operands)


def _replaces(select: ir.Operation, replaced: float, by: float) -> bool:
    test, value = producer(unmoved(select.operands[0])), unmoved(select.operands[2])
    if test is None or test.name != "stablehlo.compare":
        return False
    one, other = map(unmoved, test.operands)
    if "EQ" not in str(test.attributes["comparison_direction"]) or value not in (one, other):
        return False
    is_number = splat_number(other if one == value else one) == replaced
    return is_number and splat_number(select.operands[1]) == by


def _reduces(op: ir.Operation, body: str, dimension: int) -> bool:
    if len(op.results) != 1 or list(ir.DenseI64ArrayAttr(op.attributes["dimensions"])) != [
        dimension
    ]:
        return False
    block = op.regions[0].blocks[0]
    first, *rest = block.operations
    return (
        first.operation.name == body
        and len(rest) == 1
        and set(first.operation.operands) == set(block.arguments)
        and list(rest[0].operation.operands) == [first.operation.results[0]]
    )


def _refusal(kind: str, message: str, op: ir.Operation, edit: str) -> Obstacle:
    return Obstacle(kind, "softmax", message, op.location, edit)
