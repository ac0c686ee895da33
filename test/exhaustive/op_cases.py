"""The elementwise ops of StableHLO and CHLO as cases: their text, and the codes they must give."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from exact_ops import BINARY, DIRECTIONS, PREDICATES, UNARY, Reference, clamp, reduce_precision

from mlir_fp8.dialects.float_formats import SMALL_FLOATS, FloatFormat

sys.path.insert(0, str(Path(__file__).parents[1] / "lowering" / "references"))
from rounding_table import table  # pyright: ignore[reportMissingImports]

_IN_CHLO = """
    acos acosh asin asinh atan atanh bessel_i1e conj cosh digamma erf erf_inv erfc is_inf is_neg_inf
    is_pos_inf lgamma next_after polygamma sinh square zeta
"""
_BROADCASTING = """
    add atan2 divide maximum minimum multiply next_after polygamma power remainder subtract zeta
"""
CHLO = frozenset(_IN_CHLO.split())
ALIASES = _BROADCASTING.split()
"""The ops that CHLO has a `broadcast_` form of: on equal shapes it must be the same op."""


@dataclass(frozen=True, eq=False)
class OpCase:
    """One op on operands %a, %b, %c of one small float; where there are three, also %p of i1."""

    name: str
    """As tables show it: the op without its dialect, and what else tells it apart."""
    arity: int
    text: Callable[[str, FloatFormat, int], str]
    """The lines that define a value of the given name, on tensors of so many elements."""
    reference: Reference | None = None
    """On numbers; any NaN is as good as another."""
    on_codes: Callable[..., np.ndarray] | None = None
    """On the format and codes where there is no `reference`."""
    is_predicate: bool = False
    keeps_bits: bool = False
    """Whether a NaN must keep its code."""

    @property
    def is_chlo(self) -> bool:
        return self.name in CHLO or self.name.startswith("broadcast_")

    def exact(self, fmt: FloatFormat, codes: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The right codes (or bools), and where they stand for a NaN that the format lacks."""
        none = np.zeros(len(codes[0]), np.bool_)
        if self.reference is None:
            assert self.on_codes is not None
            return self.on_codes(fmt, *codes), none
        with np.errstate(all="ignore"):
            results = self.reference(*(table(fmt).decode(each) for each in codes[: self.arity]))
        if self.is_predicate:
            return results, none
        return table(fmt).round(results), none if fmt.has_nan else np.isnan(results)


def tensor(fmt: FloatFormat | str, size: int) -> str:
    return f"tensor<{size}x{fmt if isinstance(fmt, str) else fmt.name}>"


def _call(op: str, arity: int, *, attributes: str = "", predicate: bool = False) -> Callable:
    def text(value: str, fmt: FloatFormat, size: int) -> str:
        operands = ", ".join(f"%{letter}" for letter in "abc"[:arity])
        types = ", ".join([tensor(fmt, size)] * arity)
        result = tensor("i1" if predicate else fmt, size)
        return f'{value} = "{op}"({operands}) {attributes} : ({types}) -> {result}'

    return text


def order(fmt: FloatFormat, codes: np.ndarray) -> np.ndarray:
    """Integers in the order of the numbers, one for each; both zeros are 0."""
    magnitude = (codes & fmt.magnitude_mask).astype(np.int64)
    return np.where(codes & fmt.sign_mask, -magnitude, magnitude)


def _total_order(fmt: FloatFormat, codes: np.ndarray) -> np.ndarray:
    """Integers in IEEE 754's total order of codes, whose NaNs have signs."""
    return order(fmt, codes) - (codes & fmt.sign_mask != 0)


def _next_after(fmt: FloatFormat, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x one code nearer to y; y where both are equal, the smallest number of y's sign from 0."""
    a, b = table(fmt).decode(x), table(fmt).decode(y)
    sign, magnitude = x & fmt.sign_mask, (x & fmt.magnitude_mask).astype(np.int64)
    outward = (b > a) == (sign == 0)
    stepped = np.where(outward, magnitude + 1, magnitude - 1)
    from_zero = (a == 0) & (b != 0)
    sign = np.where(from_zero, y & fmt.sign_mask, sign)
    stepped = np.where(from_zero, 1, stepped)
    if not fmt.has_negative_zero:
        sign = np.where(stepped == 0, 0, sign)
    code = np.where(a == b, y, stepped | sign)
    return np.where(np.isnan(a) | np.isnan(b), fmt.nan_code or 0, code).astype(np.uint8)


def _bitcast(value: str, fmt: FloatFormat, size: int) -> str:
    """To another type of the same width, a change of bits there, and back."""
    if fmt.bits == 6:
        others = (f for f in SMALL_FLOATS.values() if f.bits == 6 and f is not fmt)
        other, change = tensor(next(others), size), f"stablehlo.negate {value}x"
    else:
        other, change = tensor(f"i{fmt.bits}", size), f"stablehlo.xor {value}x, {value}k"
    here = tensor(fmt, size)
    constant = f"{value}k = stablehlo.constant dense<5> : {other}" if fmt.bits != 6 else ""
    return f"""{constant}
    {value}x = stablehlo.bitcast_convert %a : ({here}) -> {other}
    {value}y = {change} : {other}
    {value} = stablehlo.bitcast_convert {value}y : ({other}) -> {here}"""


def _bitcast_expected(fmt: FloatFormat, codes: np.ndarray) -> np.ndarray:
    return codes ^ np.uint8(fmt.sign_mask if fmt.bits == 6 else 5)


def _select(value: str, fmt: FloatFormat, size: int) -> str:
    here = tensor(fmt, size)
    return f"{value} = stablehlo.select %p, %a, %b : {tensor('i1', size)}, {here}"


def _selected(
    _: FloatFormat, a: np.ndarray, b: np.ndarray, c: np.ndarray, p: np.ndarray
) -> np.ndarray:
    return np.where(p, a, b)


def _cases() -> list[OpCase]:
    cases = []
    for arity, references in ((1, UNARY), (2, BINARY)):
        for name, reference in references.items():
            op = f"{'chlo' if name in CHLO else 'stablehlo'}.{name}"
            cases.append(OpCase(name, arity, _call(op, arity), reference))
    for name, reference in PREDICATES.items():
        op = f"{'chlo' if name in CHLO else 'stablehlo'}.{name}"
        text = _call(op, 1, predicate=True)
        cases.append(OpCase(name, 1, text, reference, is_predicate=True))
    for exponent, mantissa in ((5, 2), (4, 3), (3, 1), (8, 7)):
        name = f"reduce_precision e{exponent}m{mantissa}"
        bits = f"{{exponent_bits = {exponent} : i32, mantissa_bits = {mantissa} : i32}}"
        text = _call("stablehlo.reduce_precision", 1, attributes=bits)
        cases.append(OpCase(name, 1, text, reduce_precision(exponent, mantissa)))
    cases.append(
        OpCase("bitcast_convert", 1, _bitcast, on_codes=_bitcast_expected, keeps_bits=True)
    )
    cases.append(OpCase("next_after", 2, _call("chlo.next_after", 2), on_codes=_next_after))
    cases += [_compare(d, kind) for kind in ("FLOAT", "TOTALORDER") for d in DIRECTIONS]
    by_name = {case.name: case for case in cases}
    for name in ALIASES:
        text = _call(f"chlo.broadcast_{name}", 2)
        cases.append(replace(by_name[name], name=f"broadcast_{name}", text=text))
    cases.append(OpCase("clamp", 3, _call("stablehlo.clamp", 3), clamp))
    cases.append(OpCase("select", 3, _select, on_codes=_selected, keeps_bits=True))
    return cases


def _compare(direction: str, kind: str) -> OpCase:
    reference = DIRECTIONS[direction]
    attributes = (
        f"{{comparison_direction = #stablehlo<comparison_direction {direction}>, "
        f"compare_type = #stablehlo<comparison_type {kind}>}}"
    )

    def in_total_order(fmt: FloatFormat, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return reference(_total_order(fmt, x), _total_order(fmt, y))

    return OpCase(
        f"compare {direction}" + ("" if kind == "FLOAT" else f" {kind}"),
        2,
        _call("stablehlo.compare", 2, attributes=attributes, predicate=True),
        reference if kind == "FLOAT" else None,
        None if kind == "FLOAT" else in_total_order,
        is_predicate=True,
    )


CASES = _cases()
