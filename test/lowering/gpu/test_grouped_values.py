"""Kernels of grouped products, run from their PTX, against numpy; to the bit: sums are exact."""

import dataclasses
from typing import Any

import gpu_grouped as grouped
import numpy as np
import pytest
from gpu_grouped import by_numpy, on_gpu, operands

from mlir_fp8.lowering.gpu.kernels.grouped.shape import Grouped
from mlir_fp8.lowering.gpu.kernels.product.shape import Epilogue, Product

TILE: dict[str, Any] = {"tile_m": 64, "tile_n": 64, "stages": 2}


def _assert_same(shape: Grouped, sizes: list[int], **how: bool) -> None:
    given = operands(shape, sizes)
    found, wanted = on_gpu(shape, given, **how), by_numpy(shape, given)
    np.testing.assert_array_equal(found.astype(np.float32), wanted.astype(np.float32))


ROWS = {
    "whole_tiles": (Product(192, 64, 128, **TILE), [64, 128]),
    "no_whole_tile": (Product(150, 72, 144, blocks=3, **TILE), [10, 0, 67, 40, 33]),
    "one_block": (Product(100, 130, 32, blocks=1, **TILE), [1, 0, 0, 99]),
    "all_in_one": (Product(150, 40, 32, blocks=2, **TILE), [0, 150, 0]),
    "rows_of_none": (Product(200, 40, 272, blocks=2, **TILE), [30, 0, 40]),
    "all_of_none": (Product(70, 40, 32, blocks=2, **TILE), [0, 0]),
    "too_many": (Product(70, 40, 32, blocks=2, **TILE), [30, 60, 2147483647, 5]),
    "negative": (Product(70, 40, 32, blocks=2, **TILE), [30, -60, 7]),
    "one_group": (Product(70, 40, 32, blocks=2, **TILE), [64]),
    "two_warpgroups": (Product(200, 130, 272, tile_n=128, stages=3, blocks=2), [129, 3, 60]),
    "cluster": (Product(300, 136, 272, cluster=2, blocks=4, **TILE), [0, 70, 129, 60]),
    "cluster_of_few": (Product(9, 72, 144, cluster=2, blocks=2, **TILE), [3, 0, 2]),
    "exact": (Product(150, 72, 656, blocks=2, exact_sums=True, **TILE), [65, 0, 70]),
    "groups_of_tiles": (Product(400, 100, 32, blocks=3, group=2, **TILE), [200, 130, 60]),
    "e5m2": (Product(100, 71, 32, "f8E5M2", "f8E4M3FN", blocks=2, **TILE), [50, 0, 49]),
}  # fmt: skip


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("name", list(ROWS))
def test_groups_of_rows(name: str, early: bool) -> None:
    product, sizes = ROWS[name]
    _assert_same(Grouped(product, len(sizes)), sizes, early=early)


SUMS = {
    "whole_steps": (Product(64, 64, 384, **TILE), [128, 256]),
    "no_whole_step": (Product(70, 72, 400, blocks=3, **TILE), [10, 0, 167, 40, 133]),
    "one_block": (Product(64, 130, 160, blocks=1, **TILE), [1, 0, 0, 99]),
    "all_in_one": (Product(100, 40, 160, blocks=2, **TILE), [0, 160, 0]),
    "all_of_none": (Product(70, 40, 32, blocks=2, **TILE), [0, 0]),
    "too_many": (Product(70, 40, 160, blocks=2, **TILE), [30, 160, 2147483647, 5]),
    "negative": (Product(70, 40, 160, blocks=2, **TILE), [30, -60, 100]),
    "more_steps_than_stages": (Product(64, 64, 960, **TILE), [700, 1, 200]),
    "two_warpgroups": (Product(200, 130, 272, tile_n=128, stages=3, blocks=2), [129, 3, 60]),
    "cluster": (Product(200, 136, 400, cluster=2, blocks=4, **TILE), [0, 170, 129, 60]),
    "exact": (Product(70, 72, 656, blocks=2, exact_sums=True, **TILE), [265, 0, 270]),
    "e5m2": (Product(66, 71, 160, "f8E4M3FN", "f8E5M2", blocks=2, **TILE), [50, 0, 49]),
}


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("name", list(SUMS))
def test_groups_of_sums(name: str, early: bool) -> None:
    product, sizes = SUMS[name]
    _assert_same(Grouped(product, len(sizes), "sums"), sizes, early=early)


EPILOGUES = {
    "tensor": Epilogue("tensor", "tensor", result="bf16"),
    "rows_columns": Epilogue("row", "column", result="bf16"),
    "columns_f32": Epilogue("", "column"),
    "rows_f16": Epilogue("row", "", "f16", "f16", result="f16"),
}


@pytest.mark.parametrize("n", [72, 71])
@pytest.mark.parametrize("ragged", ["rows", "sums"])
@pytest.mark.parametrize("name", list(EPILOGUES))
def test_scales(name: str, ragged: str, n: int) -> None:
    product = Product(100, n, 144, epilogue=EPILOGUES[name], blocks=2, **TILE)
    _assert_same(Grouped(product, 4, ragged), [30, 0, 41, 20])


@pytest.mark.parametrize("ragged", ["rows", "sums"])
@pytest.mark.parametrize("of", ["a", "b", "ab"])
def test_scales_of_groups(of: str, ragged: str) -> None:
    others = Epilogue("" if "a" in of else "row", "" if "b" in of else "column", result="bf16")
    product = Product(100, 40, 144, epilogue=others, blocks=2, **TILE)
    _assert_same(Grouped(product, 4, ragged, tuple(of)), [30, 0, 41, 20])


def test_rows_of_no_group_do_not_see_scales_of_groups() -> None:
    product = Product(100, 40, 144, epilogue=Epilogue("", "column"), blocks=2, **TILE)
    for shape in (
        Grouped(product, 2),
        Grouped(dataclasses.replace(product, epilogue=Epilogue()), 2, of_groups=("b",)),
    ):
        given = operands(shape, [30, 40])
        given.b_scale[len(given.b_scale) // 2 :] = -np.inf
        with np.errstate(all="ignore"):
            found = on_gpu(shape, given)
        assert not found[70:].any() and not np.signbit(found[70:]).any()
        assert np.isfinite(found[:30]).all() and not np.isfinite(found[30:70]).all()


@pytest.mark.parametrize("ragged", ["rows", "sums"])
def test_nan_stays_in_its_group(ragged: str) -> None:
    """Also where a tile has a part of two groups: what is outside is no factor, not even of 0."""
    shape = Grouped(Product(100, 72, 112, blocks=2, **TILE), 3, ragged)
    given = operands(shape, [37, 21, 20])
    part = grouped.parts(shape, given.sizes)[1]
    if ragged == "rows":
        given.a[part] = np.nan
    else:
        given.a[:, part] = given.b[:, part] = np.nan
    with np.errstate(all="ignore"):
        found, wanted = on_gpu(shape, given), by_numpy(shape, given)
    np.testing.assert_array_equal(found, wanted)
    one = found[part] if ragged == "rows" else found[1]
    assert np.isnan(one).all() and np.isnan(found).sum() == one.size


@pytest.mark.parametrize("ragged", ["rows", "sums"])
def test_the_tiles_of_large_products(ragged: str) -> None:
    steps = Epilogue("row", "column", result="bf16")
    shape = Grouped(Product(300, 300, 656, cluster=2, blocks=2, epilogue=steps), 3, ragged)
    _assert_same(shape, [130, 0, 150])
