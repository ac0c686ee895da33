"""The one table of float formats; every other module reads bits, limits and names from it.

A new vendor format is one more row of `FORMATS`.
"""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from mlir_fp8.base.errors import Fp8Error

if TYPE_CHECKING:
    import numpy as np


class NonFinite(Enum):
    """What the top of the code range means (LLVM's `fltNonfiniteBehavior`)."""

    IEEE754 = "the all-ones exponent holds infinity and NaNs"
    NAN_ONLY = "NaN, no infinity"
    FINITE_ONLY = "neither NaN nor infinity"


class NanEncoding(Enum):
    """Which codes are NaN (LLVM's `fltNanEncoding`)."""

    IEEE = "all-ones exponent, non-zero mantissa"
    ALL_ONES = "all-ones exponent and mantissa"
    NEGATIVE_ZERO = "the code of negative zero, which the format therefore lacks"
    NONE = "no code"


@dataclass(frozen=True)
class FloatFormat:
    """One float format: a row of the table and what follows from it.

    Codes are unsigned integers of `bits` bits: sign (unless unsigned), exponent, mantissa, from the
    top. Limits are exact rationals.
    """

    name: str
    """The MLIR spelling of the type, such as `f8E4M3FN`."""
    type_class: str
    """The class in the MLIR bindings, such as `Float8E4M3FNType`."""
    exponent_bits: int
    mantissa_bits: int
    bias: int
    nonfinite: NonFinite
    nan: NanEncoding
    dtype_name: str
    """Name of the scalar type in ml_dtypes, or in numpy."""
    stablehlo_version: str
    """First StableHLO version whose portable artifacts hold the type."""
    signed: bool = True
    has_zero: bool = True
    native: bool = False
    """Whether LLVM computes in the type; the codes of all others are opaque integers to it."""

    @cached_property
    def bits(self) -> int:
        return self.signed + self.exponent_bits + self.mantissa_bits

    @cached_property
    def storage_bits(self) -> int:
        """Width of the storage integer of a code in memory: 8 for every small float."""
        return max(8, self.bits)

    @property
    def is_small(self) -> bool:
        return self.bits <= 8

    @property
    def has_infinity(self) -> bool:
        return self.nonfinite is NonFinite.IEEE754

    @property
    def has_nan(self) -> bool:
        return self.nan is not NanEncoding.NONE

    @cached_property
    def has_negative_zero(self) -> bool:
        return self.signed and self.has_zero and self.nan is not NanEncoding.NEGATIVE_ZERO

    @cached_property
    def sign_mask(self) -> int:
        return 1 << (self.bits - 1) if self.signed else 0

    @cached_property
    def magnitude_mask(self) -> int:
        return (1 << (self.exponent_bits + self.mantissa_bits)) - 1

    @cached_property
    def infinity_code(self) -> int | None:
        if not self.has_infinity:
            return None
        return ((1 << self.exponent_bits) - 1) << self.mantissa_bits

    @cached_property
    def nan_code(self) -> int | None:
        """The (positive, quiet) NaN that an operation yields; None where the format has none."""
        match self.nan:
            case NanEncoding.IEEE:
                return self.magnitude_mask & ~((1 << self.mantissa_bits) // 2 - 1)
            case NanEncoding.ALL_ONES:
                return self.magnitude_mask
            case NanEncoding.NEGATIVE_ZERO:
                return self.sign_mask
            case NanEncoding.NONE:
                return None

    @cached_property
    def max_code(self) -> int:
        """The code of the largest finite value."""
        if self.infinity_code is not None:
            return self.infinity_code - 1
        if self.nan is NanEncoding.ALL_ONES:
            return self.magnitude_mask - 1
        return self.magnitude_mask

    @cached_property
    def overflow_code(self) -> int:
        """Where an unsaturated rounding beyond `max` lands: infinity, else NaN, else `max`."""
        if self.infinity_code is not None:
            return self.infinity_code
        return self.max_code if self.nan_code is None else self.nan_code

    @property
    def max(self) -> Fraction:
        return self.magnitude(self.max_code)

    @cached_property
    def smallest_normal(self) -> Fraction:
        return Fraction(2) ** (1 - self.bias if self.has_zero else -self.bias)

    @property
    def smallest_subnormal(self) -> Fraction:
        """The smallest positive value; equal to `smallest_normal` where nothing is subnormal."""
        return self.magnitude(1) if self.has_zero else self.smallest_normal

    def magnitude(self, code: int) -> Fraction:
        """What a code without sign stands for, as if the exponent went on above `max_code`."""
        exponent, mantissa = divmod(code, 1 << self.mantissa_bits)
        if exponent == 0 and self.has_zero:
            exponent = 1
        else:
            mantissa += 1 << self.mantissa_bits
        exponent -= self.bias + self.mantissa_bits
        return Fraction(mantissa << max(exponent, 0), 1 << max(-exponent, 0))

    @property
    def dtype(self) -> "np.dtype":
        """The numpy dtype whose items hold one code each; an `Fp8Error` where there is none."""
        if self._dtype is None:
            import ml_dtypes

            raise Fp8Error(
                f"ml_dtypes {ml_dtypes.__version__} has no {self.dtype_name}, which arrays of "
                f"{self.name} need: install one that has it, or convert to another type"
            )
        return self._dtype

    @property
    def has_dtype(self) -> bool:
        """Whether numpy or the ml_dtypes that is installed has a dtype for the format."""
        return self._dtype is not None

    @cached_property
    def _dtype(self) -> "np.dtype | None":
        import ml_dtypes
        import numpy as np

        try:
            return np.dtype(getattr(ml_dtypes, self.dtype_name, None) or self.dtype_name)
        except TypeError:
            return None


_IEEE = (NonFinite.IEEE754, NanEncoding.IEEE)
_FN = (NonFinite.NAN_ONLY, NanEncoding.ALL_ONES)
_FNUZ = (NonFinite.NAN_ONLY, NanEncoding.NEGATIVE_ZERO)
_FINITE = (NonFinite.FINITE_ONLY, NanEncoding.NONE)

# fmt: off
FORMATS: dict[str, FloatFormat] = {row.name: row for row in (
    FloatFormat("f8E5M2", "Float8E5M2Type", 5, 2, 15, *_IEEE, "float8_e5m2", "0.9.0"),
    FloatFormat("f8E4M3FN", "Float8E4M3FNType", 4, 3, 7, *_FN, "float8_e4m3fn", "0.9.0"),
    FloatFormat("f8E4M3", "Float8E4M3Type", 4, 3, 7, *_IEEE, "float8_e4m3", "1.7.0"),
    FloatFormat("f8E3M4", "Float8E3M4Type", 3, 4, 3, *_IEEE, "float8_e3m4", "1.7.0"),
    FloatFormat("f8E4M3FNUZ", "Float8E4M3FNUZType", 4, 3, 8, *_FNUZ, "float8_e4m3fnuz", "0.10.0"),
    FloatFormat("f8E5M2FNUZ", "Float8E5M2FNUZType", 5, 2, 16, *_FNUZ, "float8_e5m2fnuz", "0.10.0"),
    FloatFormat("f8E4M3B11FNUZ", "Float8E4M3B11FNUZType", 4, 3, 11, *_FNUZ,
                "float8_e4m3b11fnuz", "0.11.0"),
    FloatFormat("f8E8M0FNU", "Float8E8M0FNUType", 8, 0, 127, *_FN, "float8_e8m0fnu", "1.8.0",
                signed=False, has_zero=False),
    FloatFormat("f6E2M3FN", "Float6E2M3FNType", 2, 3, 1, *_FINITE, "float6_e2m3fn", "1.8.0"),
    FloatFormat("f6E3M2FN", "Float6E3M2FNType", 3, 2, 3, *_FINITE, "float6_e3m2fn", "1.8.0"),
    FloatFormat("f4E2M1FN", "Float4E2M1FNType", 2, 1, 1, *_FINITE, "float4_e2m1fn", "1.8.0"),
    FloatFormat("bf16", "BF16Type", 8, 7, 127, *_IEEE, "bfloat16", "0.9.0"),
    FloatFormat("f16", "F16Type", 5, 10, 15, *_IEEE, "float16", "0.9.0", native=True),
    FloatFormat("f32", "F32Type", 8, 23, 127, *_IEEE, "float32", "0.9.0", native=True),
    FloatFormat("f64", "F64Type", 11, 52, 1023, *_IEEE, "float64", "0.9.0", native=True),
)}
# fmt: on

SMALL_FLOATS: dict[str, FloatFormat] = {n: f for n, f in FORMATS.items() if f.is_small}
"""The formats of at most 8 bits, by MLIR name."""

# bf16 has instructions, but they flush subnormals, and LLVM calls routines that are not there.
OPAQUE_FLOATS: dict[str, FloatFormat] = {n: f for n, f in FORMATS.items() if not f.native}
"""The formats whose values are integers below MLIR: the small floats and bf16."""

NARROW_FLOATS: dict[str, FloatFormat] = {n: f for n, f in FORMATS.items() if f.bits < 32}
"""The formats whose arithmetic is done in f32 and rounded once: small floats, bf16 and f16."""

PRODUCT_FAMILIES: tuple[frozenset[str], ...] = (
    frozenset({"f8E5M2", "f8E4M3FN", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN"}),
    frozenset({"f8E5M2", "f8E4M3", "f8E3M4"}),
    frozenset({"f8E5M2FNUZ", "f8E4M3FNUZ"}),
    frozenset({"f8E4M3B11FNUZ"}),
)
"""Formats of which some hardware multiplies any two."""
