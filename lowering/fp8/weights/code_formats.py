"""What codes are of: small floats, or symmetric integers of 8 bits."""

from mlir_fp8.dialects.float_formats import FORMATS

INT8 = "i8"
LARGEST_INT8 = 127
"""The largest magnitude of an integer code: -128 is none, so that codes are symmetric."""


def largest_code(format_: str) -> float:
    """The largest finite number among the codes of a format."""
    return float(LARGEST_INT8 if format_ == INT8 else FORMATS[format_].max)


def code_bits(format_: str) -> int:
    """The bits that hold a code in memory."""
    return 8 if format_ == INT8 else FORMATS[format_].storage_bits
