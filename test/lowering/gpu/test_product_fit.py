"""Which tiles, clusters and shared sums products get."""

from typing import Any

import pytest

from mlir_fp8.lowering.gpu.kernels.product.blocks import Blocks
from mlir_fp8.lowering.gpu.kernels.product.shape import Epilogue, Product
from mlir_fp8.lowering.gpu.xla.product_fit import fitted, in_form

F8 = Epilogue(result="f8E4M3FN")
FITS: dict[str, tuple[Product, tuple[int, int, int]]] = {
    # Columns of a tile, blocks of a cluster, blocks that share sums.
    "large": (Product(4096, 4096, 4096), (256, 2, 1)),
    "large_exact": (Product(4096, 4096, 4096, exact_sums=True), (128, 2, 1)),
    "few_tiles": (Product(1024, 1024, 1024), (128, 2, 1)),
    "few_tiles_long": (Product(1024, 1024, 4096), (128, 1, 2)),
    "fewer": (Product(512, 512, 8192), (128, 1, 4)),
    "fewer_of_f8": (Product(512, 512, 8192, epilogue=F8), (128, 1, 2)),
    "one_tile": (Product(128, 64, 2048), (128, 1, 2)),
    "few_rows": (Product(100, 8192, 4096), (128, 1, 2)),
    "scales_of_32": (
        Product(4096, 4096, 4096, exact_sums=True, a_blocks=Blocks(1, 32)), (64, 2, 1)
    ),
    "batches": (Product(128, 128, 8192, batches=256), (256, 1, 1)),
    "gate": (
        Product(512, 512, 8192, up="apart", epilogue=Epilogue(gate="f32")), (256, 2, 1)
    ),
    "gate_exact": (
        Product(512, 512, 8192, exact_sums=True, up="below", epilogue=Epilogue(gate="f32")),
        (128, 2, 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(FITS))
def test_a_product_fits_a_card(name: str) -> None:
    shape, wanted = FITS[name]
    found = fitted(shape)
    found.check()
    given: Any = (found.tile_n, found.cluster, found.split)
    assert given == wanted
    assert found.grid <= found.blocks


SHARED, WIDE = (64, 128, 7, 1, 8, 4), (128, 128, 6, 1, 8, 1)
FORMS: dict[str, tuple[Product, tuple[int, ...], bool]] = {
    "shared": (Product(64, 2048, 8192), SHARED, True),
    "shared_by_too_many": (Product(64, 16384, 8192), SHARED, False),
    "shared_and_short": (Product(64, 2048, 512), SHARED, False),
    "a_gate": (Product(64, 512, 8192, up="apart", epilogue=Epilogue(gate="f32")), SHARED, False),
    "narrow_squares": (
        Product(256, 256, 256, exact_sums=True, b_blocks=Blocks(64), tile_n=64), WIDE, False
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(FORMS))
def test_a_form_of_another_size_is_taken_where_it_runs(name: str) -> None:
    shape, form, is_taken = FORMS[name]
    shape = shape if shape.tile_n == 64 else fitted(shape)
    found = in_form(shape, form)
    found.check()
    assert (found == shape) != is_taken
