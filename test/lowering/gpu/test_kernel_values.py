"""The codes, scales and amax of kernels, run from their PTX, against numpy: to the bit."""

import gpu_kernels as gpu
import numpy as np
import pytest

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.quantize import Quantize, quantize_kernel
from mlir_fp8.lowering.gpu.kernels.quantize_rows import (
    QuantizeGroups,
    QuantizeRows,
    quantize_groups_kernel,
    quantize_rows_kernel,
)
from mlir_fp8.lowering.gpu.kernels.quantize_transpose import (
    QuantizeTranspose,
    quantize_transpose_kernel,
)

ELEMENTS = pytest.mark.parametrize("element", list(gpu.ELEMENTS))
FORMATS = pytest.mark.parametrize("format_", list(gpu.FORMATS))
# A power of two, other numbers, and those whose reciprocal is no f32 or none that is normal.
SCALES = (0.5, 0.37, -3.0, 2.0**-140, 1e-39, 2.0**127, 3e38, 0.0, np.inf, np.nan)


@pytest.mark.sampled(5)
@ELEMENTS
@FORMATS
@pytest.mark.parametrize("division", ["branch", "exact"])
def test_quantize(element: str, format_: str, division: str) -> None:
    count = 128 * 16 + 37  # not a multiple of anything
    x = gpu.random((count,), element)
    shape = Quantize(count, element, format_, division=division, threads=64, loads=2)
    kernel = quantize_kernel(shape)
    for scale in SCALES:
        one = np.array([scale], np.float32)
        amax = np.zeros(1, np.float32)
        *_, q, amax = gpu.run(kernel, [x, one, amax, gpu.unwritten(count), amax])
        gpu.assert_codes(q, gpu.codes(x, scale, format_), format_)
        assert amax[0] == np.inf


def test_a_quotient_between_two_codes() -> None:
    """x / s rounds to a tie of E4M3, which goes to even, where x (1 / s) is just above it."""
    for scale in np.array([1, 3, 77, 4095], np.float32) + np.float32(2**23):
        # All neighbours of all ties: 16.5 / 16, 17.5 / 16 ... of numbers with three bits behind 1.
        ties = (np.arange(17, 32, 2, dtype=np.float32) / 16 * scale).astype(np.float32)
        x = (ties.view(np.int32)[:, None] + np.arange(-8, 8)).astype(np.int32).view(np.float32)
        kernel = quantize_kernel(Quantize(x.size, "f32", amax=False, threads=32, loads=1))
        q = gpu.run(kernel, [x, np.array([scale]), gpu.unwritten(x.size)])[-1]
        np.testing.assert_array_equal(q, gpu.codes(x, scale, "f8E4M3FN").reshape(-1))


def test_amax_keeps_what_is_larger_and_nan() -> None:
    x = np.linspace(-3, 2, 512, dtype=np.float32)
    kernel = quantize_kernel(Quantize(512, "f32", threads=64, loads=1))
    for before, wanted in ((0.0, 3.0), (7.0, 7.0)):
        start = np.array([before], np.float32)
        buffers = [x, np.ones(1, np.float32), start, gpu.unwritten(512), start]
        assert gpu.run(kernel, buffers)[-1][0] == wanted
    x[77] = np.nan
    found = gpu.run(kernel, [x, np.ones(1, np.float32), start, gpu.unwritten(512), start])[-1]
    assert np.isnan(found[0])


@pytest.mark.parametrize(
    ("rows", "columns", "options"),
    [
        (128, 256, {}),
        (128, 128, {"element": "f32", "format": "f8E5M2"}),
        (136, 264, {}),  # a tile that ends in the middle, whole vectors
        (100, 99, {"element": "f16"}),  # rows that begin anywhere
        (33, 130, {"element": "f32"}),
        (128, 64, {"tile_columns": 64}),
        (256, 64, {"tile_rows": 256, "tile_columns": 64}),
        (130, 256, {"tile_columns": 256, "amax": False}),
        (128, 136, {"plain": False, "division": "exact"}),
        (129, 272, {"paired": True}),
    ],
)
def test_quantize_transpose(rows: int, columns: int, options: dict[str, str]) -> None:
    shape = QuantizeTranspose(rows, columns, **options)  # pyright: ignore[reportArgumentType]
    x = gpu.random((rows, columns), shape.element)
    amax = [np.zeros(1, np.float32)] * shape.amax
    plain = [gpu.unwritten(rows, columns)] * shape.plain
    buffers = [x, np.array([0.3], np.float32), *amax, *plain, gpu.unwritten(columns, rows), *amax]
    results = gpu.run(quantize_transpose_kernel(shape), buffers)[2 + shape.amax :]
    wanted = gpu.codes(x, 0.3, shape.format)
    if shape.plain:
        gpu.assert_codes(results.pop(0), wanted, shape.format)
    gpu.assert_codes(results.pop(0), wanted.T, shape.format)
    assert [each[0] for each in results] == [np.inf] * shape.amax


def test_tiles_that_no_block_has_are_refused() -> None:
    with pytest.raises(Fp8Error, match="no tile of 64 x 128 bf16"):
        quantize_transpose_kernel(QuantizeTranspose(128, 128, tile_rows=64))
    with pytest.raises(Fp8Error, match="no pairs of 120 columns of bf16"):
        quantize_transpose_kernel(QuantizeTranspose(128, 120, paired=True))


@ELEMENTS
@FORMATS
@pytest.mark.parametrize(("rows", "columns"), [(3, 1024), (4, 1001), (4, 7)])
def test_quantize_rows(element: str, format_: str, rows: int, columns: int) -> None:
    x = gpu.random((rows, columns), element)
    x[1] = 0
    x[2, 3] = np.nan
    kernel = quantize_rows_kernel(QuantizeRows(rows, columns, element, format_, margin=1.0))
    buffers = [x, gpu.unwritten(rows, columns), np.zeros(rows, np.float32)]
    _, q, scales = gpu.run(kernel, buffers)
    wanted = gpu.scale_of(gpu.amax(x, 1), format_, 1.0)
    np.testing.assert_array_equal(scales, wanted)
    gpu.assert_codes(q, gpu.codes(x, wanted[:, None], format_), format_)


def test_rows_that_no_block_holds_are_refused() -> None:
    with pytest.raises(Fp8Error, match="rows of 70000 bf16 are too long for a block"):
        quantize_rows_kernel(QuantizeRows(2, 70000))


@ELEMENTS
@FORMATS
def test_quantize_groups(element: str, format_: str) -> None:
    x = gpu.random((33, 128), element)  # the last block is not whole
    x[1] = 0
    x[2, 3] = np.nan
    kernel = quantize_groups_kernel(QuantizeGroups(x.size, element, format_, threads=64))
    _, q, scales = gpu.run(kernel, [x, gpu.unwritten(*x.shape), np.zeros(33, np.float32)])
    wanted = gpu.scale_of(gpu.amax(x, 1), format_)
    np.testing.assert_array_equal(scales, wanted)
    gpu.assert_codes(q, gpu.codes(x, wanted[:, None], format_), format_)


def test_what_is_no_multiple_of_a_group_is_refused() -> None:
    with pytest.raises(Fp8Error, match="100 elements are no groups of 128"):
        quantize_groups_kernel(QuantizeGroups(100))
