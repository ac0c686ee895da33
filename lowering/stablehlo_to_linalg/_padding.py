"""Whether a reduction may leave out its padding: elements that are the initial value once more."""

import re
from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.lowering.rewriting.stablehlo import element_type, names

_IDEMPOTENT = names("stablehlo", "and maximum minimum or")
_KEEPS_NUMBER = names("stablehlo", "broadcast_in_dim convert reshape")
_NEUTRAL = {"stablehlo.add": 0.0, "stablehlo.multiply": 1.0}


def skips_padding(body: ir.Block, inits: Sequence[ir.Value]) -> bool:
    """Whether `body` gives the same with and without further `inits` among the elements.

    True where it is one op on the accumulator and the element: a maximum holds its initial value
    already, and zero adds nothing (a sum that began with 0.0 is never -0.0).
    """
    computation = [op.operation for op in body.operations]
    if len(inits) != 1 or len(computation) != 2:
        return False
    op, terminator = computation
    arguments = list(body.arguments)
    if list(op.operands) not in (arguments, arguments[::-1]):
        return False
    if list(terminator.operands) != list(op.results):
        return False
    if op.name in _IDEMPOTENT:
        return True
    # A complex one times infinity is NaN.
    if op.name not in _NEUTRAL or isinstance(element_type(inits[0]), ir.ComplexType):
        return False
    return _number(inits[0]) == _NEUTRAL[op.name]


def _number(value: ir.Value) -> float | None:
    """The real number that `value`, of rank 0, is known to be."""
    op = value.owner
    while not isinstance(op, ir.Block) and op.name in _KEEPS_NUMBER:
        op = op.operands[0].owner
    if isinstance(op, ir.Block) or op.name != "stablehlo.constant":
        return None
    # The text: the bindings can read no f8. Codes are of none of the neutral numbers.
    text = re.match(r"dense<([-+.\de]+)>", str(op.attributes["value"]))
    return None if text is None else float(text[1])
