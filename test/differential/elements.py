"""Element types and arrays of them: special numbers, any bits, and small multiples for sums."""

from collections.abc import Sequence

import numpy as np
from grid import Grid, highest_power

from mlir_fp8.arrays.tensor_specs import TensorSpec, element_dtype
from mlir_fp8.dialects.float_formats import FORMATS, NARROW_FLOATS, SMALL_FLOATS, FloatFormat

SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("ui8", "ui16", "ui32", "ui64")
INTEGERS = (*SIGNED, *UNSIGNED)
FLOATS = tuple(FORMATS)
SMALL = tuple(SMALL_FLOATS)
NARROW = tuple(NARROW_FLOATS)
WITH_ZERO = tuple(element for element in FLOATS if FORMATS[element].has_zero)
ALL = ("i1", *INTEGERS, *FLOATS)

ANY_BITS, SPECIAL, MODERATE, ON_GRID = "any bits", "special", "moderate", "on grid"
RECIPES = (MODERATE, SPECIAL, ANY_BITS, ON_GRID)


def bits(element: str) -> int:
    """The width of `element` as MLIR counts it."""
    return FORMATS[element].bits if element in FORMATS else int(element.lstrip("ui"))


def array_of(
    recipe: str, shape: Sequence[int], element: str, seed: int
) -> tuple[np.ndarray, Grid | None]:
    """An array of shape and element, and the grid that its numbers are on, if on one."""
    rng = np.random.default_rng(seed)
    if element in FORMATS:
        return _floats(recipe, rng, tuple(shape), FORMATS[element])
    dtype = element_dtype(element)
    if recipe in (MODERATE, ON_GRID) or element == "i1":
        # Of i1, 0 and 1.
        least = -4 if element in SIGNED else 0
        array = rng.integers(least, 2 if element == "i1" else 5, shape).astype(dtype)
        return array, None if element == "i1" else Grid(0, 2)
    raw = rng.integers(0, 256, (*shape, dtype.itemsize), np.uint8)
    array = np.ascontiguousarray(raw).view(dtype).reshape(shape)
    if recipe == SPECIAL:
        limits = np.iinfo(dtype)
        special = [limits.min, limits.min + 1, 0, 1, limits.max - 1, limits.max]
        chosen = np.array(special, dtype)[rng.integers(0, len(special), shape)]
        array = np.where(rng.random(shape) < 0.7, chosen, array)
    return array, None


def _floats(
    recipe: str, rng: np.random.Generator, shape: tuple[int, ...], fmt: FloatFormat
) -> tuple[np.ndarray, Grid | None]:
    if recipe == ON_GRID:
        return _multiples(rng, shape, fmt)
    if recipe == MODERATE:
        scale = min(4.0, float(fmt.max) / 2)
        values = rng.standard_normal(shape) * scale
        return np.abs(values).astype(fmt.dtype) if not fmt.signed else values.astype(
            fmt.dtype
        ), None
    code = f"uint{fmt.storage_bits}"
    codes = rng.integers(0, 1 << fmt.bits, shape, np.uint64)
    if recipe == SPECIAL:
        special = np.array(special_codes(fmt), np.uint64)
        chosen = special[rng.integers(0, special.size, shape)]
        codes = np.where(rng.random(shape) < 0.7, chosen, codes)
    return np.asarray(codes.astype(code)).view(fmt.dtype), None


def _multiples(
    rng: np.random.Generator, shape: tuple[int, ...], fmt: FloatFormat
) -> tuple[np.ndarray, Grid]:
    if not fmt.has_zero:
        return (2.0 ** rng.integers(-1, 3, shape)).astype(fmt.dtype), Grid(-1, 2)
    high = min(2, highest_power(fmt))
    low = max(high - fmt.mantissa_bits - 1, -2)
    count = 1 << (high - low)
    values = rng.integers(-count if fmt.signed else 0, count + 1, shape) * 2.0**low
    # Not -0, by adding 0.
    return np.asarray(values + 0.0).astype(fmt.dtype), Grid(low, high)


def special_codes(fmt: FloatFormat) -> list[int]:
    """Zero, one, ends of the subnormals, of the normals and of the NaNs, and their negatives."""
    smallest_normal = 1 << fmt.mantissa_bits if fmt.has_zero else 0
    one = fmt.bias << fmt.mantissa_bits
    ends = {0, 1, smallest_normal, one, fmt.max_code, fmt.magnitude_mask}
    near = {code + step for code in ends for step in (-1, 0, 1)}
    if fmt.infinity_code is not None:
        near.add(fmt.infinity_code)
    found = {code for code in near if 0 <= code <= fmt.magnitude_mask}
    return sorted(found | {code | fmt.sign_mask for code in found})


def attribute(array: np.ndarray, element: str) -> str:
    """`array` as the text of a dense attribute, its bits in hexadecimal."""
    spec = TensorSpec(array.shape, element)
    if not array.size:
        return f"dense<> : {spec}"
    if array.dtype == np.bool_:
        return f"dense<{str(array.tolist()).lower()}> : {spec}"
    return f'dense<"0x{array.tobytes().hex().upper()}"> : {spec}'
