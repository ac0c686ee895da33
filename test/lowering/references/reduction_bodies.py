"""Bodies of reductions, as StableHLO text and as Python, and the numbers that they are tried on."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mlir_fp8.arrays.tensor_specs import element_dtype

INTEGERS = ("i2", "i4", "i8", "i16", "i32", "i64", "ui2", "ui4", "ui8", "ui16", "ui32", "ui64")
NARROW = (
    "f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E3M4", "f8E4M3", "f8E4M3B11FNUZ", "f8E4M3FN",
    "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU", "bf16", "f16",
)  # fmt: skip
REALS = (*NARROW, "f32", "f64")
COMPLEX = ("complex<f32>", "complex<f64>")
NUMBERS = (*INTEGERS, *REALS, *COMPLEX)
ELEMENTS = ("i1", *NUMBERS)


@dataclass(frozen=True)
class Body:
    """A computation of `operands` accumulators `%x0`, ... and as many elements `%y0`, ...

    `T` in its text is the type of all of them, `ELEMENT` its element, `ONE` the number one;
    `python` gets and gives numpy scalars.
    """

    text: str
    python: Callable[..., tuple]
    operands: int = 1
    elements: tuple[str, ...] = NUMBERS
    before: str = ""

    def of(self, element: str) -> tuple[str, str]:
        """The text and what comes before the reduction, on `element`."""
        return with_element(self.text, element), with_element(self.before, element)


def with_element(text: str, element: str) -> str:
    """`text` with `element` for `ELEMENT`, and so on, as `Body` says."""
    real = "1" if element.strip("ui").isdecimal() else "1.0"
    one = f"({real}, 0.0)" if element.startswith("c") else real
    words = {"ONE": one, "T": f"tensor<{element}>", "ELEMENT": element}
    for word, meaning in words.items():
        text = re.sub(rf"(?<![A-Z]){word}(?![A-Z])", meaning, text)
    return text


def _one(op: str, python: Callable, elements: tuple[str, ...] = NUMBERS) -> Body:
    text = f"%z = stablehlo.{op} %x0, %y0 : T\nstablehlo.return %z : T"
    return Body(text, lambda x, y: (python(x, y),), elements=elements)


def _without_scales(elements: Sequence[str]) -> tuple[str, ...]:
    """But for f8E8M0FNU, which has no sign: what is negative is NaN only once it is rounded."""
    return tuple(element for element in elements if element != "f8E8M0FNU")


SIGNED = _without_scales(NUMBERS)
ORDERED = (*INTEGERS, *REALS)
BITS = ("i1", *INTEGERS)

ADD = _one("add", lambda x, y: x + y)
MAXIMUM = _one("maximum", np.maximum, ("i1", *ORDERED))
MINIMUM = _one("minimum", np.minimum, ("i1", *ORDERED))
SINGLE_OPS = {
    "add": ADD,
    "maximum": MAXIMUM,
    "minimum": MINIMUM,
    "either": _one("add", np.logical_or, ("i1",)),
    "multiply": _one("multiply", lambda x, y: x * y),
    "subtract": _one("subtract", lambda x, y: x - y, SIGNED),
    "and": _one("and", np.bitwise_and, BITS),
    "or": _one("or", np.bitwise_or, BITS),
    "xor": _one("xor", np.bitwise_xor, BITS),
}
KEEP = Body("stablehlo.return %x0 : T", lambda x, y: (x,), elements=ELEMENTS)
TAKE = Body("stablehlo.return %y0 : T", lambda x, y: (y,), elements=ELEMENTS)
# Tells every order of the elements from every other.
ORDER = Body(
    """%one = stablehlo.constant dense<ONE> : T
    %s = stablehlo.add %x0, %x0 : T
    %t = stablehlo.add %s, %one : T
    %z = stablehlo.subtract %t, %y0 : T
    stablehlo.return %z : T""",
    lambda x, y: (x + x + x.dtype.type(1) - y,),
    elements=SIGNED,
)
CONSTANT = Body(
    "%one = stablehlo.constant dense<ONE> : T\nstablehlo.return %one : T",
    lambda x, y: (x.dtype.type(1),),
)
SELECT = Body(
    """%p = stablehlo.compare LT, %x0, %y0 : (T, T) -> tensor<i1>
    %z = stablehlo.select %p, %y0, %x0 : tensor<i1>, T
    stablehlo.return %z : T""",
    lambda x, y: (y if x < y else x,),
    elements=ORDERED,
)
PAIR = Body(
    """%p = stablehlo.compare GE, %x0, %y0 : (T, T) -> tensor<i1>
    %z = stablehlo.select %p, %x0, %y0 : tensor<i1>, T
    %k = stablehlo.select %p, %x1, %y1 : tensor<i1>, T
    stablehlo.return %z, %k : T, T""",
    lambda x0, x1, y0, y1: (x0, x1) if x0 >= y0 else (y0, y1),
    operands=2,
    elements=ORDERED,
)
CROSSED = Body(
    """%p = stablehlo.add %x1, %y0 : T
    %q = stablehlo.subtract %y2, %x2 : T
    stablehlo.return %p, %x0, %q : T, T, T""",
    lambda x0, x1, x2, y0, y1, y2: (x1 + y0, x0, y2 - x2),
    operands=3,
    elements=SIGNED,
)
AMAX = Body(
    """%a = stablehlo.abs %y0 : T
    %z = stablehlo.maximum %x0, %a : T
    stablehlo.return %z : T""",
    lambda x, y: (np.maximum(x, abs(y)),),
    # numpy has no absolute value of the least i2 and i4.
    elements=("i8", "i16", "i32", "i64", *REALS),
)
CONVERT = Body(
    """%a = stablehlo.convert %x0 : (T) -> tensor<f64>
    %b = stablehlo.convert %y0 : (T) -> tensor<f64>
    %m = stablehlo.negate %b : tensor<f64>
    %s = stablehlo.subtract %a, %m : tensor<f64>
    %z = stablehlo.convert %s : (tensor<f64>) -> T
    stablehlo.return %z : T""",
    lambda x, y: (x.dtype.type(float(x) + float(y)),),
    elements=("i16", "i32", "i64", "ui16", "ui32", "ui64", *REALS),
)
DIVIDE = Body(
    """%one = stablehlo.constant dense<ONE> : T
    %a = stablehlo.maximum %y0, %one : T
    %b = stablehlo.add %x0, %x0 : T
    %z = stablehlo.divide %b, %a : T
    stablehlo.return %z : T""",
    lambda x, y: ((x + x) / max(y, x.dtype.type(1)),),
    elements=("f8E4M3FN", "f8E5M2", "bf16", "f16", "f32", "f64"),
)
BRANCH = Body(
    """%p = stablehlo.compare LT, %x0, %y0 : (T, T) -> tensor<i1>
    %z = "stablehlo.if"(%p) ({
      %u = stablehlo.add %x0, %y0 : T
      stablehlo.return %u : T
    }, {
      stablehlo.return %y0 : T
    }) : (tensor<i1>) -> T
    stablehlo.return %z : T""",
    lambda x, y: (x + y if x < y else y,),
    elements=ORDERED,
)
LOOP = Body(
    """%zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %l:2 = stablehlo.while(%k = %zero, %s = %x0) : tensor<i32>, T cond {
      %p = stablehlo.compare LT, %k, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %n = stablehlo.add %k, %one : tensor<i32>
      %t = stablehlo.subtract %y0, %s : T
      stablehlo.return %n, %t : tensor<i32>, T
    }
    stablehlo.return %l#1 : T""",
    lambda x, y: (y - (y - (y - x)),),
    elements=SIGNED,
)
NESTED = Body(
    """%b = stablehlo.broadcast_in_dim %y0, dims = [] : (T) -> tensor<3xELEMENT>
    %z = stablehlo.reduce(%b init: %x0) across dimensions = [0] : (tensor<3xELEMENT>, T) -> T
      reducer(%u: T, %v: T) {
        %w = stablehlo.subtract %v, %u : T
        stablehlo.return %w : T
      }
    stablehlo.return %z : T""",
    lambda x, y: (y - (y - (y - x)),),
    elements=SIGNED,
)
MAP = Body(
    """%z = "stablehlo.map"(%x0, %y0) <{dimensions = array<i64>}> ({
    ^bb0(%u: T, %v: T):
      %w = stablehlo.subtract %v, %u : T
      stablehlo.return %w : T
    }) : (T, T) -> T
    stablehlo.return %z : T""",
    lambda x, y: (y - x,),
    elements=SIGNED,
)
CAPTURED = Body(
    """%t = stablehlo.subtract %y0, %x0 : T
    %z = stablehlo.add %t, %PRE : T
    stablehlo.return %z : T""",
    lambda x, y: (y - x + x.dtype.type(1),),
    elements=SIGNED,
    before="%PRE = stablehlo.constant dense<ONE> : T",
)
CALL = Body(
    '%z = func.call @"difference_ELEMENT"(%x0, %y0) : (T, T) -> T\nstablehlo.return %z : T',
    lambda x, y: (y - x,),
    elements=SIGNED,
)
LARGE = {
    "keep": KEEP,
    "take": TAKE,
    "order": ORDER,
    "constant": CONSTANT,
    "select": SELECT,
    "amax": AMAX,
    "convert": CONVERT,
    "divide": DIVIDE,
    "pair": PAIR,
    "crossed": CROSSED,
    "branch": BRANCH,
    "loop": LOOP,
    "nested": NESTED,
    "map": MAP,
    "captured": CAPTURED,
}
BODIES = SINGLE_OPS | LARGE


def accumulator(element: str) -> np.dtype:
    """What a reduction of `element` accumulates in."""
    return np.dtype(np.float32) if element in NARROW else element_dtype(element)


def small_numbers(rng: np.random.Generator, shape: Sequence[int], element: str) -> np.ndarray:
    """Integers around zero that every element type holds, but positive where there is no zero."""
    if element == "i1":
        return np.asarray(rng.integers(0, 2, shape) > 0)
    if element == "f8E8M0FNU":
        return np.asarray(2.0 ** rng.integers(0, 3, shape)).astype(element_dtype(element))
    low, high = (0, 4) if element.startswith("u") else (-2, 2) if element == "i2" else (-3, 4)
    numbers = np.asarray(rng.integers(low, high, shape))
    if element.startswith("c"):
        return np.asarray(numbers + 1j * rng.integers(low, high, shape)).astype(
            element_dtype(element)
        )
    return numbers.astype(element_dtype(element))
