"""`custom_call @shape_assertion`: constraints of a producer on sizes, checked.

Upstream's `stablehlo-check-shape-assertions` refuses a module with an assertion that is not yet
constant; here the constant ones are checked first.
"""

import re

from torch_mlir import ir

from mlir_fp8.base.context import format_location
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.frontend.sizes.dynamic import is_assertion

_PLACEHOLDER = re.compile(r"\{(\d+)\}")


def check_assertions(ops: list[ir.Operation]) -> None:
    """Erase the assertions among `ops` that hold; `Fp8Error` with the text of one that does not.

    `{0}` in its `error_message` is the first of the sizes that follow its truth value, as JAX has
    it. What is not known yet stays.
    """
    for op in [op for op in ops if is_assertion(op)]:
        truth, *inputs = [_number(operand) for operand in op.operands]
        if truth == 0:
            raise Fp8Error(f"{format_location(op.location)}: {_message(op, inputs)}")
        if truth is not None and not op.results:
            op.erase()


def _message(op: ir.Operation, inputs: list[int | None]) -> str:
    """On one line, as all errors are."""
    text = ir.StringAttr(op.attributes["error_message"]).value

    def filled(found: re.Match[str]) -> str:
        index = int(found[1])
        known = inputs[index] if index < len(inputs) else None
        return found[0] if known is None else str(known)

    return " ".join(_PLACEHOLDER.sub(filled, text).split())


def _number(value: ir.Value) -> int | None:
    """The element of a constant of one integer or truth value."""
    if not isinstance(value, ir.OpResult) or value.owner.name != "stablehlo.constant":
        return None
    attribute = value.owner.attributes["value"]
    if not isinstance(attribute, ir.DenseIntElementsAttr) or len(attribute) != 1:
        return None
    return int(attribute[0])
