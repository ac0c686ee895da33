"""`math-freeze-constants`: functions of constants are computed as all others are.

Upstream's folders compute them by the C library of the machine that compiles, in f32 to within some
ULP, and take atan2(0, 0) for NaN. They do not look through `llvm.freeze`, which
`math-expand-in-f64` takes away.
"""

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.llvm.math_expand_in_f64 import FREEZE, has_expansion


@dataclass(frozen=True)
class MathFreezeConstants(ModulePass):
    """Freeze the first operand of scalar functions that `math-expand-in-f64` knows.

    Only where canonicalization may make a constant of it: what is computed from constants alone.
    What is frozen already is not any more.
    """

    def run(self, module: ir.Operation) -> None:
        constants = _Constants()
        ops = operations(module)
        functions = [op for op in ops if has_expansion(op)]
        for op in [op for op in ops if op.name == FREEZE]:
            op.results[0].replace_all_uses_with(op.operands[0])
            op.erase()
        for op in functions:
            if not isinstance(op.results[0].type, ir.FloatType):
                continue
            operand = op.operands[0]
            if constants.may_hold(operand):
                with ir.InsertionPoint(op), op.location:
                    frozen = ir.Operation.create(FREEZE, [operand.type], [operand])
                op.operands[0] = frozen.results[0]


def of_constants(functions: Iterable[ir.Operation]) -> list[bool]:
    """Whether the first operands may become constants.

    Of tensors, they keep math ops from upstream's folders in the body of a `linalg.generic`.
    """
    constants = _Constants()
    return [constants.may_hold(op.operands[0]) for op in functions]


@dataclass
class _Constants:
    _known: dict[ir.Value, bool] = field(default_factory=dict)

    def may_hold(self, value: ir.Value) -> bool:
        """Whether nothing but constants, sizes and counters of loops makes `value`."""
        answer = self._known.get(value)
        # Chains of ops may be longer than Python's stack.
        asked = [] if answer is not None else [(value, _is_made_of_constants(value))]
        while asked:
            value, question = asked[-1]
            try:
                needed = question.send(answer)
            except StopIteration as end:
                answer = self._known[value] = end.value
                asked.pop()
                continue
            answer = self._known.get(needed)
            if answer is None:
                self._known[needed] = True  # of a loop that goes round, what comes in decides
                asked.append((needed, _is_made_of_constants(needed)))
        return self._known[value]


_Question = Generator[ir.Value, bool | None, bool]
"""Gives values, is sent whether constants make them, and returns the answer."""


def _is_made_of_constants(value: ir.Value) -> _Question:
    if isinstance(value.owner, ir.Block):
        return (yield from _is_argument_of_constants(ir.BlockArgument(value)))
    op = value.owner.operation
    if op.name == "linalg.index":
        return False
    if op.name in ("arith.select", "scf.if") and (yield op.operands[0]):
        return True
    # Also what its regions read from outside.
    inside = operations(op) if len(op.regions) else [op]
    for each in inside:
        for operand in each.operands:
            if not (yield operand):
                return False
    return True


def _is_argument_of_constants(argument: ir.BlockArgument) -> _Question:
    op = argument.owner.owner.operation
    if op.name == "func.func":
        return False
    if op.name.startswith("linalg."):
        return bool((yield op.operands[argument.arg_number]))
    # A loop's: counters, and what may go round once.
    for operand in op.operands:
        if (yield operand):
            return True
    return False
