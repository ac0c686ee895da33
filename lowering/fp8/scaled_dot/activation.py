"""Activations: relu, and both forms of jax.nn.gelu, as trees of ops over one value."""

import math
from dataclasses import dataclass
from typing import Any

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.uses import other_number, users
from mlir_fp8.lowering.fp8.scaled_dot.values import is_positive_zero, rounded, splat_number
from mlir_fp8.lowering.rewriting.stablehlo import element_type

_DEPTH = 3
"""How far the last op of a gelu is from the value, along its shortest path."""

_SIZE = 16
"""More ops than any gelu has."""

Tree = str | float | tuple[Any, ...]
"""`"x"`, a constant rounded to the element type, or an op's name and its operands.

`add` and `multiply` take theirs in any order.
"""

_CUBE: Tree = ("multiply", "x", ("multiply", "x", "x"))
_INNER: Tree = ("add", "x", ("multiply", 0.044715, _CUBE))
_CDF: Tree = ("add", 1.0, ("tanh", ("multiply", math.sqrt(2 / math.pi), _INNER)))
_NEGATED: Tree = ("multiply", math.sqrt(0.5), ("negate", "x"))
_HALF: Tree = ("multiply", 0.5, "x")

_GELUS: dict[str, Tree] = {
    "gelu_tanh": ("multiply", "x", ("multiply", 0.5, _CDF)),
    "gelu_erf": ("multiply", _HALF, ("erfc", _NEGATED)),
}
"""As jax.nn.gelu writes them; each op rounds."""

_LAST_STEPS = ("tanh", "erfc", "erf")


def match_gelu(value: ir.Value) -> tuple[str, ir.Value] | None:
    """The gelu that all uses of `value` are part of: its name and its result."""
    gelu = _gelu_over(value)
    return None if gelu is None or gelu.strangers(value) else (gelu.name, gelu.last.results[0])


def almost_gelu(value: ir.Value) -> Obstacle | None:
    """What to say of a gelu over `value` that others take part in, or of another form."""
    gelu = _gelu_over(value)
    strangers = [] if gelu is None else gelu.strangers(value)
    if gelu is not None and not strangers:
        message = f"the {gelu.name} comes after another activation, or is in another type"
        edit = "apply it to the biased product at once, in the type of that"
        return Obstacle("step-order", "activation", message, gelu.last.location, edit)
    if gelu is not None:
        other = strangers[0]
        message = f"{other.name} also uses a value that the {gelu.name} is made of"
        edit = f"compute what {other.name} needs otherwise"
        return Obstacle("other-users", "activation", message, other.location, edit)
    ops = _reached(value, _SIZE)
    last = next((op for op in ops if op.name.partition(".")[2] in _LAST_STEPS), None)
    if last is None or len(users(value)) < 2:
        return None
    message = f"{last.name} of the result is part of no gelu with the form and constants of JAX's"
    edit = "write it as jax.nn.gelu does, constants rounded; its derivative alone stays outside"
    return Obstacle("gelu-form", "activation", message, last.location, edit)


@dataclass(frozen=True)
class _Gelu:
    name: str
    last: ir.Operation
    parts: list[ir.Operation]

    def strangers(self, value: ir.Value) -> list[ir.Operation]:
        """The ops that use `value`, or what becomes of it on the way, for something else."""
        results = [value, *(part.results[0] for part in self.parts if part != self.last)]
        return [op for result in results for op in users(result) if op not in self.parts]


def _gelu_over(value: ir.Value) -> _Gelu | None:
    for last in _reached(value, _DEPTH):
        if last.block != ir.OpResult(value).owner.operation.block:
            continue
        for name, tree in _GELUS.items():
            parts: list[ir.Operation] = []
            if last.name == "stablehlo.multiply" and _matches(last.results[0], tree, value, parts):
                return _Gelu(name, last, parts)
    return None


def is_relu(op: ir.Operation, value: ir.Value) -> bool:
    """max(value, 0). With -0.0 it would give another zero for -0.0."""
    if op.name != "stablehlo.maximum":
        return False
    return is_positive_zero(op.operands[1] if op.operands[0] == value else op.operands[0])


def almost_relu(value: ir.Value) -> Obstacle | None:
    """What to say of a maximum with another constant, or of a select in place of it."""
    for op in users(value):
        number = other_number(op, value) if op.name == "stablehlo.maximum" else None
        if number is not None and not is_relu(op, value):
            message = f"{op.name} with {number} is no relu, which is the maximum with 0.0"
            return Obstacle("relu-constant", "activation", message, op.location, "max(x, 0.0)")
        if op.name == "stablehlo.select" and _selects_positive(op, value):
            message = "select by a comparison with 0 is no relu: it differs for NaN or for -0.0"
            edit = "write relu as max(x, 0.0)"
            return Obstacle("relu-select", "activation", message, op.location, edit)
    return None


def _selects_positive(op: ir.Operation, value: ir.Value) -> bool:
    condition = producer(op.operands[0])
    return (
        condition is not None
        and condition.name == "stablehlo.compare"
        and value in list(condition.operands)
        and any(splat_number(operand) == 0 for operand in condition.operands)
        and any(splat_number(operand) == 0 for operand in list(op.operands)[1:])
    )


def _reached(value: ir.Value, depth: int) -> list[ir.Operation]:
    """The ops that `value` goes into, nearest first, through at most `depth` of them."""
    found: list[ir.Operation] = []
    level = [value]
    for _ in range(depth):
        ops = [user for each in level for user in users(each) if len(user.results) == 1]
        ops = [op for index, op in enumerate(ops) if op not in found and op not in ops[:index]]
        found += ops[: max(0, _SIZE - len(found))]
        level = [op.results[0] for op in ops]
        if len(found) >= _SIZE:
            break
    return found


def _matches(value: ir.Value, tree: Tree, x: ir.Value, parts: list[ir.Operation]) -> bool:
    """Whether `value` is `tree` over `x`; the ops of it go to `parts`."""
    if isinstance(tree, str):
        return value == x
    if isinstance(tree, int | float):
        return splat_number(value) == rounded(tree, ir.RankedTensorType(x.type).element_type)
    op = producer(value)
    if op is None or value == x:
        return False
    if op.name == "stablehlo.convert" and tree[0] == "erfc":
        return _matches_in_f32(op, tree, x, parts)
    if op.name.partition(".")[2] != tree[0]:
        return False
    orders = [list(op.operands)]
    if tree[0] in ("add", "multiply"):
        orders.append(orders[0][::-1])
    for operands in orders:
        inner: list[ir.Operation] = []
        pairs = zip(operands, tree[1:], strict=True)
        if all(_matches(operand, branch, x, inner) for operand, branch in pairs):
            parts += [op, *inner]
            return True
    return False


def _matches_in_f32(
    convert: ir.Operation, tree: tuple[Any, ...], x: ir.Value, parts: list[ir.Operation]
) -> bool:
    """A function of f32 between two converts, which is what one of a narrow float is."""
    inner = producer(convert.operands[0])
    if inner is None or not isinstance(element_type(convert.operands[0]), ir.F32Type):
        return False
    widened = producer(inner.operands[0]) if inner.name == f"chlo.{tree[0]}" else None
    if widened is None or widened.name != "stablehlo.convert":
        return False
    same = element_type(widened.operands[0]) == element_type(x)
    parts += [convert, inner, widened]
    return same and _matches(widened.operands[0], tree[1], x, parts)
