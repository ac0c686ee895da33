"""Compiled small floats one at a time: signs, bits, constants, integers, and vectors of them."""

from fractions import Fraction

import numpy as np
import pytest
from native_code import elementwise, native
from rounding_table import table

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.dialects.float_formats import FORMATS, NARROW_FLOATS, SMALL_FLOATS, FloatFormat
from mlir_fp8.dialects.float_reference import encode

small = pytest.mark.parametrize("fmt", SMALL_FLOATS.values(), ids=SMALL_FLOATS)


def run_elementwise(
    argument: str, given: np.ndarray, ops: list[tuple[str, str]]
) -> list[np.ndarray]:
    """Each op is a text on %x0, with its result's element type."""
    body = [f"%r{i} = {text}" for i, (text, _) in enumerate(ops)]
    results = [result for _, result in ops]
    return list(elementwise([argument], body, results, count=len(given))(given))


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "fmt", [f for f in NARROW_FLOATS.values() if f.signed], ids=lambda fmt: fmt.name
)
def test_signs_are_bits(fmt: FloatFormat) -> None:
    """NaN payloads stay, also those of bf16 and f16; NaNs without sign stay what they are."""
    codes = table(fmt).all_codes
    ops = [(f"{op} %x0 : {fmt.name}", fmt.name) for op in ("arith.negf", "math.absf")]
    negated, absolute = run_elementwise(fmt.name, codes.view(fmt.dtype), ops)
    no_sign = np.zeros(len(codes), bool) if fmt.has_negative_zero else codes % fmt.sign_mask == 0
    want = np.where(no_sign, codes, codes ^ fmt.sign_mask)
    np.testing.assert_array_equal(negated.view(codes.dtype), want)
    want = np.where(no_sign, codes, codes & fmt.magnitude_mask)
    np.testing.assert_array_equal(absolute.view(codes.dtype), want)


@pytest.mark.sampled(5)
@small
def test_bitcasts(fmt: FloatFormat) -> None:
    """Between a format and the integer of its width, and between formats of one width."""
    codes = table(fmt).all_codes
    bits = f"i{fmt.bits}"
    others = [other.name for other in SMALL_FLOATS.values() if other.bits == fmt.bits]
    as_bytes = (
        f"arith.extui %bits : {bits} to i8" if fmt.bits < 8 else "arith.ori %bits, %bits : i8"
    )
    body = [
        f"%bits = arith.bitcast %x0 : {fmt.name} to {bits}",
        f"%r0 = {as_bytes}",
        f"%r1 = arith.bitcast %bits : {bits} to {fmt.name}",
        *(f"%r{i} = arith.bitcast %x0 : {fmt.name} to {name}" for i, name in enumerate(others, 2)),
    ]
    compiled = elementwise([fmt.name], body, ["i8", fmt.name, *others], count=len(codes))
    for result in compiled(codes.view(fmt.dtype)):
        np.testing.assert_array_equal(result.view(np.uint8), codes)


def test_bitcasts_of_halves() -> None:
    codes = np.arange(1 << 16, dtype=np.uint16)
    pairs = [("f16", "bf16"), ("bf16", "f16")]
    for source, target in pairs:
        body = [
            f"%r0 = arith.bitcast %x0 : {source} to {target}",
            f"%r1 = arith.bitcast %x0 : {source} to i16",
            "%bits = arith.ori %r1, %r1 : i16",
            f"%r2 = arith.bitcast %bits : i16 to {source}",
        ]
        compiled = elementwise([source], body, [target, "i16", source], count=len(codes))
        for result in compiled(codes.view(FORMATS[source].dtype)):
            np.testing.assert_array_equal(result.view(np.uint16), codes)


@pytest.mark.sampled(7)
@small
def test_constants(fmt: FloatFormat) -> None:
    codes = table(fmt).all_codes
    last = int(codes[-1])
    hexadecimal = ", ".join(f"0x{code:02X}" for code in codes)
    shape = f"{len(codes)}x{fmt.name}"
    elements, splat = native(
        f"""
        memref.global "private" constant @codes : memref<{shape}> = dense<[{hexadecimal}]>
        memref.global "private" constant @last : memref<{shape}> = dense<0x{last:02X}>
        func.func @"fp8.main"(%x: memref<{shape}>, %y: memref<{shape}>) {{
          %codes = memref.get_global @codes : memref<{shape}>
          %last = memref.get_global @last : memref<{shape}>
          memref.copy %codes, %x : memref<{shape}> to memref<{shape}>
          memref.copy %last, %y : memref<{shape}> to memref<{shape}>
          return
        }}""",
        [],
        [TensorSpec((len(codes),), fmt.name)] * 2,
    )
    np.testing.assert_array_equal(elements.view(np.uint8), codes)
    np.testing.assert_array_equal(splat.view(np.uint8), np.full_like(codes, last))
    # As scalars, each of its own.
    body = [f"%r{i} = arith.constant 0x{code:02X} : {fmt.name}" for i, code in enumerate(codes)]
    scalars = elementwise([], body, [fmt.name] * len(codes), count=1)()
    assert [int(scalar.view(np.uint8)[0]) for scalar in scalars] == codes.tolist()


# Integers.


def hard_integers(bits: int, *, signed: bool) -> list[int]:
    """Extremes, and the midpoints of every format with their neighbours, as far out as they go."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if bits <= 8:
        return list(range(low, high + 1))
    found = {low, low + 1, high, high - 1, 0}
    for exponent in range(bits):
        for mantissa in {fmt.mantissa_bits for fmt in NARROW_FLOATS.values()}:
            step = 1 << exponent >> mantissa
            # The first two midpoints of the binade: one tie goes down, the other up.
            for middle in ((1 << exponent) + step // 2, (1 << exponent) + step + step // 2):
                found |= {sign * (middle + d) for sign in (1, -1) for d in (-1, 0, 1)}
    return sorted(number for number in found if low <= number <= high)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("bits", [1, 8, 16, 32, 64])
@pytest.mark.parametrize("op", ["sitofp", "uitofp"])
def test_integers_round_once(op: str, bits: int) -> None:
    numbers = hard_integers(bits, signed=op == "sitofp")
    given = np.array([n & ((1 << bits) - 1) for n in numbers], f"uint{max(8, bits)}")
    given = given.astype(np.bool_) if bits == 1 else given.view(f"int{bits}")
    ops = [(f"arith.{op} %x0 : i{bits} to {name}", name) for name in NARROW_FLOATS]
    results = run_elementwise(f"i{bits}", given, ops)
    for fmt, result in zip(NARROW_FLOATS.values(), results, strict=True):
        got = result.view(table(fmt).dtype).tolist()
        wrong = [(n, c) for n, c in zip(numbers, got, strict=True) if encode(fmt, Fraction(n)) != c]
        assert not wrong, f"{fmt.name}: {len(wrong)} wrong: {wrong[:5]}"


@pytest.mark.sampled(5)
@small
def test_to_integers_truncates_and_saturates(fmt: FloatFormat) -> None:
    codes = table(fmt).all_codes
    ops = [
        (f"arith.{op} %x0 : {fmt.name} to i{bits}", f"i{bits}")
        for op in ("fptosi", "fptoui")
        for bits in (8, 16, 32, 64)
    ]
    dtypes = [np.dtype(f"{kind}{bits}") for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
    results = run_elementwise(fmt.name, codes.view(fmt.dtype), ops)
    for dtype, result in zip(dtypes, results, strict=True):
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        # Infinities and NaNs as what they become.
        numbers = np.nan_to_num(table(fmt).decode(codes), posinf=2.0**64, neginf=-(2.0**64))
        want = [min(max(int(number), low), high) for number in numbers]
        assert result.view(dtype).tolist() == want


# Vectors, and memory.


@pytest.mark.sampled(5)
@small
def test_vectors(fmt: FloatFormat) -> None:
    """The same ops on vectors: constants, arithmetic, comparison, selection, casts, bitcasts."""
    codes = table(fmt).all_codes
    count, width = len(codes), 8
    one = encode(fmt, Fraction(1))
    vector, wide = f"vector<{width}x{fmt.name}>", f"vector<{width}xf32>"
    memref, wide_memref = f"memref<{count}x{fmt.name}>", f"memref<{count}xf32>"
    got = native(
        f"""
        func.func @"fp8.main"(
            %x: {memref}, %sum: {memref}, %least: {memref}, %wide: {wide_memref}) {{
          %zero = arith.constant 0 : index
          %count = arith.constant {count} : index
          %width = arith.constant {width} : index
          %one = arith.constant dense<0x{one:02X}> : {vector}
          scf.for %i = %zero to %count step %width {{
            %a = vector.load %x[%i] : {memref}, {vector}
            %b = arith.addf %a, %one : {vector}
            vector.store %b, %sum[%i] : {memref}, {vector}
            %c = arith.cmpf olt, %a, %one : {vector}
            %d = arith.select %c, %a, %one : vector<{width}xi1>, {vector}
            vector.store %d, %least[%i] : {memref}, {vector}
            %e = arith.extf %a : {vector} to {wide}
            vector.store %e, %wide[%i] : {wide_memref}, {wide}
          }}
          return
        }}""",
        [codes.view(fmt.dtype)],
        [TensorSpec((count,), name) for name in (fmt.name, fmt.name, "f32")],
    )
    x = table(fmt).decode(codes)
    numbers = ~np.isnan(x)
    total = table(fmt).round(x + 1)
    np.testing.assert_array_equal(got[0].view(np.uint8)[numbers], total[numbers])
    np.testing.assert_array_equal(got[1].view(np.uint8), np.where(x < 1, codes, one))
    np.testing.assert_array_equal(got[2][numbers].astype(np.float64), x[numbers])
    assert np.isnan(got[2][~numbers]).all()
