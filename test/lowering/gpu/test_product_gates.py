"""Two products of one matrix, an activation of one times the other, run from their PTX."""

import dataclasses
from pathlib import Path
from typing import Any

import gpu_kernels as gpu
import numpy as np
import pytest
from gpu_products import by_numpy, on_gpu, operands
from hand_written_ptx import assert_runs_at_full_rate

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.product.kernel import product_kernel
from mlir_fp8.lowering.gpu.kernels.product.shape import Epilogue, Product

TILE: dict[str, Any] = {"tile_m": 64, "tile_n": 128, "stages": 2, "blocks": 2}
RELU = Epilogue("tensor", "tensor", activation="relu", gate="f32")
SHAPES = {
    "apart": Product(70, 72, 272, up="apart", epilogue=RELU, **TILE),
    "below": Product(70, 72, 272, up="below", epilogue=RELU, **TILE),
    "odd": Product(67, 71, 144, up="below", epilogue=RELU, **TILE),
    "odd_columns": Product(
        67, 71, 144, up="apart", epilogue=dataclasses.replace(RELU, b_scale="column"), **TILE
    ),
    "columns_below": Product(
        67, 71, 144, up="below", epilogue=dataclasses.replace(RELU, b_scale="column"), **TILE
    ),
    "no_scales": Product(
        64, 128, 32, up="apart", epilogue=Epilogue(activation="relu", gate="f32"), **TILE
    ),
    "cluster": Product(140, 130, 272, up="apart", epilogue=RELU, cluster=2, blocks=4, stages=2),
    "cluster_below": Product(
        140, 130, 272, up="below", epilogue=RELU, cluster=2, blocks=2, stages=2
    ),
    "exact": Product(
        70, 72, 400, up="apart", epilogue=RELU, tile_n=128, stages=2, blocks=2, exact_sums=True
    ),
}
EPILOGUES = {
    "bf16": Epilogue(activation="relu", gate="bf16", result="bf16"),
    "f8": Epilogue(
        "row", "column", activation="relu", gate="bf16", amax=True, d_scale="divide", d_type="f32",
        result="f8E4M3FN", transposed=True,
    ),
    "stored": Epilogue(
        "tensor", activation="none", stored="bf16", gate="f32", d_scale="multiply", result="f8E5M2",
        amax=True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("name", list(SHAPES))
def test_all_shapes(name: str, early: bool) -> None:
    given = operands(SHAPES[name])
    found, wanted = on_gpu(SHAPES[name], given, early=early)[0], by_numpy(SHAPES[name], given)[0]
    np.testing.assert_array_equal(found, wanted)
    assert len(np.unique(found)) > 10


@pytest.mark.parametrize("up", ["apart", "below"])
@pytest.mark.parametrize("name", list(EPILOGUES))
def test_epilogues(name: str, up: str) -> None:
    shape = Product(67, 72, 144, up=up, epilogue=EPILOGUES[name], **TILE)
    given = operands(shape)
    (found, amax), (wanted, most) = on_gpu(shape, given), by_numpy(shape, given)
    np.testing.assert_array_equal(found.astype(np.float32), wanted.astype(np.float32))
    if shape.epilogue.amax:
        assert amax[0] == most


@pytest.mark.parametrize("gate", ["f32", "bf16"])
def test_silu(gate: str) -> None:
    steps = Epilogue("tensor", "tensor", activation="silu", gate=gate, result=gate)
    shape = Product(64, 80, 32, up="apart", epilogue=steps, **TILE)
    given = operands(shape)
    found, wanted = (
        x.astype(np.float32) for x in (on_gpu(shape, given)[0], by_numpy(shape, given)[0])
    )
    linear = dataclasses.replace(shape, epilogue=dataclasses.replace(steps, activation="none"))
    size = np.abs(by_numpy(linear, given)[0].astype(np.float32))
    far = np.abs(found - wanted)
    assert (far <= (5e-7 if gate == "f32" else 2.0**-7) * size).all()
    assert gate == "f32" or np.mean(far > 0) < 0.01


N = 4096
REAL = {
    "bf16": Product(
        N, 14336, N, up="apart", cluster=2,
        epilogue=Epilogue("row", "column", activation="silu", gate="bf16", result="bf16"),
    ),
    "f8": Product(
        N, 14336, N, up="below", cluster=2, epilogue=dataclasses.replace(
            EPILOGUES["f8"], activation="silu", a_scale="tensor", b_scale="tensor"
        ),
    ),
    "exact_odd": Product(
        N - 1, 14335, N, up="below", cluster=2, tile_n=128, stages=6, exact_sums=True,
        epilogue=dataclasses.replace(EPILOGUES["f8"], activation="gelu_tanh"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(REAL))
def test_kernels_assemble_without_spills(name: str, tmp_path: Path) -> None:
    shape = REAL[name]
    assert_runs_at_full_rate(gpu.ptx_of(product_kernel(shape)), shape.threads, tmp_path)


REFUSED = {
    "go together": Product(64, 64, 64, up="apart", **TILE),
    "apart or below, go together": Product(64, 64, 64, epilogue=RELU, **TILE),
    "of 128 or 256 columns": Product(64, 64, 64, up="below", epilogue=RELU, tile_n=192),
    "a gate and a bias, c or alpha": Product(
        64, 64, 64, up="below", epilogue=dataclasses.replace(RELU, bias="f32"), **TILE
    ),
}


@pytest.mark.parametrize("reason", list(REFUSED))
def test_what_cannot_run_is_refused_before(reason: str) -> None:
    with pytest.raises(Fp8Error, match=reason) as caught:
        product_kernel(REFUSED[reason])
    assert "\n" not in str(caught.value)
