"""Products by weights in the panels of the register tile, which kernels read in place."""

import re

import ml_dtypes
import numpy as np
import pytest
from kernel_products import compiled, integers, targets, to_kernels
from packed_programs import Size, packed, panel_of, program

import mlir_fp8
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.kernels.vector_code.target import TARGETS

SIZES: list[Size] = [(1, 64, 200), (3, 96, 130), (8, 32, 128), (17, 640, 150), (40, 1184, 100)]
F8 = ("f8E4M3FN", "f8E5M2", "f8E4M3", "f8E3M4", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ")
ELEMENTS = [("f32", "f32"), ("bf16", "bf16"), ("f32", "bf16"), ("f32", "f8E8M0FNU")]
ELEMENTS += [(left, each) for each in F8 for left in ("f32", each)]
RNG = np.random.default_rng(17)


def kernels_of(text: str, target: str) -> str:
    module = mlir_fp8.load(text)
    to_kernels(module, f"target={target} min-size=1")
    return str(module)


def entry_of(text: str) -> str:
    return text.partition("func.func @main")[2].partition("\n  }")[0]


def is_in_panels(target: str) -> bool:
    """Whether the tiles of a target are those that weights are packed for."""
    return not TARGETS[target].mmla


@pytest.mark.parametrize("elements", ELEMENTS, ids=str)
@pytest.mark.parametrize("target", targets())
def test_products_are_exact(target: str, elements: tuple[str, str], exhaustive: bool) -> None:
    panel = panel_of(target, elements)
    for size in SIZES if exhaustive else SIZES[:: 2 if "f8E4M3FN" in elements else 3]:
        m, k, n = size
        x, w = integers(RNG, (m, k), elements[0]), integers(RNG, (k, n), elements[1])
        got = compiled(program(size, panel, elements), target)(x, packed(w, *panel))[0]
        want = x.astype(np.float32) @ w.astype(np.float32)
        np.testing.assert_array_equal(got, want, err_msg=str(size))


@pytest.mark.parametrize("elements", [*ELEMENTS[:3], ("f32", F8[0]), (F8[0], F8[0])], ids=str)
@pytest.mark.parametrize("target", ["avx2", "avx512", "avx512-bf16", "amx-bf16"])
def test_panels_are_read_in_place(target: str, elements: tuple[str, str]) -> None:
    """Nothing is copied before, and numbers that are multiplied as they are not in the call."""
    for size in [(1, 64, 200), (40, 64, 200)]:
        text = kernels_of(program(size, panel_of(target, elements), elements), target)
        left = entry_of(text)
        assert "alloc" not in left and "linalg" not in left and left.count("call") == 1
        packs = set(re.findall(r"call @(pack_\d+)\(.*memref<1xi8>, index", text))
        is_same = elements[1] == "f32" or (elements == ("bf16", "bf16") and TARGETS[target].tiles)
        if is_same or (size[0] == 1 and elements[0] == "f32"):
            assert len(packs) == 1  # that of the left operand


def test_other_panels_are_copied() -> None:
    """Panels of another processor's tile: the matrix is made in the call, values are right."""
    size, elements = (17, 64, 200), ("f32", "f8E4M3FN")
    x, w = integers(RNG, (17, 64), "f32"), integers(RNG, (64, 200), "f8E4M3FN")
    for width in (8, 24, 64):
        text = program(size, (width, 1), elements)
        assert "alloc" in entry_of(kernels_of(text, "avx2"))
        (got,) = mlir_fp8.compile(text)(x, packed(w, width, 1))
        np.testing.assert_array_equal(got, x @ w.astype(np.float32))


def test_what_is_beyond_the_columns_does_not_count() -> None:
    """Kernels may read the zeros of the last panel, whatever is there instead of them."""
    for elements in (("f32", "f32"), ("f8E4M3FN", "f8E4M3FN"), ("f32", "f8E4M3FN")):
        for m in (1, 20):
            target = "amx-bf16"
            panel = panel_of(target, elements)
            x, w = integers(RNG, (m, 64), elements[0]), integers(RNG, (64, 100), elements[1])
            given = packed(w, *panel)
            given[-1, :, 100 % panel[0] :] = np.nan
            (got,) = mlir_fp8.compile(program((m, 64, 100), panel, elements))(x, given)
            np.testing.assert_array_equal(got, x.astype(np.float32) @ w.astype(np.float32))


@pytest.mark.parametrize("name", F8)
def test_every_code_is_decoded(name: str) -> None:
    """One row times each code alone, NaN and infinity too."""
    codes = np.arange(256, dtype=np.uint8).view(FORMATS[name].dtype)
    weight = np.zeros((32, 256), codes.dtype)
    weight[5] = codes
    for m in (1, 20):
        x = np.zeros((m, 32), np.float32)
        x[:, 5] = 1
        panel = panel_of("amx-bf16", ("f32", name))
        text = program((m, 32, 256), panel, ("f32", name))
        got = mlir_fp8.compile(text)(x, packed(weight, *panel))[0]
        np.testing.assert_array_equal(got, np.broadcast_to(codes.astype(np.float32), (m, 256)))


def test_subnormal_numbers_of_bf16_count() -> None:
    """Tiles of AMX take them for zero: such panels are found where they lie."""
    elements, panel = ("bf16", "bf16"), panel_of("amx-bf16", ("bf16", "bf16"))
    x = np.ones((20, 64), ml_dtypes.bfloat16)
    w = np.full((64, 100), 2.0**-130, ml_dtypes.bfloat16)
    w[:, :40] = 1
    (got,) = mlir_fp8.compile(program((20, 64, 100), panel, elements))(x, packed(w, *panel))
    want = np.where(np.arange(100) < 40, np.float32(64), np.float32(2.0**-124))
    np.testing.assert_array_equal(got, np.broadcast_to(want, (20, 100)))


def test_threads_give_the_same() -> None:
    size, elements = (130, 512, 650), ("f32", "f8E4M3FN")
    x = RNG.standard_normal((130, 512), np.float32)
    w = RNG.standard_normal((512, 650), np.float32).astype(ml_dtypes.float8_e4m3fn)
    panel = panel_of("amx-bf16", elements)
    text, given = program(size, panel, elements), packed(w, *panel)
    one, two = (mlir_fp8.compile(text, threads=each)(x, given)[0] for each in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one, x @ w.astype(np.float32), rtol=1e-4, atol=1e-3)
