"""`fp8.quantize` and `fp8.dequantize` against their formulas in numpy and ml_dtypes."""

import itertools

import numpy as np
import pytest
from fp8_programs import cast, element, run, same_bits, spelled
from torch_mlir import ir

from mlir_fp8.dialects import fp8
from mlir_fp8.dialects.float_formats import FORMATS

FORMAT_NAMES = [name for name, fmt in FORMATS.items() if fmt.is_small and fmt.signed]
WIDE_NAMES = ["f32", "bf16", "f16"]
SHAPES = {
    "tensor": (),
    "whole": (1, 1),
    "row": (4, 1),
    "column": (1, 64),
    "block": (4, 2),
    "square": (2, 2),
    "element": (4, 64),
}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -1e-30, 448.0, -464.0, 6.0, 57344.0, 65504.0]


def _spread(scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """`scale` repeated to `shape` by its rule."""
    if scale.ndim == 0:
        return np.broadcast_to(scale, shape)
    for axis, (size, whole) in enumerate(zip(scale.shape, shape, strict=True)):
        scale = np.repeat(scale, whole // size, axis)
    return scale


def _rounded(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _quantized(
    x: np.ndarray, scale: np.ndarray, fmt: str, *, inverse: bool, saturate: bool
) -> np.ndarray:
    wide = np.float64 if x.dtype == np.float64 else np.float32
    with np.errstate(all="ignore"):
        factor = _spread(scale.astype(x.dtype), x.shape).astype(wide)
        y = x.astype(wide) * factor if inverse else x.astype(wide) / factor
        y = y.astype(x.dtype).astype(wide)
        if saturate:
            limit = float(FORMATS[fmt].max)
            y = np.where(np.isnan(y), y, np.clip(y, -limit, limit))
        return y.astype(FORMATS[fmt].dtype)


def _numbers(seed: int, name: str) -> np.ndarray:
    random = np.random.default_rng(seed)
    x = random.normal(size=(4, 64)) * 2.0 ** random.integers(-12, 12, size=(4, 64))
    x[0, : len(SPECIAL)] = SPECIAL
    return _rounded(x, FORMATS[name].dtype)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("wide", WIDE_NAMES)
def test_quantize_every_format(wide: str) -> None:
    x = _numbers(1, wide)
    scale = np.asarray(0.37, np.float32)
    flags = list(itertools.product([False, True], repeat=2))

    def body(x: ir.Value, s: ir.Value) -> list[ir.Value]:
        return [
            fp8.quantize(x, s, element(fmt), inverse=inverse, saturate=saturate)
            for fmt in FORMAT_NAMES
            for inverse, saturate in flags
        ]

    results = run([spelled(x, wide), "f32"], body, x, scale)
    cases = [(fmt, *flag) for fmt in FORMAT_NAMES for flag in flags]
    for (fmt, inverse, saturate), result in zip(cases, results, strict=True):
        want = _quantized(x, scale, fmt, inverse=inverse, saturate=saturate)
        assert same_bits(result, want), (fmt, inverse, saturate)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("scale_type", ["f32", "bf16", "f16", "f8E8M0FNU", "f8E4M3FN"])
def test_every_scale(scale_type: str) -> None:
    x = _numbers(2, "f32")
    random = np.random.default_rng(3)
    scales = [
        cast(2.0 ** random.integers(-4, 4, shape) * random.uniform(1, 2, shape), scale_type)
        for shape in SHAPES.values()
    ]

    def body(x: ir.Value, *scales: ir.Value) -> list[ir.Value]:
        quantized = [fp8.quantize(x, s, element("f8E4M3FN")) for s in scales]
        back = [
            fp8.dequantize(q, s, element("bf16")) for q, s in zip(quantized, scales, strict=True)
        ]
        divided = [fp8.dequantize(quantized[0], s, element("f32"), inverse=True) for s in scales]
        return [*quantized, *back, *divided]

    types = [spelled(x, "f32"), *(spelled(scale, scale_type) for scale in scales)]
    results = run(types, body, x, *scales)
    count = len(scales)
    for index, scale in enumerate(scales):
        q = _quantized(x, scale, "f8E4M3FN", inverse=False, saturate=True)
        assert same_bits(results[index], q)
        bf16 = FORMATS["bf16"].dtype
        factor = _spread(scale.astype(bf16), x.shape).astype(np.float32)
        back = (q.astype(np.float32) * factor).astype(bf16)
        assert same_bits(results[count + index], back)
        factor = _spread(scale.astype(np.float32), x.shape)
        assert same_bits(results[2 * count + index], results[0].astype(np.float32) / factor)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fmt", FORMAT_NAMES)
def test_dequantize_every_code(fmt: str) -> None:
    bits = FORMATS[fmt].bits
    q = np.arange(1 << bits, dtype=np.uint8).view(FORMATS[fmt].dtype)
    scale = np.asarray(1.7, np.float32)
    wide_names = [*WIDE_NAMES, "f64"]

    def body(q: ir.Value, s: ir.Value) -> list[ir.Value]:
        return [fp8.dequantize(q, s, element(wide)) for wide in wide_names]

    results = run([spelled(q, fmt), "f32"], body, q, scale)
    for wide, result in zip(wide_names, results, strict=True):
        dtype = FORMATS[wide].dtype
        step = np.float64 if wide == "f64" else np.float32
        with np.errstate(all="ignore"):
            want = (q.astype(step) * scale.astype(dtype).astype(step)).astype(dtype)
        assert same_bits(result, want), wide


def test_quantize_from_f64_rounds_twice_only_as_it_says() -> None:
    """Once to f64 by the division, once to the format: not by way of f32."""
    x = np.asarray([1.0625 + 2.0**-40, 1.0625 - 2.0**-40, 1.0625, np.nan, -np.inf])
    one = np.asarray(1.0, np.float32)

    def body(x: ir.Value, s: ir.Value) -> list[ir.Value]:
        return [fp8.quantize(x, s, element("f8E4M3FN"))]

    (result,) = run(["5xf64", "f32"], body, x, one)
    assert result.view(np.uint8).tolist() == [0x39, 0x38, 0x38, result.view(np.uint8)[3], 0xFE]
    assert np.isnan(result[3])


def test_a_scale_of_zero_divides_by_zero() -> None:
    x = np.asarray([1.0, -1.0, 0.0], np.float32)

    def body(x: ir.Value, s: ir.Value) -> list[ir.Value]:
        return [
            fp8.quantize(x, s, element("f8E5M2")),
            fp8.quantize(x, s, element("f8E5M2"), saturate=False),
        ]

    clamped, plain = run(["3xf32", "f32"], body, x, np.asarray(0.0, np.float32))
    assert clamped.astype(np.float32)[:2].tolist() == [57344.0, -57344.0]
    assert plain.astype(np.float32)[:2].tolist() == [np.inf, -np.inf]
    assert np.isnan(clamped[2]) and np.isnan(plain[2])


@pytest.mark.parametrize("shape", [(0,), (4, 0), (1,), ()])
def test_empty_and_single(shape: tuple[int, ...]) -> None:
    x = np.full(shape, 3.1, np.float32)
    scale = np.asarray(2.0, np.float32)

    def body(x: ir.Value, s: ir.Value) -> list[ir.Value]:
        q = fp8.quantize(x, s, element("f8E4M3FN"))
        return [q, fp8.dequantize(q, s, element("f32"))]

    q, back = run([spelled(x, "f32"), "f32"], body, x, scale)
    assert same_bits(q, (x / scale).astype(FORMATS["f8E4M3FN"].dtype))
    assert same_bits(back, q.astype(np.float32) * scale)
