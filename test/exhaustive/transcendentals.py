"""How far compiled functions of f32 are from the exact ones, over every f32.

    python test/exhaustive/transcendentals.py [NAME ...] [--stride 97] [--json FILE]

The judge is the C library's function of f64, whose error of an ULP or two of f64 is 2**-28 ULP
here, or, for those that it lacks, mpmath on some thousands of numbers. One function over all 2**32
takes some five minutes; functions of two numbers are tried on 2**32 / stride random pairs.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import mlir_fp8

CHUNK = 1 << 20
SAMPLES = 20_000
_UNDER_ONE_NAME = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh"),
    *("cosh", "erf", "erfc", "sinh"),
)
C_LIBRARY = {
    "stablehlo.cbrt": "math.cbrt",
    "stablehlo.cosine": "math.cos",
    "stablehlo.exponential": "math.exp",
    "stablehlo.exponential_minus_one": "math.expm1",
    "stablehlo.log": "math.log",
    "stablehlo.log_plus_one": "math.log1p",
    "stablehlo.logistic": "stablehlo.logistic",
    "stablehlo.rsqrt": "math.rsqrt",
    "stablehlo.sine": "math.sin",
    "stablehlo.sqrt": "math.sqrt",
    "stablehlo.tan": "math.tan",
    "stablehlo.tanh": "math.tanh",
    "math.exp2": "math.exp2",
    "math.log2": "math.log2",
    "math.log10": "math.log10",
    **{f"chlo.{name}": f"math.{name}" for name in _UNDER_ONE_NAME},
}
PAIRS = {"stablehlo.power": "math.powf", "stablehlo.atan2": "math.atan2"}


def _bessel_i1e(mp: Any, x: Any) -> Any:
    return mp.besseli(1, x) * mp.exp(-abs(x))


def _lgamma(mp: Any, x: Any) -> Any:
    return mp.log(abs(mp.gamma(x)))


@dataclass(frozen=True)
class Sampled:
    """A function that only mpmath has, and where its numbers are drawn."""

    exact: Callable[[Any, Any], Any]
    interval: tuple[float, float]
    """Half of the numbers evenly."""
    centres: tuple[float, ...]
    """The other half around poles and roots, as near as f32 goes."""


SAMPLED = {
    "chlo.bessel_i1e": Sampled(_bessel_i1e, (-100, 100), (0,)),
    "chlo.digamma": Sampled(
        lambda mp, x: mp.digamma(x), (-30, 100), (0, 1.4616321, -0.5040830, -1.5734985, -2.6107209)
    ),
    "chlo.erf_inv": Sampled(lambda mp, x: mp.erfinv(x), (-1, 1), (0, 1, -1)),
    "chlo.lgamma": Sampled(_lgamma, (-30, 100), (0, 1, 2, -2.4570247, -2.7476826, -3.1435809)),
}


@dataclass
class Outcome:
    """What came out for one function."""

    judge: str
    checked: int = 0
    max_ulp: float = 0.0
    at: list[float] | None = None
    """The argument or arguments of the largest error."""
    correctly_rounded: int = 0
    wrong_special_values: int = 0
    """NaN, infinity or a zero's sign where the exact result has another."""

    def add(self, arguments: list[np.ndarray], got: np.ndarray, want: np.ndarray) -> None:
        """`got` is float32, `want` float64."""
        with np.errstate(all="ignore"):
            rounded = want.astype(np.float32)
        same = (got.view(np.uint32) == rounded.view(np.uint32)) | (
            np.isnan(got) & np.isnan(rounded)
        )
        self.checked += len(got)
        self.correctly_rounded += int(same.sum())
        (others,) = np.nonzero(~same)
        special = ~np.isfinite(got[others]) | ~np.isfinite(want[others]) | (want[others] == 0)
        self.wrong_special_values += int(special.sum())
        (finite,) = np.nonzero(np.isfinite(got) & np.isfinite(want))
        if not len(finite):
            return
        errors = ulps(got[finite].astype(np.float64), want[finite])
        worst = int(errors.argmax())
        if errors[worst] > self.max_ulp:
            self.max_ulp = float(errors[worst])
            self.at = [float(argument[finite[worst]]) for argument in arguments]


def ulps(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """The distance in units of the last place that f32 has at `want`."""
    exponent = (want.view(np.int64) >> 52) & 0x7FF
    place = (np.maximum(exponent, 1023 - 126) - 23) << 52
    return np.abs(got - want) / place.view(np.float64)


def compiled(op: str, element: str, count: int, *, arity: int = 1) -> mlir_fp8.CompiledModule:
    type_ = f"tensor<{count}x{element}>"
    signature = ", ".join(f"%x{i}: {type_}" for i in range(arity))
    operands = ", ".join(f"%x{i}" for i in range(arity))
    return mlir_fp8.compile(
        f"func.func @main({signature}) -> {type_} {{\n"
        f'%y = "{op}"({operands}) : ({", ".join([type_] * arity)}) -> {type_}\n'
        f"return %y : {type_}\n}}"
    )


def every_f32(stride: int) -> Iterator[tuple[list[np.ndarray], int]]:
    for start in range(0, 1 << 32, CHUNK * stride):
        bits = start + stride * np.arange(CHUNK, dtype=np.int64)
        # Beyond the end the last chunk repeats the largest NaN, uncounted.
        padded = np.minimum(bits, (1 << 32) - 1).astype(np.uint32).view(np.float32)
        yield [padded], int((bits < 1 << 32).sum())


def pairs(stride: int) -> Iterator[tuple[list[np.ndarray], int]]:
    """Half of them any bits, half of moderate size, so that powers are in range."""
    rng = np.random.default_rng(0)
    for _ in range(0, 1 << 32, CHUNK * stride):
        half = CHUNK // 2
        any_bits = rng.integers(0, 1 << 32, (2, half), np.uint32).view(np.float32)
        moderate = [np.exp(rng.normal(scale=4, size=half)), rng.normal(scale=8, size=half)]
        numbers = [
            np.concatenate([bits, some.astype(np.float32)])
            for bits, some in zip(any_bits, moderate, strict=True)
        ]
        yield numbers, CHUNK


def by_c_library(op: str, stride: int) -> Outcome:
    arity, reference = (2, PAIRS[op]) if op in PAIRS else (1, C_LIBRARY[op])
    ours = compiled(op, "f32", CHUNK, arity=arity)
    exact = compiled(reference, "f64", CHUNK, arity=arity)
    outcome = Outcome("the C library in f64")
    for arguments, count in pairs(stride) if arity == 2 else every_f32(stride):
        with np.errstate(invalid="ignore"):
            wide = [argument.astype(np.float64) for argument in arguments]
        outcome.add(arguments, ours(*arguments)[0][:count], exact(*wide)[0][:count])
    return outcome


def by_mpmath(op: str) -> Outcome:
    mp: Any = import_module("mpmath").mp
    mp.prec = 160
    sampled = SAMPLED[op]
    low, high = sampled.interval
    rng = np.random.default_rng(0)
    centre = rng.choice(sampled.centres, SAMPLES // 2)
    # Down to the smallest subnormal around 0, to the neighbours in f32 elsewhere.
    distance = 2.0 ** rng.uniform(np.where(centre == 0, -149, -24), 0)
    near = centre + rng.choice([-1, 1], SAMPLES // 2) * distance
    x = np.concatenate([rng.uniform(low, high, SAMPLES // 2), near]).astype(np.float32)
    x = x[(x > low) & (x < high) & ((x > 0) | (x != np.floor(x)))]
    want = np.array([float(sampled.exact(mp, mp.mpf(float(number)))) for number in x])
    outcome = Outcome("mpmath")
    outcome.add([x], compiled(op, "f32", len(x))(x)[0], want)
    return outcome


def main() -> int:
    names = [*C_LIBRARY, *PAIRS, *SAMPLED]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--stride", type=int, default=1, help="every so many f32 (default: all)")
    parser.add_argument("--json", type=Path, help="add the outcomes to this file")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.names) - set(names)):
        parser.error(f"'{unknown[0]}' is not one of {', '.join(names)}")
    worst = 0.0
    print(f"{'function':32}{'checked':>12}{'max ULP':>11}{'exact':>12}  at")
    for name in arguments.names or names:
        started = time.perf_counter()
        outcome = by_mpmath(name) if name in SAMPLED else by_c_library(name, arguments.stride)
        worst = max(worst, outcome.max_ulp, np.inf if outcome.wrong_special_values else 0)
        print(
            f"{name:32}{outcome.checked:12}{outcome.max_ulp:11.6f}"
            f"{outcome.correctly_rounded / outcome.checked:12.6%}  {outcome.at}"
            f", {outcome.wrong_special_values} wrong special values"
            f", {time.perf_counter() - started:.0f} s",
            flush=True,
        )
        if arguments.json:
            record(arguments.json, name, outcome)
    return int(worst > 2)


def record(file: Path, name: str, outcome: Outcome) -> None:
    known = json.loads(file.read_text()) if file.exists() else {}
    known[name] = asdict(outcome)
    file.write_text(json.dumps(dict(sorted(known.items())), indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
