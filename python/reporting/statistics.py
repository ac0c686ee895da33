"""What the elements of one array are: counts, magnitudes, and a histogram over exponents."""

from dataclasses import dataclass, field

import numpy as np

from mlir_fp8.arrays.values import blocks, wide
from mlir_fp8.dialects.float_formats import FloatFormat

# Exponents of f64, subnormals included: from -1074 to 1023.
_LOWEST, _EXPONENTS = -1074, 2098


@dataclass
class Magnitudes:
    """Statistics of an array of floats, over blocks; all but `nan` and `infinite` of finite ones.

    Exact but for `mean`, whose sum is in f64.
    """

    count: int = 0
    nan: int = 0
    infinite: int = 0
    zero: int = 0
    amax: float | None = None
    """The largest magnitude; None without finite elements."""
    smallest: float | None = None
    """The smallest magnitude that is not zero."""
    total: float = 0.0
    bins: np.ndarray = field(default_factory=lambda: np.zeros(_EXPONENTS, np.int64))

    def add(self, block: np.ndarray) -> None:
        """Count the elements of `block`, in f64."""
        self.count += block.size
        finite = block[np.isfinite(block)]
        self.nan += int(np.count_nonzero(np.isnan(block)))
        self.infinite += int(np.count_nonzero(np.isinf(block)))
        if not finite.size:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            self.total += float(finite.sum())
        sizes = np.abs(finite)
        self.amax = max(self.amax or 0.0, float(sizes.max()))
        sizes = sizes[sizes > 0]
        self.zero += finite.size - sizes.size
        if not sizes.size:
            return
        least = float(sizes.min())
        self.smallest = least if self.smallest is None else min(self.smallest, least)
        exponents = np.frexp(sizes)[1] - (1 + _LOWEST)
        self.bins += np.bincount(exponents, minlength=_EXPONENTS)

    @property
    def finite(self) -> int:
        return self.count - self.nan - self.infinite

    @property
    def mean(self) -> float | None:
        """The mean of the finite elements; None without any, or where their sum leaves f64."""
        if not self.finite or not np.isfinite(self.total):
            return None
        return self.total / self.finite

    @property
    def histogram(self) -> tuple[int, list[int]]:
        """The first exponent floor(log2|x|) that occurs, and the counts from there on."""
        found = np.flatnonzero(self.bins)
        if not found.size:
            return 0, []
        first, last = int(found[0]), int(found[-1])
        return first + _LOWEST, self.bins[first : last + 1].tolist()


def magnitudes(array: np.ndarray) -> Magnitudes:
    """The statistics of an array of any float dtype."""
    found = Magnitudes()
    for block in blocks(array):
        found.add(wide(block))
    return found


@dataclass(frozen=True)
class Codes:
    """How many elements of a value are at the ends of its format."""

    subnormal: int
    saturated: int
    """Of the format's largest magnitude."""


def codes(fmt: FloatFormat, array: np.ndarray) -> Codes:
    """Counts of elements of `array`, which is of `fmt`."""
    normal, largest = float(fmt.smallest_normal), float(fmt.max)
    subnormal = saturated = 0
    for block in blocks(array):
        sizes = np.abs(wide(block))
        subnormal += int(np.count_nonzero((sizes > 0) & (sizes < normal)))
        saturated += int(np.count_nonzero(sizes == largest))
    return Codes(subnormal, saturated)


@dataclass(frozen=True)
class Losses:
    """How many elements a rounding to a format lost."""

    overflow: int
    """Finite before, and nearer to a number beyond the largest one than to that."""
    underflow: int
    """Not zero before, zero after."""
    no_code: int
    """Of another kind than before, for want of a code: zero and negative numbers in f8E8M0FNU,
    NaN in f6 and f4, infinity where there is none."""


def losses(fmt: FloatFormat, before: np.ndarray, after: np.ndarray) -> Losses:
    """What `after`, which is of `fmt`, has lost of `before`, an array of a wider float."""
    limit, tie_is_beyond = overflow_threshold(fmt)
    overflow = underflow = no_code = 0
    for old_block, new_block in zip(blocks(before), blocks(after), strict=True):
        old, new = wide(old_block), wide(new_block)
        sizes = np.abs(old)
        is_finite = np.isfinite(old)
        is_beyond = is_finite & ((sizes >= limit) if tie_is_beyond else (sizes > limit))
        if not fmt.signed:
            is_beyond &= old > 0
        overflow += int(np.count_nonzero(is_beyond))
        underflow += int(np.count_nonzero(is_finite & (old != 0) & (new == 0)))
        is_other = (np.isnan(old) != np.isnan(new)) | (np.isinf(old) & ~np.isinf(new))
        no_code += int(np.count_nonzero(is_other & ~is_beyond))
    return Losses(overflow, underflow, no_code)


def overflow_threshold(fmt: FloatFormat) -> tuple[float, bool]:
    """Half a step beyond the largest number, and whether that itself rounds away from it."""
    # The mantissa of a number in the topmost binade, with its leading one.
    significand = (fmt.max_code & ((1 << fmt.mantissa_bits) - 1)) | (1 << fmt.mantissa_bits)
    step = fmt.max / significand
    return float(fmt.max + step / 2), bool(significand & 1)
