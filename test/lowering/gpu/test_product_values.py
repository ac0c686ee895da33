"""Kernels of products, run from their PTX, against numpy; to the bit where sums are exact."""

import dataclasses
from typing import Any

import gpu_products as products
import numpy as np
import pytest
from gpu_products import by_numpy, on_gpu, operands

from mlir_fp8.lowering.gpu.kernels.product.blocks import Blocks
from mlir_fp8.lowering.gpu.kernels.product.shape import Epilogue, Product

TILE: dict[str, Any] = {"tile_m": 64, "tile_n": 64, "stages": 2}
SHAPES = {
    "one_tile": Product(64, 64, 128, **TILE),
    "one_step_of_16": Product(64, 64, 16, **TILE),
    "more_steps_than_stages": Product(64, 64, 656, **TILE),
    "one_number": Product(1, 1, 16, **TILE),
    "one_block_of_many_tiles": Product(130, 200, 144, blocks=1, **TILE),
    "groups": Product(330, 100, 32, blocks=3, group=2, **TILE),
    "odd": Product(67, 71, 272, blocks=2, **TILE),
    "two_warpgroups": Product(200, 130, 272, tile_n=128, stages=3, blocks=2),
    "wide": Product(128, 260, 144, stages=2, blocks=2),
    "192": Product(70, 200, 144, tile_n=192, stages=3, blocks=2),
    "cluster": Product(200, 136, 272, cluster=2, blocks=4, **TILE),
    "cluster_of_few_rows": Product(3, 300, 400, cluster=2, blocks=2, **TILE),
    "exact": Product(70, 72, 656, blocks=2, exact_sums=True, **TILE),
    "exact_cluster": Product(
        300, 136, 272, tile_n=128, cluster=2, blocks=2, stages=2, exact_sums=True
    ),
}
STEPS = Epilogue("row", "column", bias="f32", amax=True)
SHAPES |= {
    "batches": Product(67, 72, 144, batches=3, epilogue=STEPS, blocks=2, **TILE),
    "batches_odd": Product(9, 71, 144, batches=5, epilogue=STEPS, blocks=3, **TILE),
    "batches_whole": Product(64, 64, 32, batches=2, blocks=1, **TILE),
    "batches_cluster": Product(140, 72, 272, batches=2, cluster=2, blocks=2, **TILE),
    "batches_and_blocks": Product(
        66, 71, 256, batches=2, exact_sums=True, a_blocks=Blocks(1), b_blocks=Blocks(1, by_k=True),
        blocks=2, **TILE,
    ),
    "batches_and_squares": Product(
        128, 256, 256, batches=2, exact_sums=True, a_blocks=Blocks(128), b_blocks=Blocks(128),
        blocks=2, **TILE,
    ),
}  # fmt: skip
FORMATS = [(a, b) for a in products.F8 for b in products.F8]


def _assert_same(found: np.ndarray, wanted: np.ndarray) -> None:
    np.testing.assert_array_equal(found.astype(np.float32), wanted.astype(np.float32))


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("name", list(SHAPES))
def test_sums_of_all_shapes(name: str, early: bool) -> None:
    given = operands(SHAPES[name])
    _assert_same(on_gpu(SHAPES[name], given, early=early)[0], by_numpy(SHAPES[name], given)[0])


@pytest.mark.parametrize(("a", "b"), FORMATS)
def test_all_pairs_of_formats(a: str, b: str) -> None:
    shape = Product(66, 40, 144, a, b, **TILE)
    given = operands(shape)
    _assert_same(on_gpu(shape, given)[0], by_numpy(shape, given)[0])


EPILOGUES = {
    "tensor": Epilogue("tensor", "tensor"),
    "rows": Epilogue("row", "", result="bf16"),
    "columns": Epilogue("", "column", result="f16"),
    "rows_columns": Epilogue("row", "column", result="bf16"),
    "alpha": Epilogue(alpha=0.37, result="bf16"),
    "bias_f32": Epilogue(bias="f32", activation="relu"),
    "bias_bf16": Epilogue("row", bias="bf16", activation="relu", result="bf16"),
    "bias_f16": Epilogue(bias="f16", result="f16"),
    "amax": Epilogue("tensor", bias="bf16", amax=True, result="bf16"),
    "f8": Epilogue("tensor", "column", result="f8E4M3FN"),
    "f8_divide": Epilogue(bias="bf16", amax=True, d_scale="divide", result="f8E4M3FN"),
    "f8_multiply": Epilogue(activation="relu", amax=True, d_scale="multiply", result="f8E5M2"),
    "transposed": Epilogue(bias="bf16", result="f8E4M3FN", transposed=True),
    "transposed_amax": Epilogue(amax=True, d_scale="divide", result="f8E5M2", transposed=True),
    "f32_divide": Epilogue(d_scale="divide"),
    "bf16_steps": Epilogue(
        "tensor", "column", "bf16", "bf16", 0.3, "f32", "relu", True, "divide", "f8E4M3FN"
    ),
    "f16_steps": Epilogue("row", dot_type="f16", type="f16", bias="bf16", result="f16"),
    "bf16_sums_in_f32": Epilogue(dot_type="bf16", bias="f32"),
    "inverses": Epilogue("row", "column", a_inverse=True, b_inverse=True, result="bf16"),
    "c": Epilogue("tensor", c="f32", bias="bf16", activation="relu"),
    "c_beta": Epilogue(c="bf16", beta=0.3, amax=True, d_scale="divide", result="f8E4M3FN"),
    "c_bf16_steps": Epilogue(dot_type="bf16", type="bf16", c="f16", beta=0.7, result="bf16"),
    "stored": Epilogue(alpha=0.37, stored="bf16", amax=True, d_scale="divide", result="f8E4M3FN"),
    "scaled_in_f32": Epilogue(
        dot_type="bf16", type="bf16", bias="bf16", d_scale="divide", d_type="f32", result="f8E5M2"
    ),
}


SIZES = [(name, 66, 72) for name in EPILOGUES] + [(name, 67, 71) for name in EPILOGUES]
SIZES += [
    (name, *size)
    for name in ("rows", "f8_divide", "amax", "transposed")
    for size in ((64, 64), (9, 130))
]
SIZES.append(("transposed", 200, 64))


@pytest.mark.parametrize(("name", "m", "n"), SIZES)
def test_epilogues(name: str, m: int, n: int) -> None:
    shape = Product(m, n, 32, epilogue=EPILOGUES[name], blocks=2, **TILE)
    given = operands(shape)
    (found, amax), (wanted, most) = on_gpu(shape, given), by_numpy(shape, given)
    _assert_same(found, wanted)
    if shape.epilogue.amax:
        assert amax[0] == most


@pytest.mark.parametrize("activation", ["gelu_tanh", "silu", "gelu_erf"])
@pytest.mark.parametrize("type_", ["f32", "bf16", "f16"])
def test_curved_activations(activation: str, type_: str) -> None:
    steps = Epilogue("tensor", "column", type_, type_, bias="f32", activation=activation)
    shape = Product(64, 80, 32, epilogue=steps, **TILE)
    given = operands(shape)
    given.a[:8] = 0
    given.bias[:] = np.linspace(-12, 12, 80)
    found, wanted = on_gpu(shape, given)[0], by_numpy(shape, given)[0]
    far = np.abs(found - wanted)
    if type_ == "f32":
        linear = np.abs(by_numpy(_linear(shape), given)[0])
        assert (far <= 5e-7 * linear).all()
    else:  # a sigmoid in f32 may round the other way
        step = {"bf16": 2.0**-7, "f16": 2.0**-10}[type_]
        assert (far <= step * np.abs(wanted) + 1e-36).all() and np.mean(far > 0) < 0.01


def _linear(shape: Product) -> Product:
    return dataclasses.replace(
        shape, epilogue=dataclasses.replace(shape.epilogue, activation="none")
    )


@pytest.mark.parametrize("d_scale", ["divide", "multiply"])
@pytest.mark.parametrize("scale", [0.5, 3e-39, -0.37, 2.0**70, np.inf, np.nan, 0.0])
def test_any_scale_of_the_result(d_scale: str, scale: float) -> None:
    steps = Epilogue(d_scale=d_scale, result="f8E4M3FN", amax=True)
    shape = Product(8, 64, 16, epilogue=steps, **TILE)
    given = operands(shape)
    given.d_scale[0] = scale
    _assert_same(on_gpu(shape, given)[0], by_numpy(shape, given)[0])


def test_nan_and_infinity_go_through() -> None:
    steps = Epilogue("tensor", activation="relu", amax=True, d_scale="multiply", result="f8E5M2")
    shape = Product(20, 24, 32, "f8E5M2", epilogue=steps, **TILE)
    given = operands(shape)
    given.a[3, 5], given.a[7, 2], given.a[9, 0] = np.nan, np.inf, -np.inf
    with np.errstate(all="ignore"):
        (found, amax), (wanted, _) = on_gpu(shape, given), by_numpy(shape, given)
    _assert_same(found, wanted)
    assert np.isnan(amax[0])


def test_amax_is_of_all_tiles_and_of_what_was_before() -> None:
    shape = Product(130, 130, 16, epilogue=Epilogue(amax=True), blocks=2, **TILE)
    given = operands(shape)
    assert on_gpu(shape, given, 1e6)[1][0] == 1e6
    given.a[:], given.b[:] = 0, 0
    given.a[129, 0] = given.b[128, 0] = 448
    assert on_gpu(shape, given)[1][0] == 448 * 448


def test_amax_does_not_count_what_is_outside() -> None:
    """Where A has no row a sum is 0, and the bias alone is left."""
    steps = Epilogue(bias="f32", amax=True)
    shape = Product(3, 5, 16, epilogue=steps, **TILE)
    given = operands(shape)
    given.a[:], given.b[:], given.bias[:] = 1, 1, -16
    assert on_gpu(shape, given)[1][0] == 0


def test_the_tiles_of_large_products() -> None:
    steps = dataclasses.replace(EPILOGUES["transposed_amax"], a_scale="row", bias="bf16")
    shape = Product(140, 300, 656, cluster=2, blocks=2, epilogue=steps)
    given = operands(shape)
    (found, amax), (wanted, most) = on_gpu(shape, given), by_numpy(shape, given)
    _assert_same(found, wanted)
    assert amax[0] == most
