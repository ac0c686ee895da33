"""Elementwise ops of StableHLO on vectors in a kernel.

Ops on bf16 and f16 are the hardware's, which takes two numbers at a time and rounds once, as
StableHLO says; divisions and functions are computed in f32 and rounded. Of a quotient and a square
root that is the same (see `product/rounding`), functions are approximate: `functions`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels import functions
from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS
from mlir_fp8.lowering.gpu.kernels.text import GpuText

_BINARY = {
    "add": "addf",
    "subtract": "subf",
    "multiply": "mulf",
    "divide": "divf",
    "maximum": "maximumf",
    "minimum": "minimumf",
}
_LOGICAL = {"and": "andi", "or": "ori"}
_FUNCTIONS: dict[str, Callable[[GpuText, str], str]] = {
    "exponential": functions.exponential,
    "logistic": functions.sigmoid,
    "rsqrt": functions.rsqrt,
    "sqrt": functions.sqrt,
    "tanh": functions.tanh,
}
_COARSE = {("tanh", "bf16"): functions.coarse_tanh}
"""Where that is within 1/8 of a last place before it is rounded."""
DIRECTIONS = {"EQ": "oeq", "NE": "une", "LT": "olt", "LE": "ole", "GT": "ogt", "GE": "oge"}
OPS = frozenset(
    {*_BINARY, *_LOGICAL, *_FUNCTIONS, "abs", "clamp", "compare", "convert", "negate", "select"}
)
COSTLY = frozenset({"divide", *_FUNCTIONS})


@dataclass(frozen=True)
class Step:
    """An op of StableHLO, `op`, on earlier values: inputs first, then steps.

    `element` is that of its result, also i1. `detail` is the direction of a "compare"; or the bits
    of a "constant", in hexadecimal.
    """

    op: str
    operands: tuple[int, ...]
    element: str
    detail: str = ""


def computed(text: GpuText, step: Step, operands: Sequence[str], of: str, lanes: int) -> str:
    """A vector of `step.element`; its operands, but flags of a "select", are of type `of`."""
    type_, source = f"vector<{lanes}x{step.element}>", f"vector<{lanes}x{of}>"
    if step.op == "constant":
        return text.constant(f"dense<{step.detail}> : {type_}")
    if step.op in _FUNCTIONS or (step.op == "divide" and step.element != "f32"):
        return _in_f32(text, step, operands, lanes)
    if name := {**_BINARY, **_LOGICAL}.get(step.op):
        return text.value(f"arith.{name} {', '.join(operands)} : {type_}")
    if step.op == "negate":
        return text.value(f"arith.negf {operands[0]} : {type_}")
    if step.op == "abs":
        return _abs(text, operands[0], step.element, lanes)
    if step.op == "clamp":
        low, x, high = operands
        raised = text.value(f"arith.maximumf {low}, {x} : {type_}")
        return text.value(f"arith.minimumf {raised}, {high} : {type_}")
    if step.op == "compare":
        return text.value(f"arith.cmpf {DIRECTIONS[step.detail]}, {', '.join(operands)} : {source}")
    if step.op == "select":
        return text.value(f"arith.select {', '.join(operands)} : vector<{lanes}xi1>, {type_}")
    return _converted(text, operands[0], of, step.element, lanes)


def _converted(text: GpuText, x: str, of: str, element: str, lanes: int) -> str:
    if of == element:
        return x
    if of != "f32":
        x = text.value(f"arith.extf {x} : vector<{lanes}x{of}> to vector<{lanes}xf32>")
    if element == "f32":
        return x
    return text.value(f"arith.truncf {x} : vector<{lanes}xf32> to vector<{lanes}x{element}>")


def _abs(text: GpuText, x: str, element: str, lanes: int) -> str:
    stored, type_ = ELEMENTS[element].vector(lanes), f"vector<{lanes}x{element}>"
    bits = text.value(f"vector.bitcast {x} : {type_} to {stored}")
    mask = text.constant(f"dense<{(1 << (ELEMENTS[element].bits - 1)) - 1}> : {stored}")
    size = text.value(f"arith.andi {bits}, {mask} : {stored}")
    return text.value(f"vector.bitcast {size} : {stored} to {type_}")


def _in_f32(text: GpuText, step: Step, operands: Sequence[str], lanes: int) -> str:
    wide = [_converted(text, each, step.element, "f32", lanes) for each in operands]
    if step.op == "divide":
        found = text.value(f"arith.divf {', '.join(wide)} : vector<{lanes}xf32>")
    else:
        function = _COARSE.get((step.op, step.element), _FUNCTIONS[step.op])
        each = [
            text.value(f"vector.extract {wide[0]}[{i}] : f32 from vector<{lanes}xf32>")
            for i in range(lanes)
        ]
        made = ", ".join(function(text, x) for x in each)
        found = text.value(f"vector.from_elements {made} : vector<{lanes}xf32>")
    return _converted(text, found, "f32", step.element, lanes)
