"""Block formats a second time, in numpy and f64: what tests compare compiled code with.

`microxcaling` is written after the published source of Microsoft's library of that name
(`_quantize_mx` and `_quantize_elemwise_core`, with round="even"), which has "floor" alone. The
other roundings follow AMD's and NVIDIA's documents, in terms of real numbers, not of bits.
"""

import math

import ml_dtypes
import numpy as np

# Exponent bits, mantissa bits, exponent of the largest number, largest number.
FORMATS = {
    "f8E4M3FN": (4, 3, 8, 448.0),
    "f8E5M2": (5, 2, 15, 57344.0),
    "f6E2M3FN": (2, 3, 2, 7.5),
    "f6E3M2FN": (3, 2, 4, 28.0),
    "f4E2M1FN": (2, 1, 2, 6.0),
}


def blocks_of(x: np.ndarray, block: int) -> np.ndarray:
    """The blocks along the last dimension, as one more dimension, zeros after them."""
    missing = -x.shape[-1] % block
    padded = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, missing)])
    return padded.reshape(*x.shape[:-1], -1, block)


def shared_exponents(amax: np.ndarray, format_: str, rounding: str) -> np.ndarray:
    """The exponent of each scale, as a number: NaN where amax is."""
    _, mantissa, emax, largest = FORMATS[format_]
    with np.errstate(invalid="ignore"):  # of signaling NaNs
        wide = amax.astype(np.float64)
    seen = np.where(wide == 0, 2.0**-126, wide)
    if rounding == "ceil":
        exponent = _ceil_log2(seen / largest)
    else:
        if rounding == "even":
            with np.errstate(all="ignore"):
                unit = np.ldexp(1.0, _exponents(seen) - mantissa)
                seen = np.where(np.isfinite(seen), np.round(seen / unit) * unit, seen)
        exponent = _exponents(seen) - emax
    exponent = np.where(np.isinf(amax), 127 if rounding == "ceil" else 128 - emax, exponent)
    return np.where(np.isnan(amax), np.nan, np.clip(exponent, -127, 127))


def _exponents(x: np.ndarray) -> np.ndarray:
    return np.frexp(np.where(np.isfinite(x), x, 1))[1] - 1


def _ceil_log2(x: np.ndarray) -> np.ndarray:
    mantissa, exponent = np.frexp(np.where(np.isfinite(x), x, 1))
    return np.where(mantissa == 0.5, exponent - 1, exponent)


def rounded(x: np.ndarray, format_: str) -> np.ndarray:
    """`x`, f64, to the nearest numbers of a format, ties to even, at most its largest."""
    exponent_bits, mantissa, _, largest = FORMATS[format_]
    least = 2 - 2 ** (exponent_bits - 1)
    with np.errstate(all="ignore"):
        exponent = np.maximum(_exponents(np.where(x == 0, 1, x)), least)
        unit = np.ldexp(1.0, exponent - mantissa)
        return np.clip(np.round(x / unit) * unit, -largest, largest)


def microxcaling(
    x: np.ndarray, format_: str, block: int = 32, rounding: str = "floor"
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the codes, and the exponents of the scales, of blocks along the last axis."""
    parts = blocks_of(x, block)
    exponents = shared_exponents(np.abs(parts).max(-1), format_, rounding)
    with np.errstate(all="ignore"):
        codes = rounded(parts.astype(np.float64) / np.exp2(exponents)[..., None], format_)
    return codes.reshape(*x.shape[:-1], -1)[..., : x.shape[-1]], exponents


def nvfp4(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.float32]:
    """The numbers of codes, the scales of blocks of 16 and the number of the tensor."""
    f32 = np.float32
    parts = blocks_of(x.astype(f32), 16)
    amax = np.abs(parts).max(-1)
    factor = amax.max(initial=0) / f32(448 * 6)
    factor = factor if np.isfinite(factor) and factor >= 2.0**-126 else f32(1)
    scale = np.clip(amax / f32(6) / factor, f32(2.0**-6), f32(448))
    scale = scale.astype(ml_dtypes.float8_e4m3fn).astype(f32)
    over = parts / (scale * factor)[..., None]
    codes = rounded(over.astype(np.float64), "f4E2M1FN")
    return codes.reshape(*x.shape[:-1], -1)[..., : x.shape[-1]], scale, f32(factor)


def wide(x: np.ndarray, recipe: object) -> np.ndarray:
    """What `x` becomes by a recipe for blocks along its last axis, in f64."""
    rule = getattr(recipe, "rule")  # noqa: B009 - of either recipe
    if rule == "nvfp4":
        codes, scale, factor = nvfp4(x)
        numbers = blocks_of(codes, 16) * scale[..., None].astype(np.float64) * float(factor)
    else:
        format_, block = getattr(recipe, "forward"), getattr(recipe, "block")  # noqa: B009
        codes, exponents = microxcaling(x, format_, block, rule.removeprefix("mx_"))
        numbers = blocks_of(codes, block) * np.exp2(exponents)[..., None]
    return numbers.reshape(*x.shape[:-1], math.prod(numbers.shape[-2:]))[..., : x.shape[-1]]
