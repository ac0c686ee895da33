"""Elementwise ops in front of a quantization, which its kernel computes itself.

XLA else computes them in a kernel of its own, and writes what is then read once. An op that others
use too is computed twice, as XLA does, unless what it is made of has more bytes than its result.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from torch_mlir import ir

from mlir_fp8.base.operations import defining_op, erase_with_producers, producer
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.dialects.float_reference import encode
from mlir_fp8.lowering.fp8.scaled_dot.uses import users
from mlir_fp8.lowering.fp8.scaled_dot.values import splat_number
from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS
from mlir_fp8.lowering.gpu.kernels.elementwise import COSTLY, Step
from mlir_fp8.lowering.gpu.kernels.prologue import (
    MOST_BYTES,
    MOST_COSTLY,
    MOST_STEPS,
    Input,
    Prologue,
)
from mlir_fp8.lowering.gpu.xla.elementwise import (
    FUSED,
    STEPS,
    direction_of,
    inner_ops,
    is_of_dot,
    is_taken,
    spread_of,
)
from mlir_fp8.lowering.rewriting.stablehlo import element_type, names

_Place = tuple[ir.Value, str]
_PURE = frozenset(STEPS) | names("stablehlo", "broadcast_in_dim constant reduce reshape")


@dataclass(frozen=True)
class FoundPrologue:
    """A prologue, and what its inputs are."""

    prologue: Prologue
    operands: list[ir.Value]

    def __str__(self) -> str:
        matrices = sum(each.varies == "all" for each in self.prologue.inputs)
        ops = sum(each.op != "constant" for each in self.prologue.steps)
        return f"with {ops} ops on {matrices} tensor{'s' * (matrices > 1)} in front of it"


def prologue_of(source: ir.Value, most_bytes: int = MOST_BYTES) -> FoundPrologue | str:
    """The ops that make `source`; else why they are left to XLA, empty where there are none.

    Of what they read a thread holds `most_bytes` for each element.
    """
    root = producer(source)
    if root is None or not is_taken(root, root):
        return ""
    for user in users(source):
        others = users(user.results[0]) if user.name == "stablehlo.convert" else [user]
        for each in others:
            if not _is_quantization(each):
                return f"'{each.name}' uses what is quantized too"
    taken = _ops_of(root)
    if isinstance(taken, str):
        return taken
    found = _found(taken)
    if isinstance(found, str):
        return found
    return _limit(found.prologue, ELEMENTS[str(element_type(source))].lanes, most_bytes) or found


def _is_quantization(op: ir.Operation) -> bool:
    """Whether `op`, a user of what is quantized, is that or a step to its amax."""
    if op.name == "stablehlo.reshape":
        return all(each.name == "stablehlo.abs" for each in users(op.results[0]))
    return op.name in ("fp8.quantize", "stablehlo.abs")


def erase_unused(value: ir.Value) -> None:
    """Erase the ops that make `value`, where nothing uses them."""
    op = producer(value)
    if op is not None and op.name in _PURE:
        erase_with_producers(op, lambda each: each.name in _PURE)


def _found(taken: list[ir.Operation]) -> FoundPrologue | str:
    made = {op.results[0] for op in taken}
    inputs: dict[_Place, Input] = {}
    for operand in (each for op in taken for each in op.operands):
        if operand in made or splat_number(operand) is not None:
            continue
        if _is_made_for(operand, taken):
            return f"XLA would write '{defining_op(operand).name}' for it"
        value, varies = _read(operand)
        inputs[value, varies] = Input(str(element_type(value)), varies)
    prologue = Prologue(tuple(inputs.values()), _steps(taken, list(inputs)))
    return FoundPrologue(prologue, [value for value, _ in inputs])


def _read(operand: ir.Value) -> _Place:
    """The value that is read for an operand, and with what of a matrix it varies."""
    return spread_of(operand) or (operand, "all")


def _steps(taken: list[ir.Operation], inputs: list[_Place]) -> tuple[Step, ...]:
    """Steps that number `inputs` first; equal ones are one."""
    steps: dict[Step, int] = {}
    made: dict[ir.Value, int] = {}

    def placed(step: Step) -> int:
        return steps.setdefault(step, len(inputs) + len(steps))

    def place_of(value: ir.Value) -> int:
        if value in made:
            return made[value]
        number = splat_number(value)
        if number is None:
            return inputs.index(_read(value))
        element = str(element_type(value))
        return placed(Step("constant", (), element, _bits(number, element)))

    for op in taken:
        places = [place_of(each) for each in op.operands] * (1 + (op.name == "chlo.square"))
        element = str(element_type(op.results[0]))
        step = Step(STEPS[op.name], tuple(places), element, direction_of(op))
        made[op.results[0]] = placed(step)
    return tuple(steps)


def _limit(prologue: Prologue, lanes: int, most_bytes: int) -> str:
    """What of a prologue is too much for a thread's registers, or for its time."""
    if not prologue.bytes:
        return "it reads no tensor of that shape"
    if prologue.words(lanes) > most_bytes * lanes // 4:
        return f"its {len(prologue.inputs)} inputs are too many for registers"
    costly = sum(each.op in COSTLY for each in prologue.steps)
    return f"{costly} divisions and functions make it" if costly > MOST_COSTLY else ""


def _ops_of(root: ir.Operation) -> list[ir.Operation] | str:
    """The ops from which `root` follows elementwise, in the order of the program, and `root`."""
    taken: list[ir.Operation] = []
    pending = [root]
    while pending:
        op = pending[0]
        for each in pending[1:]:
            op = each if op.is_before_in_block(each) else op
        pending.remove(op)
        if taken and _is_better_read(op, taken):
            continue
        taken.append(op)
        if len(taken) > MOST_STEPS:
            return f"more than {MOST_STEPS} ops make it"
        pending += [each for each in inner_ops(op, root) if each not in pending]
    return taken[::-1]


def _is_better_read(op: ir.Operation, taken: list[ir.Operation]) -> bool:
    """Whether others use the result of `op` too, and reading it is less than what it is made of."""
    result = op.results[0]
    if str(element_type(result)) == "i1" or all(each in taken for each in users(result)):
        return False
    leaves: set[ir.Value] = set()
    seen, pending = 0, [op]
    while pending and seen <= MOST_STEPS:
        each, seen = pending.pop(), seen + 1
        inner = inner_ops(each, op)
        pending += inner
        made = [other.results[0] for other in inner]
        leaves |= {x for x in each.operands if x not in made and _is_matrix(x)}
    return bool(pending) or sum(map(_bytes, leaves)) > _bytes(result)


def _bytes(value: ir.Value) -> int:
    return ELEMENTS[str(element_type(value))].size


def _is_matrix(value: ir.Value) -> bool:
    """Whether `value`, an operand, has to be read element by element."""
    return splat_number(value) is None and spread_of(value) is None


def _is_made_for(value: ir.Value, taken: list[ir.Operation]) -> bool:
    """Whether XLA would compute `value` where it is read, and write it for the kernel alone."""
    if spread_of(value) is not None or not all(each in taken for each in users(value)):
        return False
    op = producer(value)
    while op is not None and op.name == "stablehlo.reshape":
        op = producer(op.operands[0])
    return op is not None and op.name in FUSED and not is_of_dot(op)


def _bits(number: float, element: str) -> str:
    exact = number if not number or not math.isfinite(number) else Fraction(number)
    return f"0x{encode(FORMATS[element], exact):0{ELEMENTS[element].bits // 4}X}"
