"""Where the other judges are wrong: one row each, with an example that a test runs.

A row excuses a difference only where its `applies` holds for the one op that makes it, on the very
operands that native code had. The example is still wrong, else its test fails and the row goes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, nan

import numpy as np
from builder import Op

from mlir_fp8.arrays import element_dtype
from mlir_fp8.dialects.float_formats import FORMATS, NARROW_FLOATS, SMALL_FLOATS
from mlir_fp8.dialects.float_reference import encode


@dataclass(frozen=True)
class JudgeFault:
    """One fault of `judges`: where it is to be expected, why, and an example."""

    judges: tuple[str, ...]
    name: str
    applies: Callable[[Op], bool]
    reason: str
    example: str
    """A module without arguments and with one result."""
    truth: np.ndarray
    """The right result of the example."""
    shown_by: str
    """What says that this is right."""


EXACT = "exact rational arithmetic (float_reference.py)"


def codes(element: str, *numbers: Fraction | float) -> np.ndarray:
    """The numbers in `element`, each rounded once, by the exact reference."""
    fmt = FORMATS[element]
    found = [encode(fmt, number) for number in numbers]
    return np.array(found, f"uint{fmt.storage_bits}").view(fmt.dtype)


def _module(result: str, *lines: str) -> str:
    """A module that gives the value %r of type `result`."""
    return "\n".join(
        ["func.func @main() -> " + result + " {", *lines, f"return %r : {result}", "}"]
    )


def _constant(name: str, type_: str, text: str) -> str:
    return f"%{name} = stablehlo.constant dense<{text}> : {type_}"


def _named(*names: str) -> Callable[[Op], bool]:
    full = frozenset(f"stablehlo.{name}" for name in names)
    return lambda op: op.name in full


def _gives(op: Op, elements: Sequence[str]) -> bool:
    return any(value.element in elements for value in op.results)


def _takes(op: Op, elements: Sequence[str]) -> bool:
    return any(value.element in elements for value in op.operands)


_SUMS = _named("dot_general", "convolution", "reduce", "reduce_window")
_ROUNDING = _named("floor", "ceil", "round_nearest_afz", "round_nearest_even")
_WITHOUT_NAN = tuple(name for name, fmt in FORMATS.items() if not fmt.has_nan)
_UNSIGNED = ("ui8", "ui16", "ui32", "ui64")

_BOTH = ("interpreter", "xla")

JUDGE_FAULTS: tuple[JudgeFault, ...] = (
    JudgeFault(
        _BOTH,
        "sums of narrow floats",
        lambda op: _SUMS(op) and _gives(op, tuple(NARROW_FLOATS)),
        "rounds to the declared type after every addition, where the rule is to add in f32",
        _module(
            "tensor<f8E4M3FN>",
            _constant("a", "tensor<3xf8E4M3FN>", "[16.0, 1.0, 1.0]"),
            _constant("z", "tensor<f8E4M3FN>", "0.0"),
            "%r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0]"
            " : (tensor<3xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<f8E4M3FN>",
        ),
        codes("f8E4M3FN", 18.0)[0],
        EXACT,
    ),
    JudgeFault(
        ("interpreter",),
        "logistic of small floats",
        lambda op: op.name == "stablehlo.logistic" and _gives(op, tuple(SMALL_FLOATS)),
        "rounds each step of 1 / (1 + exp(-x)) to the small float",
        _module(
            "tensor<f8E4M3FN>",
            _constant("a", "tensor<f8E4M3FN>", "-3.5"),
            "%r = stablehlo.logistic %a : tensor<f8E4M3FN>",
        ),
        codes("f8E4M3FN", 1 / (1 + np.exp(3.5)))[0],
        EXACT,
    ),
    JudgeFault(
        ("interpreter",),
        "rounding f8E3M4 to integers",
        lambda op: _ROUNDING(op) and _gives(op, ("f8E3M4",)),
        "gives other numbers than integers",
        _module(
            "tensor<f8E3M4>",
            _constant("a", "tensor<f8E3M4>", "2.5"),
            "%r = stablehlo.floor %a : tensor<f8E3M4>",
        ),
        codes("f8E3M4", floor(2.5))[0],
        EXACT,
    ),
    JudgeFault(
        _BOTH,
        "NaN to types without NaN",
        lambda op: _gives(op, _WITHOUT_NAN),
        "makes of NaN whatever number its mantissa's first bits stand for; it is a zero",
        _module(
            "tensor<f4E2M1FN>",
            _constant("a", "tensor<f32>", "0x7FC00000"),
            "%r = stablehlo.convert %a : (tensor<f32>) -> tensor<f4E2M1FN>",
        ),
        codes("f4E2M1FN", nan)[0],
        "ml_dtypes, whose rule this is",
    ),
    JudgeFault(
        _BOTH,
        "zero to f8E8M0FNU",
        lambda op: _gives(op, ("f8E8M0FNU",)),
        "gives 2^-127 for zero, which the format has no code for, so that it is NaN",
        _module(
            "tensor<f8E8M0FNU>",
            _constant("a", "tensor<f32>", "0.0"),
            "%r = stablehlo.convert %a : (tensor<f32>) -> tensor<f8E8M0FNU>",
        ),
        codes("f8E8M0FNU", nan)[0],
        "ml_dtypes, whose rule this is",
    ),
    JudgeFault(
        _BOTH,
        "NaN of f8E8M0FNU",
        lambda op: _takes(op, ("f8E8M0FNU",)),
        "takes the code 0xFF for infinity, where a wider type is computed in",
        _module(
            "tensor<f32>",
            _constant("a", "tensor<f8E8M0FNU>", "0xFF"),
            "%r = stablehlo.convert %a : (tensor<f8E8M0FNU>) -> tensor<f32>",
        ),
        np.array(nan, np.float32),
        "the OCP MX specification: 0xFF is NaN",
    ),
    JudgeFault(
        _BOTH,
        "unsigned indices",
        lambda op: (
            _named("gather", "scatter", "dynamic_slice", "dynamic_update_slice")(op)
            and any(value.element in _UNSIGNED for value in op.operands)
        ),
        "takes an index for negative from the middle of its type's range on",
        _module(
            "tensor<1xi32>",
            _constant("a", "tensor<3xi32>", "[1, 2, 3]"),
            _constant("i", "tensor<ui8>", "200"),
            "%r = stablehlo.dynamic_slice %a, %i, sizes = [1]"
            " : (tensor<3xi32>, tensor<ui8>) -> tensor<1xi32>",
        ),
        np.array([3], element_dtype("i32")),
        "the specification: indices are clamped into the operand",
    ),
)
