"""Ops of arith on tensors beside those of StableHLO that mean the same."""

from dataclasses import dataclass

from builder import Builder
from elements import FLOATS, SIGNED, WITH_ZERO, bits
from elementwise import NAN_FLOATS, SIGNED_FLOATS
from program import BITS, VALUES, Value
from typed import exact

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.dialects.float_formats import FORMATS


@dataclass(frozen=True)
class _Same:
    """An op of arith, and the one of StableHLO, on `elements`."""

    arith: str
    stablehlo: str
    arity: int
    elements: tuple[str, ...]


_BITWISE = ("i1", *SIGNED)
_SAME = (
    _Same("arith.addf", "stablehlo.add", 2, FLOATS),
    _Same("arith.subf", "stablehlo.subtract", 2, FLOATS),
    _Same("arith.mulf", "stablehlo.multiply", 2, FLOATS),
    _Same("arith.divf", "stablehlo.divide", 2, NAN_FLOATS),
    _Same("arith.negf", "stablehlo.negate", 1, SIGNED_FLOATS),
    _Same("arith.maximumf", "stablehlo.maximum", 2, FLOATS),
    _Same("arith.minimumf", "stablehlo.minimum", 2, FLOATS),
    _Same("arith.addi", "stablehlo.add", 2, SIGNED),
    _Same("arith.subi", "stablehlo.subtract", 2, SIGNED),
    _Same("arith.muli", "stablehlo.multiply", 2, SIGNED),
    _Same("arith.andi", "stablehlo.and", 2, _BITWISE),
    _Same("arith.ori", "stablehlo.or", 2, _BITWISE),
    _Same("arith.xori", "stablehlo.xor", 2, _BITWISE),
    _Same("arith.maxsi", "stablehlo.maximum", 2, SIGNED),
    _Same("arith.minsi", "stablehlo.minimum", 2, SIGNED),
)
_RENAMED = {same.arith: same.stablehlo for same in _SAME} | {
    "arith.constant": "stablehlo.constant",
    "arith.extf": "stablehlo.convert",
    "arith.truncf": "stablehlo.convert",
    "arith.sitofp": "stablehlo.convert",
}


def in_stablehlo(text: str) -> str:
    """A program with StableHLO's ops instead of arith's."""
    for arith, stablehlo in _RENAMED.items():
        text = text.replace(f'"{arith}"', f'"{stablehlo}"')
    return text


def arith(b: Builder) -> None:
    """One to three ops of arith."""
    for _ in range(b.integer(1, 3)):
        b.one_of((_elementwise, _conversion))(b)


def _elementwise(b: Builder) -> None:
    same = b.one_of(_SAME)
    first = exact(b, same.elements)
    operands = [first, *(b.like(first.shape, first.element) for _ in range(same.arity - 1))]
    check = VALUES if first.element in FORMATS else BITS
    b.op(same.arith, operands, first.spec, check=check)


def _conversion(b: Builder) -> None:
    """Between floats of other widths, and from integers to floats."""
    value = exact(b, (*SIGNED, *FLOATS))
    if value.element in SIGNED:
        _convert(b, "arith.sitofp", value, b.element(WITH_ZERO))
        return
    target = b.element([each for each in FLOATS if bits(each) != bits(value.element)])
    if FORMATS[value.element].has_nan and not FORMATS[target].has_nan:
        return  # of a NaN nobody knows what becomes
    widens = bits(target) > bits(value.element)
    _convert(b, "arith.extf" if widens else "arith.truncf", value, target)


def _convert(b: Builder, name: str, value: Value, target: str) -> None:
    b.op(name, [value], TensorSpec(value.shape, target), check=VALUES)
