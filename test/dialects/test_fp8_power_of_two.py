"""Scales that are powers of two: over all exponents, and what is no scale."""

from fractions import Fraction

import numpy as np
import pytest
from fp8_programs import element, run, same_bits
from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects import fp8
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.fp8.ops.power_of_two import is_power_of_two, power_of_two, to_power_of_two
from mlir_fp8.lowering.fp8.scaling.recipes import CurrentScaling, DelayedScaling, StaticScaling

F32 = np.float32
NEIGHBOURS = np.array(
    [
        each
        for exponent in range(-149, 128)
        for power in [F32(2.0**exponent)]
        for each in (np.nextafter(power, F32(0)), power, np.nextafter(power, F32(np.inf)))
    ],
    F32,
)


def rounded_up(number: F32) -> float:
    """The least power of two that is not below, by exact arithmetic, from 2^-50 to 2^63."""
    if number <= 0:
        return 2.0**-50
    if np.isinf(number):
        return 2.0**63
    exact, exponent = Fraction(float(number)), -50
    while exponent < 63 and Fraction(2) ** exponent < exact:
        exponent += 1
    return 2.0**exponent


def numbers(*values: object) -> list[np.ndarray]:
    return [np.asarray(each, F32) for each in values]


def test_every_exponent_and_its_neighbours() -> None:
    others = np.array([0.0, -0.0, -1.0, -np.inf, np.inf, 3.4e38], F32)
    tried = np.concatenate([NEIGHBOURS, others])
    (got,) = run([f"{tried.size}xf32"], lambda x: [power_of_two(x)], tried)
    assert got.tolist() == [rounded_up(each) for each in tried]
    positive = NEIGHBOURS[NEIGHBOURS > 0]
    assert to_power_of_two(positive).tolist() == [rounded_up(each) for each in positive]


def test_nan_stays() -> None:
    bits = np.array([0x7FC00000, 0xFFC00000, 0x7FFFFFFF, 0x7F800001], np.uint32)
    (got,) = run(["4xf32"], lambda x: [power_of_two(x)], bits.view(F32))
    assert np.isnan(got).all()


@pytest.mark.parametrize("fmt", ["f8E4M3FN", "f8E5M2"])
def test_no_amax_is_beyond_the_largest_value(fmt: str) -> None:
    """TransformerEngine rounds 1 / s down: what has the largest value stays in range."""
    largest = float(FORMATS[fmt].max)
    amaxes = [F32(largest * 2.0**3), np.nextafter(F32(largest * 2.0**3), F32(np.inf)), F32(largest)]

    def body(*values: ir.Value) -> list[ir.Value]:
        scale, history, *rest = values
        made = [
            fp8.update_scale(
                scale, history, each, element(fmt), recipe="current", power_of_two=True
            )
            for each in rest
        ]
        return [new for new, _ in made]

    arguments = [np.asarray(1, F32), np.zeros(1, F32), *map(np.asarray, amaxes)]
    got = run(["f32", "1xf32", "f32", "f32", "f32"], body, *arguments)
    assert [float(each) for each in got] == [8.0, 16.0, 1.0]


@pytest.mark.parametrize("amax", [0.0, np.inf, np.nan, -1.0, 1e-39])
def test_what_is_kept_is_rounded_too(amax: float) -> None:
    def body(scale: ir.Value, history: ir.Value, seen: ir.Value) -> list[ir.Value]:
        made = fp8.update_scale(
            scale, history, seen, element("f8E5M2"), recipe="transformer_engine",
            algorithm="most_recent", power_of_two=True,
        )  # fmt: skip
        return [made[0]]

    (got,) = run(["f32", "2xf32", "f32"], body, *numbers(0.3, [0, 0], amax))
    assert same_bits(got, np.asarray(0.5, F32))


def test_margins_come_before_the_rounding() -> None:
    def body(scale: ir.Value, history: ir.Value, seen: ir.Value) -> list[ir.Value]:
        made = fp8.update_scale(
            scale, history, seen, element("f8E4M3FN"), recipe="current", margin=0.5,
            power_of_two=True,
        )  # fmt: skip
        assert is_power_of_two(made[0])
        assert not is_power_of_two(made[1])
        assert not is_power_of_two(scale)
        return [made[0], power_of_two(scale)]

    got = run(["f32", "1xf32", "f32"], body, *numbers(3, [0], 448))
    assert [float(each) for each in got] == [2.0, 4.0]  # of 2^0.5 and of 3


def test_static_scales_are_rounded() -> None:
    recipe = StaticScaling({"dot0.lhs": 0.3, "dot0.rhs": 0.25}, power_of_two=True)
    assert recipe.scale(["dot0.lhs"], "f8E4M3FN") == 0.5
    assert recipe.scale(["dot0.rhs"], "f8E4M3FN") == 0.25


@pytest.mark.parametrize("recipe", [CurrentScaling, DelayedScaling])
def test_it_is_a_flag(recipe: type) -> None:
    with pytest.raises(Fp8Error, match="power_of_two is 'yes': it is True or False"):
        recipe(power_of_two="yes")
