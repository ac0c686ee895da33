"""Values computed from constants alone, on which upstream's folders would run."""

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field

from torch_mlir import ir

from mlir_fp8.base.operations import operations


def of_constants(functions: Iterable[ir.Operation]) -> list[bool]:
    """Whether the first operands may become constants.

    Of tensors, they keep math ops from upstream's folders in the body of a `linalg.generic`.
    """
    constants = Constants()
    return [constants.may_hold(op.operands[0]) for op in functions]


@dataclass
class Constants:
    """Which values are computed from constants, with a cache."""

    _known: dict[ir.Value, bool] = field(default_factory=dict)

    def may_hold(self, value: ir.Value) -> bool:
        """Whether `value` depends on nothing but constants, sizes and induction variables."""
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
                self._known[needed] = True  # in a cycle, the initial value decides
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
    # A loop's arguments: induction variables and loop-carried values.
    for operand in op.operands:
        if (yield operand):
            return True
    return False
