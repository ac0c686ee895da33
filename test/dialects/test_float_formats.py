"""The table of float formats against ml_dtypes, against the documents, and against MLIR."""

import dataclasses
import re
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.context import diagnostics, make_context
from mlir_fp8.dialects.float_formats import (
    FORMATS,
    NARROW_FLOATS,
    SMALL_FLOATS,
    FloatFormat,
    NanEncoding,
)
from mlir_fp8.dialects.float_reference import decode

# From the documents: OCP OFP8 1.0 (f8E5M2, f8E4M3FN), OCP MX 1.0 (f8E8M0FNU, f6, f4), and the
# StableHLO RFCs of the others. Codes of: one, the largest value, the smallest normal and subnormal,
# infinity, and every positive or unsigned NaN.
CODES: dict[str, tuple[int, int, int, int, int | None, list[int]]] = {
    "f8E5M2": (0x3C, 0x7B, 0x04, 0x01, 0x7C, [0x7D, 0x7E, 0x7F]),
    "f8E4M3FN": (0x38, 0x7E, 0x08, 0x01, None, [0x7F]),
    "f8E4M3": (0x38, 0x77, 0x08, 0x01, 0x78, list(range(0x79, 0x80))),
    "f8E3M4": (0x30, 0x6F, 0x10, 0x01, 0x70, list(range(0x71, 0x80))),
    "f8E4M3FNUZ": (0x40, 0x7F, 0x08, 0x01, None, [0x80]),
    "f8E5M2FNUZ": (0x40, 0x7F, 0x04, 0x01, None, [0x80]),
    "f8E4M3B11FNUZ": (0x58, 0x7F, 0x08, 0x01, None, [0x80]),
    "f8E8M0FNU": (0x7F, 0xFE, 0x00, 0x00, None, [0xFF]),
    "f6E2M3FN": (0x08, 0x1F, 0x08, 0x01, None, []),
    "f6E3M2FN": (0x0C, 0x1F, 0x04, 0x01, None, []),
    "f4E2M1FN": (0x02, 0x07, 0x02, 0x01, None, []),
}
# The largest value, the smallest normal and the smallest subnormal.
LIMITS: dict[str, tuple[float, float, float]] = {
    "f8E5M2": (57344.0, 2.0**-14, 2.0**-16),
    "f8E4M3FN": (448.0, 2.0**-6, 2.0**-9),
    "f8E4M3": (240.0, 2.0**-6, 2.0**-9),
    "f8E3M4": (15.5, 2.0**-2, 2.0**-6),
    "f8E4M3FNUZ": (240.0, 2.0**-7, 2.0**-10),
    "f8E5M2FNUZ": (57344.0, 2.0**-15, 2.0**-17),
    "f8E4M3B11FNUZ": (30.0, 2.0**-10, 2.0**-13),
    "f8E8M0FNU": (2.0**127, 2.0**-127, 2.0**-127),
    "f6E2M3FN": (7.5, 1.0, 0.125),
    "f6E3M2FN": (28.0, 0.25, 0.0625),
    "f4E2M1FN": (6.0, 1.0, 0.5),
}

small = pytest.mark.parametrize("fmt", SMALL_FLOATS.values(), ids=SMALL_FLOATS)
every = pytest.mark.parametrize("fmt", FORMATS.values(), ids=FORMATS)


def test_every_small_float_has_codes_and_limits() -> None:
    assert CODES.keys() == LIMITS.keys() == SMALL_FLOATS.keys(), "take them from its document"


@small
def test_codes_are_those_of_the_documents(fmt: FloatFormat) -> None:
    one, largest, normal, subnormal, infinity, nans = CODES[fmt.name]
    assert decode(fmt, one) == 1
    assert fmt.max_code == largest
    assert decode(fmt, normal) == fmt.smallest_normal
    assert decode(fmt, subnormal) == fmt.smallest_subnormal
    assert fmt.infinity_code == infinity
    found = [code for code in range(1 << fmt.bits) if decode(fmt, code) != decode(fmt, code)]
    negative = [code | fmt.sign_mask for code in nans if fmt.signed and code != fmt.sign_mask]
    assert found == sorted(nans + negative)
    assert fmt.nan_code in (nans or [None])


@small
def test_limits_are_those_of_the_documents(fmt: FloatFormat) -> None:
    assert (fmt.max, fmt.smallest_normal, fmt.smallest_subnormal) == LIMITS[fmt.name]


@every
def test_limits_are_those_of_ml_dtypes(fmt: FloatFormat) -> None:
    info = ml_dtypes.finfo(fmt.dtype)
    assert fmt.max == Fraction(float(info.max))
    assert fmt.smallest_normal == Fraction(float(info.smallest_normal))
    if fmt.has_zero:
        assert fmt.smallest_subnormal == Fraction(float(info.smallest_subnormal))
    assert (fmt.bits, fmt.exponent_bits, fmt.mantissa_bits) == (info.bits, info.nexp, info.nmant)
    assert fmt.dtype.itemsize * 8 == fmt.storage_bits


@small
def test_nan_is_that_of_ml_dtypes(fmt: FloatFormat) -> None:
    if fmt.nan_code is not None:
        code = int(np.array(np.nan, fmt.dtype).view(np.uint8))
        assert code & fmt.magnitude_mask == fmt.nan_code & fmt.magnitude_mask
        assert np.isnan(np.array(fmt.nan_code, np.uint8).view(fmt.dtype))
    else:
        assert fmt.nan is NanEncoding.NONE and not fmt.has_nan


@every
def test_names_are_those_of_mlir(fmt: FloatFormat) -> None:
    with make_context(), ir.Location.unknown():
        parsed = ir.Type.parse(fmt.name)
        assert type(parsed).__name__ == fmt.type_class
        assert parsed == getattr(ir, fmt.type_class).get()
        assert ir.FloatType(parsed).width == fmt.bits


def test_every_small_float_of_mlir_is_there() -> None:
    classes = {name for name in dir(ir) if re.fullmatch(r"Float\d+E\d+M\d+\w*Type", name)}
    # Unsigned, with a zero; neither StableHLO nor ml_dtypes has it.
    assert classes - {"Float8E5M3FNUType"} == {f.type_class for f in SMALL_FLOATS.values()}


def _serializes(element: str, version: str) -> bool:
    with make_context() as context:
        module = ir.Module.parse(f"func.func @f(%a: tensor<{element}>) {{ return }}", context)
        with context, diagnostics(context):
            try:
                _stablehlo.serialize_portable_artifact(module, version)
            except (ValueError, ir.MLIRError):
                return False
    return True


@pytest.mark.sampled(5)
@every
def test_stablehlo_version_is_the_first_that_holds_the_type(fmt: FloatFormat) -> None:
    assert _serializes(fmt.name, fmt.stablehlo_version)
    major, minor, _ = map(int, fmt.stablehlo_version.split("."))
    before = f"{major}.{minor - 1}.9"
    if (major, minor) != (0, 9):  # the first version that there is
        assert _serializes("f32", before)
        assert not _serializes(fmt.name, before)


def test_rows_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        FORMATS["f8E5M2"].bias = 16  # pyright: ignore[reportAttributeAccessIssue]


def test_selections() -> None:
    assert all(name == fmt.name for name, fmt in FORMATS.items())
    assert set(SMALL_FLOATS) == set(CODES) == set(LIMITS)
    assert set(NARROW_FLOATS) == {*SMALL_FLOATS, "bf16", "f16"}
    assert set(FORMATS) == {*NARROW_FLOATS, "f32", "f64"}


@every
def test_what_lies_beyond_the_largest_value(fmt: FloatFormat) -> None:
    assert fmt.has_infinity == (fmt.infinity_code is not None)
    assert fmt.has_nan == (fmt.nan_code is not None)
    beyond = fmt.infinity_code or fmt.nan_code or fmt.max_code
    assert fmt.overflow_code == beyond
    assert 0 <= fmt.max_code <= fmt.magnitude_mask


@small
def test_values_grow_with_their_codes(fmt: FloatFormat) -> None:
    values = [decode(fmt, code) for code in range(fmt.max_code + 1)]
    assert values == sorted(set(values))
    assert (values[0] == 0) == fmt.has_zero
    if fmt.has_negative_zero:
        assert str(decode(fmt, fmt.sign_mask)) == "-0.0"
