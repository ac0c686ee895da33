"""Dots of block formats: kernels read codes and scales, and sum within the bound of numerics.md."""

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.pipelines import to_kernels, to_linalg

SCALES = {"f8E8M0FNU": 32, "f8E4M3FN": 16}
PAIRS = [
    ("f8E4M3FN", "f8E4M3FN", "f8E8M0FNU"),
    ("f8E5M2", "f8E4M3FN", "f8E8M0FNU"),
    ("f8E5M2", "f8E5M2", "f8E8M0FNU"),
    ("f6E2M3FN", "f6E3M2FN", "f8E8M0FNU"),
    ("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU"),
    ("f4E2M1FN", "f4E2M1FN", "f8E4M3FN"),
    ("f8E4M3FN", "f4E2M1FN", "f8E8M0FNU"),
]
SHAPES = [(64, 512, 256), (1, 512, 256), (3, 96, 40), (33, 1056, 17)]


def program(pair: tuple[str, str, str], shape: tuple[int, int, int], *, transposed: bool) -> str:
    a, b, scale = pair
    m, k, n = shape
    of = k // SCALES[scale]
    right, right_scale = (f"{n}x{k}", f"{n}x{of}") if transposed else (f"{k}x{n}", f"{of}x{n}")
    numbers = (
        "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions ="
        f" [{int(transposed)}]>"
    )
    types = [f"{m}x{k}x{a}", f"{right}x{b}", f"{m}x{of}x{scale}", f"{right_scale}x{scale}"]
    operands = ", ".join(f"%arg{i}: tensor<{each}>" for i, each in enumerate(types))
    listed = ", ".join(f"tensor<{each}>" for each in types)
    return f"""func.func @main({operands}) -> tensor<{m}x{n}xf32> {{
      %0 = "fp8.scaled_dot"(%arg0, %arg1, %arg2, %arg3) {{dot_dimension_numbers = {numbers},
        operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>, operand_type = f32}}
        : ({listed}) -> tensor<{m}x{n}xf32>
      return %0 : tensor<{m}x{n}xf32>
    }}"""


def arguments(
    pair: tuple[str, str, str], shape: tuple[int, int, int], *, transposed: bool
) -> list[np.ndarray]:
    random = np.random.default_rng(sum(shape))
    *formats, scale = pair
    m, k, n = shape
    of = k // SCALES[scale]
    codes = [
        random.standard_normal((rows, k)).astype(FORMATS[each].dtype)
        for rows, each in zip((m, n), formats, strict=True)
    ]
    scales = [
        np.exp2(random.integers(-8, 8, (rows, of))).astype(FORMATS[scale].dtype) for rows in (m, n)
    ]
    if not transposed:
        codes[1], scales[1] = (np.ascontiguousarray(each.T) for each in (codes[1], scales[1]))
    return [*codes, *scales]


@pytest.mark.exhaustive
@pytest.mark.parametrize("pair", PAIRS, ids=str)
@pytest.mark.parametrize("transposed", [False, True])
def test_sums_are_within_the_bound_on_any_threads(
    pair: tuple[str, str, str], transposed: bool
) -> None:
    for shape in SHAPES:
        check_sums(pair, shape, transposed=transposed)


@pytest.mark.parametrize("pair", [PAIRS[0], PAIRS[5]], ids=str)
def test_sums_of_odd_sizes(pair: tuple[str, str, str]) -> None:
    check_sums(pair, SHAPES[-1], transposed=True)


def check_sums(
    pair: tuple[str, str, str], shape: tuple[int, int, int], *, transposed: bool
) -> None:
    given = arguments(pair, shape, transposed=transposed)
    text = program(pair, shape, transposed=transposed)
    (one,) = mlir_fp8.compile(text, threads=1)(*given)
    (two,) = mlir_fp8.compile(text, threads=2)(*given)
    np.testing.assert_array_equal(one, two)
    a, b, a_scale, b_scale = (each.astype(np.float64) for each in given)
    block = SCALES[pair[-1]]
    left = a * a_scale.repeat(block, 1)
    right = b * b_scale.repeat(block, int(transposed))
    right = right.T if transposed else right
    terms = np.abs(left) @ np.abs(right)
    assert (np.abs(one - left @ right) <= 64 * 2.0**-24 * terms).all()


@pytest.mark.parametrize("target", ["avx2", "avx512", "amx-bf16", "neon"])
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_kernels_read_codes_and_scales(pair: tuple[str, str, str], target: str) -> None:
    for shape, transposed in zip(SHAPES, (False, True), strict=False):
        module = mlir_fp8.load(program(pair, shape, transposed=transposed))
        run_pipeline(module, [*to_linalg(), *to_kernels(saturate=False, threads=1, kernels=target)])
        main = str(module).partition("func.func @main")[2]
        assert "call @product" in main
        # Nothing is dequantized into memory before; a flag says whether bf16 loses numbers.
        allocated = [each for each in main.splitlines() if "memref.alloc" in each]
        assert all("memref<1xi32>" in each for each in allocated)
        assert "linalg.generic" not in main


@pytest.mark.parametrize("pair", [PAIRS[0], PAIRS[2], PAIRS[3], PAIRS[4]], ids=str)
@pytest.mark.parametrize("scales", ["small", "small for zeros", "all codes"])
def test_scales_beyond_what_bf16_holds(pair: tuple[str, str, str], scales: str) -> None:
    """Codes of all kinds times 2^-127 and its neighbours, and times NaN."""
    shape = (40, 96, 33)
    given, random = arguments(pair, shape, transposed=True), np.random.default_rng(5)
    for side, name in enumerate(pair[:2]):
        codes = random.integers(0, 1 << FORMATS[name].bits, given[side].shape).astype(np.uint8)
        codes = codes.view(FORMATS[name].dtype)
        codes[~np.isfinite(codes.astype(np.float32))] = 0
        given[side] = codes
    rows = given[2].view(np.uint8)
    if scales == "small":
        rows[:] = random.integers(0, 12, rows.shape)
        given[3].view(np.uint8)[:] = random.integers(190, 215, given[3].shape)
    elif scales == "small for zeros":
        rows[0], given[0][0] = 0, 0
    else:
        # Each row of the left operand has one scale, and the right one's make up for it.
        rows[:] = np.arange(40)[:, None] + 107
        rows[-1] = 0xFF
    a, b, a_scale, b_scale = (each.astype(np.float64) for each in given)
    left, right = a * a_scale.repeat(32, 1), b * b_scale.repeat(32, 1)
    for threads in (1, 2):
        (one,) = mlir_fp8.compile(program(pair, shape, transposed=True), threads=threads)(*given)
        bound = 64 * 2.0**-24 * (np.abs(left) @ np.abs(right).T)
        is_nan = np.isnan(bound)
        np.testing.assert_array_equal(np.isnan(one), is_nan)
        assert (np.abs(one - left @ right.T)[~is_nan] <= bound[~is_nan]).all()
