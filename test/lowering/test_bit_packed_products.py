"""Products of f4 and f6 that lie bit-packed: kernels read these; sums as of unpacked ones."""

import numpy as np
import pytest
from test_block_scaled_products import PAIRS, SCALES, arguments, program

import mlir_fp8
from mlir_fp8.arrays.packing import unpacked
from mlir_fp8.compiling.compile_options import CompileOptions
from mlir_fp8.compiling.execution import compile_module
from mlir_fp8.dialects._fp8_unpack import packed_size
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.pipelines import to_kernels, to_linalg

SHAPES = [(64, 512, 256), (1, 512, 256), (3, 96, 40), (33, 1056, 20), (1, 8352, 20)]
SHORT = [pair for pair in PAIRS if any(FORMATS[each].bits < 8 for each in pair[:2])]
TARGETS = ["host", "avx2", "avx512", "avx512-vbmi", "avx512-bf16", "baseline"]


def bits_of(array: np.ndarray, bits: int) -> np.ndarray:
    """The bytes of codes: their bits one after the other."""
    codes = array.view(np.uint8)[..., None]
    found = (codes >> np.arange(bits, dtype=np.uint8)) & 1
    return np.packbits(found.reshape(*array.shape[:-1], -1), axis=-1, bitorder="little")


def packed_program(
    pair: tuple[str, str, str], shape: tuple[int, int, int], *, transposed: bool
) -> str:
    """`program` that takes its short operands bit-packed."""
    text = program(pair, shape, transposed=transposed)
    unpacking = ""
    for number, element in enumerate(pair[:2]):
        if FORMATS[element].bits == 8:
            continue
        start = text.index(f"%arg{number}: tensor<") + len(f"%arg{number}: ")
        type_ = text[start : text.index(">", start) + 1]
        *outer, last = map(int, type_[len("tensor<") :].split("x")[:-1])
        held = f"tensor<{'x'.join(map(str, [*outer, packed_size(element, last)]))}xui8>"
        text = (
            f"{text[: start - len(f'%arg{number}: ')]}%p{number}: {held}"
            + text[start + len(type_) :]
        )
        unpacking += f'%arg{number} = "fp8.unpack"(%p{number}) : ({held}) -> {type_}\n'
    return text.replace("{\n", "{\n" + unpacking, 1)


def in_bits(pair: tuple[str, str, str], given: list[np.ndarray]) -> list[np.ndarray]:
    bits = [FORMATS[each].bits for each in pair[:2]]
    codes = [bits_of(a, b) if b < 8 else a for a, b in zip(given[:2], bits, strict=True)]
    return [*codes, *given[2:]]


@pytest.mark.parametrize("pair", SHORT, ids=str)
def test_kernels_read_packed_codes(pair: tuple[str, str, str]) -> None:
    for shape, transposed in zip(SHAPES, (False, True), strict=False):
        module = mlir_fp8.load(packed_program(pair, shape, transposed=transposed))
        run_pipeline(
            module, [*to_linalg(), *to_kernels(saturate=False, threads=1, kernels="avx512-vbmi")]
        )
        main = str(module).partition("func.func @main")[2]
        assert "call @product" in main
        assert "memref.alloc" not in main and "unpack" not in main


def check(pair: tuple[str, str, str], shape: tuple[int, int, int], target: str) -> None:
    """Within the bound, and the same bits as of unpacked codes and on two threads."""
    for transposed in (False, True):
        given = arguments(pair, shape, transposed=transposed)
        random = np.random.default_rng(3)
        for side, name in enumerate(pair[:2]):
            if FORMATS[name].bits < 8:  # all codes, -0.0 and subnormal ones among them
                codes = random.integers(0, 1 << FORMATS[name].bits, given[side].shape)
                given[side] = codes.astype(np.uint8).view(FORMATS[name].dtype)
        source = mlir_fp8.load(packed_program(pair, shape, transposed=transposed))
        packed = in_bits(pair, given)
        results = [
            compile_module(source, CompileOptions(threads=threads, kernels=target))[0](*packed)[0]
            for threads in (1, 2)
        ]
        np.testing.assert_array_equal(results[0], results[1])
        a, b, a_scale, b_scale = (each.astype(np.float64) for each in given)
        block = SCALES[pair[-1]]
        left = a * a_scale.repeat(block, 1)
        right = b * b_scale.repeat(block, int(transposed))
        right = right.T if transposed else right
        terms = np.abs(left) @ np.abs(right)
        assert (np.abs(results[0] - left @ right) <= 64 * 2.0**-24 * terms).all()


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("pair", SHORT, ids=str)
def test_sums_are_within_the_bound(pair: tuple[str, str, str], target: str) -> None:
    for shape in SHAPES:
        check(pair, shape, target)


@pytest.mark.parametrize("target", ["host", "avx512-vbmi", "avx2"])
@pytest.mark.parametrize("pair", [SHORT[0], SHORT[1], SHORT[2]], ids=str)
def test_sums_of_few_rows(pair: tuple[str, str, str], target: str) -> None:
    """Of one row also beyond what is summed at a time, and of a rest that fills no register."""
    check(pair, SHAPES[2], target)
    check(pair, SHAPES[4], target)


@pytest.mark.parametrize("block", [16, 32])
@pytest.mark.parametrize("rows", [1, 3])
def test_scales_of_all_codes(block: int, rows: int) -> None:
    """One row by f4 with scales of f8E8M0FNU, 2^-127 and NaN among them, and -0.0 times them."""
    shape = f"20x{288 // block}xf8E8M0FNU"
    text = f"""func.func @main(
        %x: tensor<{rows}x288xf32>, %p: tensor<20x144xui8>, %s: tensor<{shape}>
    ) -> tensor<{rows}x20xf32> {{
      %q = "fp8.unpack"(%p) : (tensor<20x144xui8>) -> tensor<20x288xf4E2M1FN>
      %w = "fp8.dequantize"(%q, %s)
        : (tensor<20x288xf4E2M1FN>, tensor<{shape}>) -> tensor<20x288xf32>
      %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1]
        : (tensor<{rows}x288xf32>, tensor<20x288xf32>) -> tensor<{rows}x20xf32>
      return %y : tensor<{rows}x20xf32>
    }}"""
    random = np.random.default_rng(7)
    packed = random.integers(0, 256, (20, 144)).astype(np.uint8)
    scales = random.integers(0, 240, (20, 288 // block)).astype(np.uint8)
    scales[0], scales[1, -1] = 0, 0xFF
    x = random.standard_normal((rows, 288)).astype(np.float32)
    given = [x, packed, scales.view(FORMATS["f8E8M0FNU"].dtype)]
    codes = np.stack([packed & 15, packed >> 4], -1).reshape(20, 288)
    wide = codes.view(FORMATS["f4E2M1FN"].dtype).astype(np.float64)
    wide = wide * given[2].astype(np.float64).repeat(block, 1)
    bound = 64 * 2.0**-24 * (np.abs(x) @ np.abs(wide).T)
    for threads in (1, 2):
        (got,) = mlir_fp8.compile(text, threads=threads)(*given)
        is_nan = np.isnan(bound)
        np.testing.assert_array_equal(np.isnan(got), is_nan)
        assert (np.abs(got - x @ wide.T)[~is_nan] <= bound[~is_nan]).all()


def unpacking(shape: str, packed: str) -> str:
    """Weights %w of f32, that %p, f4, holds."""
    f4 = f"tensor<{shape}xf4E2M1FN>"
    return f"""%q = "fp8.unpack"(%p) : (tensor<{packed}xui8>) -> {f4}
      %w = stablehlo.convert %q : ({f4}) -> tensor<{shape}xf32>"""


def numbers(random: np.random.Generator, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Random f4, packed, and as f32."""
    held = random.integers(0, 256, shape).astype(np.uint8)
    return held, unpacked(held).astype(np.float32)


def test_batches_convolutions_and_slices() -> None:
    """What kernels read as it lies, and what they do not: sums of small numbers are exact."""
    random = np.random.default_rng(9)
    batch = f"""func.func @main(%x: tensor<3x5x64xf32>, %p: tensor<3x40x32xui8>)
        -> tensor<3x5x40xf32> {{
      {unpacking("3x40x64", "3x40x32")}
      %y = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [2]
        : (tensor<3x5x64xf32>, tensor<3x40x64xf32>) -> tensor<3x5x40xf32>
      return %y : tensor<3x5x40xf32>
    }}"""
    x = random.integers(-8, 9, (3, 5, 64)).astype(np.float32)
    held, w = numbers(random, (3, 40, 32))
    (got,) = mlir_fp8.compile(batch)(x, held)
    np.testing.assert_array_equal(got, np.einsum("bik,bjk->bij", x, w))

    image = f"""func.func @main(%x: tensor<2x9x9x8xf32>, %p: tensor<3x3x8x8xui8>)
        -> tensor<2x7x7x16xf32> {{
      {unpacking("3x3x8x16", "3x3x8x8")}
      %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {{}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
        : (tensor<2x9x9x8xf32>, tensor<3x3x8x16xf32>) -> tensor<2x7x7x16xf32>
      return %y : tensor<2x7x7x16xf32>
    }}"""
    x = random.integers(-8, 9, (2, 9, 9, 8)).astype(np.float32)
    held, w = numbers(random, (3, 3, 8, 8))
    (got,) = mlir_fp8.compile(image)(x, held)
    places = [(i, j) for i in range(3) for j in range(3)]
    want = sum(x[:, i : i + 7, j : j + 7] @ w[i, j] for i, j in places)
    np.testing.assert_array_equal(got, want)

    for first in (1, 2):  # from the middle of a byte on, and from the next byte
        count = 64 - first
        slices = f"""func.func @main(%x: tensor<70x{count}xf32>, %p: tensor<40x32xui8>)
            -> tensor<70x40xf32> {{
          {unpacking("40x64", "40x32")}
          %s = stablehlo.slice %w [0:40, {first}:64] : (tensor<40x64xf32>) -> tensor<40x{count}xf32>
          %y = stablehlo.dot_general %x, %s, contracting_dims = [1] x [1]
            : (tensor<70x{count}xf32>, tensor<40x{count}xf32>) -> tensor<70x40xf32>
          return %y : tensor<70x40xf32>
        }}"""
        x = random.integers(-8, 9, (70, count)).astype(np.float32)
        held, w = numbers(random, (40, 32))
        (got,) = mlir_fp8.compile(slices)(x, held)
        np.testing.assert_array_equal(got, x @ w[:, first:].T)


@pytest.mark.parametrize("element", ["f4E2M1FN", "f6E3M2FN"])
def test_without_elements(element: str) -> None:
    """What has no row or no column is unpacked, and multiplied, like anything else."""
    size = packed_size(element, 8)
    assert size
    for rows, columns in ((0, 8), (5, 0), (0, 0)):
        held, made = f"{rows}x{columns and size}xui8", f"{rows}x{columns}x{element}"
        text = f"""func.func @main(%x: tensor<3x{columns}xf32>, %p: tensor<{held}>)
            -> (tensor<3x{rows}xf32>, tensor<{made}>) {{
          %q = "fp8.unpack"(%p) : (tensor<{held}>) -> tensor<{made}>
          %w = stablehlo.convert %q : (tensor<{made}>) -> tensor<{rows}x{columns}xf32>
          %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1]
            : (tensor<3x{columns}xf32>, tensor<{rows}x{columns}xf32>) -> tensor<3x{rows}xf32>
          return %y, %q : tensor<3x{rows}xf32>, tensor<{made}>
        }}"""
        x, packed = np.ones((3, columns), np.float32), np.ones((rows, columns and size), np.uint8)
        product, numbers = mlir_fp8.compile(text)(x, packed)
        np.testing.assert_array_equal(product, np.zeros((3, rows)))
        assert numbers.shape == (rows, columns) and numbers.dtype == FORMATS[element].dtype
