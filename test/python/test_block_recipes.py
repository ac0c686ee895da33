"""Recipes of block formats: scales and codes against numpy, and the products of dots."""

import ml_dtypes
import numpy as np
import pytest
from block_format_reference import FORMATS, blocks_of, microxcaling, nvfp4, wide
from block_programs import scaling, values
from hypothesis import given, settings
from hypothesis import strategies as st
from test_quantize_exact import Dims, dots

import mlir_fp8
from mlir_fp8 import MXScaling, NVFP4Scaling
from mlir_fp8.lowering.fp8.scaling.block_operands import random_hadamard
from mlir_fp8.lowering.fp8.scaling.decisions import Decision
from mlir_fp8.passes.pass_pipeline import run_pipeline

ROUNDINGS = ("floor", "ceil", "even")
MX = [(name, rounding) for name in FORMATS for rounding in ROUNDINGS]


def magnitudes() -> np.ndarray:
    """An amax of each exponent of f32, at and around where a scale changes; and no numbers."""
    mantissas = [0, 1, 2**22, 2**23 - 1]
    for bits in (1, 2, 3):  # halfway to the next power of two, with so many bits
        tie = (1 << 23) - (1 << (22 - bits))
        mantissas += [tie - 1, tie, tie + 1]
    for *_, largest in FORMATS.values():
        at = int((largest / 2.0 ** (np.frexp(largest)[1] - 1) - 1) * 2**23)
        mantissas += [at - 1, at, at + 1]
    exponents = np.arange(256, dtype=np.uint32)[:, None] << 23
    return (exponents | np.array(mantissas, np.uint32)).reshape(-1).view(np.float32)


@pytest.mark.parametrize(("format_", "rounding"), MX)
def test_every_exponent_gives_the_scale_of_the_specification(format_: str, rounding: str) -> None:
    amax = magnitudes()
    x = np.zeros((amax.size, 4), np.float32)
    x[np.arange(amax.size), np.arange(amax.size) % 4] = amax
    codes, scales = scaling(x.shape, (1, 4), format_, f"mx_{rounding}", None)(x)
    numbers, exponents = microxcaling(x, format_, 4, rounding)
    found = np.where(scales.view(np.uint8) == 255, np.nan, scales.view(np.uint8) - 127.0)
    np.testing.assert_array_equal(found, exponents)
    finite = np.isfinite(amax)
    np.testing.assert_array_equal(codes.astype(np.float64)[finite], numbers[finite])


@pytest.mark.parametrize(("format_", "rounding"), MX)
@pytest.mark.parametrize("size", [64, 40, 7])
def test_mx_codes_and_scales(format_: str, rounding: str, size: int) -> None:
    x = values(size, (33, size))
    codes, scales = scaling(x.shape, (1, 32), format_, f"mx_{rounding}", None)(x)
    numbers, exponents = microxcaling(x, format_, 32, rounding)
    np.testing.assert_array_equal(scales.view(np.uint8), exponents + 127)
    np.testing.assert_array_equal(codes.astype(np.float64), numbers)


@pytest.mark.parametrize("size", [64, 40, 7])
def test_nvfp4_codes_and_scales(size: int) -> None:
    x = values(size, (33, size))
    codes, scales, factor = scaling(x.shape, (1, 16), "f4E2M1FN", "nvfp4", None)(x)
    numbers, of_blocks, of_tensor = nvfp4(x)
    assert factor == of_tensor
    np.testing.assert_array_equal(scales.astype(np.float32), of_blocks)
    np.testing.assert_array_equal(codes.astype(np.float64), numbers)


@pytest.mark.parametrize("number", [0.0, -0.0, 2.0**-149, 2.0**-127, 3e38])
def test_blocks_of_one_number(number: float) -> None:
    x = np.full((2, 16), number, np.float32)
    codes, scales, factor = scaling(x.shape, (1, 16), "f4E2M1FN", "nvfp4", None)(x)
    stands_for = codes.astype(np.float64) * scales.astype(np.float64) * float(factor)
    assert np.isfinite(stands_for).all()
    assert (np.abs(stands_for - number) <= max(abs(number) / 4, 2.0**-127)).all()


def test_nan_is_not_lost() -> None:
    x = values(1, (4, 64))
    x[1, 3] = np.nan
    codes, scales = scaling(x.shape, (1, 32), "f4E2M1FN", "mx_floor", None)(x)
    assert scales.view(np.uint8)[1, 0] == 255 and (scales.view(np.uint8) == 255).sum() == 1
    _, scales, factor = scaling(x.shape, (1, 16), "f4E2M1FN", "nvfp4", None)(x)
    assert np.isnan(scales.astype(np.float32)).sum() == 1 and factor == 1
    assert not np.isnan(codes.astype(np.float32)).any()


def test_rounded_at_random_without_bias_and_by_the_data() -> None:
    x = np.full((1024, 32), 1.3, np.float32)
    x[:, 0] = 6.0  # the scale is 1
    run = scaling(x.shape, (1, 32), "f4E2M1FN", "mx_floor", 0)
    codes = run(x)[0].astype(np.float64)[:, 1:]
    assert set(np.unique(codes)) == {1.0, 1.5}
    assert abs(codes.mean() - 1.3) < 0.01
    np.testing.assert_array_equal(run(x)[0].astype(np.float64)[:, 1:], codes)
    x[0, 1] = 1.25
    assert (run(x)[0].astype(np.float64)[1:, 1:] != codes[1:]).mean() > 0.3
    other = scaling(x.shape, (1, 32), "f4E2M1FN", "mx_floor", 1)
    assert (other(x)[0].astype(np.float64)[1:, 1:] != codes[1:]).mean() > 0.3


RECIPES = [
    MXScaling(),
    MXScaling("f8E5M2", scale_rounding="ceil"),
    MXScaling("f6E2M3FN"),
    MXScaling("f6E3M2FN", block=16),
    MXScaling("f4E2M1FN", scale_rounding="even"),
    NVFP4Scaling(),
]


@given(dots(), st.sampled_from(RECIPES), st.integers(0, 2**32 - 1), st.sampled_from([1, 9, 40]))
@settings(deadline=None, max_examples=40)
def test_dots_of_any_dimensions(dims: Dims, recipe: MXScaling, seed: int, inner: int) -> None:
    """Blocks run along all that is summed, in the order of the pairs of dimensions."""
    random = np.random.default_rng(seed)
    dims.sizes["k"] = inner
    dtype = np.float32 if dims.element == "f32" else np.float16
    made = mlir_fp8.quantize(dims.text(), recipe)
    (decision,) = made.decisions
    assert not decision.left and made.state == {}
    summed = sorted(set(dims.lhs) & set("kl"))
    exact: list[np.ndarray] = []
    operands: list[np.ndarray] = []
    for letters in (dims.lhs, dims.rhs):
        shape = [dims.sizes[letter] for letter in letters]
        operands.append(random.standard_normal(shape).astype(dtype))
        batches = [each for each in letters if each in dims.lhs and each in dims.rhs]
        batches = [each for each in batches if each not in summed]
        free = [each for each in letters if each not in (*batches, *summed)]
        order = [letters.index(each) for each in (*batches, *free, *summed)]
        free = [*batches, *free]
        flat = operands[-1].transpose(order).astype(np.float32)
        flat = flat.reshape(*flat.shape[: len(free)], -1)
        back = np.zeros(flat.shape)
        for index in np.ndindex(flat.shape[: len(batches)]):  # NVFP4 has a number for each
            back[index] = wide(flat[index], recipe)
        back = back.reshape([dims.sizes[each] for each in (*free, *summed)])
        exact.append(back.transpose(np.argsort(order)))
    (result,) = mlir_fp8.compile(made.module)(*operands)
    equation = f"{dims.lhs},{dims.rhs}->{dims.result}"
    expected = np.einsum(equation, *exact)
    bound = np.einsum(equation, *map(np.abs, exact)) * (
        2.0**-20 if dtype == np.float32 else 2.0**-9
    )
    assert (np.abs(result.astype(np.float64) - expected) <= bound + 2.0**-24).all()


STEP = """func.func @main(%x: tensor<48x96xf32>, %w: tensor<96x64xf32>, %dy: tensor<48x64xf32>)
    -> (tensor<48x64xf32>, tensor<96x64xf32>, tensor<48x96xf32>) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<48x96xf32>, tensor<96x64xf32>) -> tensor<48x64xf32>
  %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] {mlir_fp8.gradient = "rhs"}
    : (tensor<48x96xf32>, tensor<48x64xf32>) -> tensor<96x64xf32>
  %dx = stablehlo.dot_general %dy, %w, contracting_dims = [1] x [1] {mlir_fp8.gradient = "lhs"}
    : (tensor<48x64xf32>, tensor<96x64xf32>) -> tensor<48x96xf32>
  return %y, %dw, %dx : tensor<48x64xf32>, tensor<96x64xf32>, tensor<48x96xf32>
}"""


def step_arguments() -> list[np.ndarray]:
    return [values(i, shape) for i, shape in enumerate([(48, 96), (96, 64), (48, 64)])]


def close(got: np.ndarray, want: np.ndarray) -> float:
    return float(np.linalg.norm(got - want) / np.linalg.norm(want))


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_gradients_are_quantized_anew_along_the_other_axis(recipe: MXScaling) -> None:
    made = mlir_fp8.quantize(STEP, recipe)
    x, w, dy = step_arguments()
    results = mlir_fp8.compile(made.module)(x, w, dy)
    decisions = [each for each in made.decisions if isinstance(each, Decision)]
    quantized = {name for each in decisions for name in each.quantizers or ()}
    assert len(quantized) == 6  # each tensor twice
    products = [(x, w.T), (x.T, dy.T), (dy, w)]
    for got, (a, b) in zip(results, products, strict=True):
        assert close(got, wide(a, recipe) @ wide(b, recipe).T) < 2e-6


@pytest.mark.parametrize("recipe", RECIPES[-2:], ids=str)
def test_options_of_gradients(recipe: MXScaling) -> None:
    options = {"stochastic_gradients": True, "hadamard": 16}
    own = {"format": "f4E2M1FN"} if isinstance(recipe, MXScaling) else {}
    with_both = type(recipe)(**own, **options)
    made = mlir_fp8.quantize(STEP, with_both)
    text = str(made.module)
    # Both operands of two dots are transformed, and of each one is a gradient.
    assert text.count('rounding = "stochastic"') == 2
    assert text.count("tensor<16x16xf32>) ->") == 4
    x, w, dy = step_arguments()
    results = mlir_fp8.compile(made.module)(x, w, dy)
    exact = [x.astype(np.float64) @ w, x.T.astype(np.float64) @ dy, dy.astype(np.float64) @ w.T]
    for got, want in zip(results, exact, strict=True):
        assert close(got, want) < 0.3
    assert close(results[0], wide(x, with_both) @ wide(w.T, with_both).T) < 2e-6


@pytest.mark.parametrize("recipe", [RECIPES[1], RECIPES[-1], "mx", "nvfp4"], ids=str)
def test_for_xla_gpu_dots_are_its_own_block_scaled_ones(recipe: MXScaling | str) -> None:
    made = mlir_fp8.quantize(STEP, recipe, target="xla-gpu")
    text = str(made.module)
    assert text.count("@__op$block_scaled_dot(") == 3 and '"fp8.' not in text
    plain = mlir_fp8.quantize(STEP, recipe)
    results = [mlir_fp8.compile(each.module)(*step_arguments()) for each in (made, plain)]
    for got, want in zip(*results, strict=True):
        assert close(got, want) < 2e-6  # sums in another order, where one is of bf16 pairs


@pytest.mark.parametrize("size", [2, 16, 256])
def test_the_transform_is_orthogonal(size: int) -> None:
    matrix = random_hadamard(size).astype(np.float64)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(size), atol=1e-6)


def test_a_transform_of_what_it_does_not_divide() -> None:
    """With blocks of one number of f8 nothing is lost but bits of elements."""
    recipe = MXScaling(block=1, hadamard=64)
    x, w, dy = step_arguments()
    results = mlir_fp8.compile(mlir_fp8.quantize(STEP, recipe).module)(x, w, dy)
    assert close(results[1], x.T.astype(np.float64) @ dy) < 0.06


def test_what_is_left() -> None:
    text = """func.func @main(%a: tensor<3xf32>, %b: tensor<4xf32>, %i: tensor<1x8x8x4xf32>,
        %k: tensor<3x3x4x4xf32>) -> (tensor<3x4xf32>, tensor<1x6x6x4xf32>) {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [] x []
        : (tensor<3xf32>, tensor<4xf32>) -> tensor<3x4xf32>
      %1 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x8x8x4xf32>, tensor<3x3x4x4xf32>) -> tensor<1x6x6x4xf32>
      return %0, %1 : tensor<3x4xf32>, tensor<1x6x6x4xf32>
    }"""
    left = [each.left for each in mlir_fp8.quantize(text, "mx").decisions]
    assert left == [
        "sums nothing, so that there is nothing for blocks to run along",
        "is a convolution, whose operands have no scales of blocks",
    ]


@pytest.mark.parametrize("shape", [(0, 64), (5, 0), (5, 1), (1, 33)])
def test_odd_sizes(shape: tuple[int, int]) -> None:
    rows, summed = shape
    text = f"""func.func @main(%a: tensor<{rows}x{summed}xf32>, %b: tensor<{summed}x3xf32>)
        -> tensor<{rows}x3xf32> {{
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<{rows}x{summed}xf32>, tensor<{summed}x3xf32>) -> tensor<{rows}x3xf32>
      return %0 : tensor<{rows}x3xf32>
    }}"""
    a, b = values(0, shape), values(1, (summed, 3))
    for recipe in (MXScaling(), NVFP4Scaling()):
        (result,) = mlir_fp8.compile(mlir_fp8.quantize(text, recipe).module)(a, b)
        want = wide(a, recipe) @ wide(np.ascontiguousarray(b.T), recipe).T if a.size else 0
        np.testing.assert_allclose(result, np.broadcast_to(want, (rows, 3)), rtol=1e-6, atol=1e-6)


def test_the_bits_of_a_block_are_all_that_counts() -> None:
    """Numbers that f4 and powers of two hold exactly are multiplied exactly."""
    random = np.random.default_rng(0)
    grid = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    a, b = (random.choice(grid, shape) * 2.0**-3 for shape in ((8, 64), (64, 8)))
    a[:, ::32] = b[::32] = 6 * 2.0**-3
    text = """func.func @main(%a: tensor<8x64xbf16>, %b: tensor<64x8xbf16>) -> tensor<8x8xf32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<8x64xbf16>, tensor<64x8xbf16>) -> tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }"""
    made = mlir_fp8.quantize(text, MXScaling("f4E2M1FN"))
    (result,) = mlir_fp8.compile(made.module)(*(each.astype(ml_dtypes.bfloat16) for each in (a, b)))
    np.testing.assert_array_equal(result, (a @ b).astype(np.float32))
    assert blocks_of(a, 32).shape == (8, 2, 32)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MXScaling("f8E4M3"), "'f8E4M3' is no format of MX: it is one of f8E4M3FN"),
        (lambda: MXScaling(backward="f16"), "'f16' is no backward format of MX"),
        (lambda: MXScaling(scale_rounding="up"), "'up' is no scale_rounding: it is one of floor"),
        (lambda: MXScaling(block=0), "block is 0: it is the number of elements, 1 or more"),
        (lambda: MXScaling(hadamard=12), "hadamard is 12: it is a power of two from 2 to 256"),
        (lambda: NVFP4Scaling(hadamard=1), "hadamard is 1: it is a power of two from 2 to 256"),
        (lambda: mlir_fp8.quantize(STEP, "mx", ops="all"), "the recipe has blocks along what"),
        (
            lambda: run_pipeline(
                mlir_fp8.load(STEP), ["fp8-quantize-dots{recipe=nvfp4 forward=f8E5M2}"]
            ),
            "recipe is nvfp4, which has no forward: it has stochastic_gradients, hadamard",
        ),
    ],
)
def test_refusals(make: object, message: str) -> None:
    with pytest.raises(mlir_fp8.Fp8Error) as raised:
        make()  # type: ignore[operator]
    assert message in str(raised.value)
