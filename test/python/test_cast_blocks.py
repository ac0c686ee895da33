"""Casts of whole blocks, by AVX2 and AVX-512, give the bits of those of single elements."""

from functools import cache

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.compiling.native.cast_kernel import Kernel, compiled
from mlir_fp8.compiling.native.cast_loop import STREAMED, kernel_text
from mlir_fp8.compiling.native.object_code import ObjectCode
from mlir_fp8.compiling.native.x86_block import block, is_x86
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.kernels.vector_code.target import TARGETS, processor_features

PAIRS = [
    (source, target)
    for source, held in FORMATS.items()
    for target, given in FORMATS.items()
    if source != target and (held.is_small or given.is_small)
]
ELEMENTS = 31
"""Fewer than a block has."""
WIDTHS = {"avx2": {"avx2"}, "avx512": {"avx512bw"}, "avx512-vbmi": {"avx512bw", "avx512vbmi"}}
"""Targets, and what a processor needs that runs their blocks."""
OFTEN = [
    (source, target)
    for source in ("f32", "bf16", "f16")
    for target in ("f8E4M3FN", "f8E5M2", "f8E5M2FNUZ", "f4E2M1FN")
]
OFTEN += [(target, source) for source, target in OFTEN]
OFTEN += [("f8E4M3FNUZ", "f8E5M2"), ("f8E8M0FNU", "f8E4M3FN"), ("f8E8M0FNU", "f32")]


@cache
def _numbers(source: str) -> np.ndarray:
    """All codes; of f32 and f64, those that are in f16 and bf16, and what lies beside them."""
    fmt = FORMATS[source]
    if fmt.bits <= 16:
        return np.arange(1 << fmt.bits).astype(f"u{fmt.storage_bits // 8}").view(fmt.dtype)
    with np.errstate(invalid="ignore"):
        halves = np.concatenate([_numbers(name).astype(np.float64) for name in ("f16", "bf16")])
        numbers = halves.astype(fmt.dtype)
        beside = [np.nextafter(numbers, fmt.dtype.type(end)) for end in (np.inf, -np.inf)]
    return np.concatenate([numbers, *beside])


def _bits(array: np.ndarray) -> np.ndarray:
    return array.view(f"u{array.dtype.itemsize}")


@pytest.mark.sampled(13)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_blocks_give_what_single_elements_do(source: str, target: str) -> None:
    _check_blocks(source, target, saturate=False)


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    ("source", "target"),
    [pair for pair in PAIRS if pair[0] in ("f8E5M2", "f16", "bf16", "f32")],
)
def test_saturating_blocks_give_what_single_elements_do(source: str, target: str) -> None:
    _check_blocks(source, target, saturate=True)


def _check_blocks(source: str, target: str, *, saturate: bool) -> None:
    numbers = _numbers(source)
    random = np.random.default_rng(0)
    if len(numbers) > 1 << 16:
        numbers = numbers[random.permutation(len(numbers))[: 1 << 16]]
    whole = mlir_fp8.cast(numbers, target, saturate=saturate)
    parts = [
        mlir_fp8.cast(numbers[first : first + ELEMENTS], target, saturate=saturate)
        for first in range(0, len(numbers), ELEMENTS)
    ]
    np.testing.assert_array_equal(_bits(whole), _bits(np.concatenate(parts)), target)


@cache
def _kernel_for(name: str, source: str, target: str, *, saturate: bool) -> Kernel:
    """The kernel for the blocks of a target."""
    return Kernel(ObjectCode(compiled(source, target, TARGETS[name], saturate=saturate)))


@pytest.mark.sampled(7)
@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("pair", OFTEN, ids=str)
@pytest.mark.parametrize("name", WIDTHS)
def test_each_width_gives_the_same(name: str, pair: tuple[str, str], saturate: bool) -> None:
    if not WIDTHS[name] <= processor_features():
        pytest.skip(f"this processor has no {name}")
    source, target = pair
    convert = _kernel_for(name, source, target, saturate=saturate)
    numbers = _numbers(source)
    dtype = FORMATS[target].dtype
    for start, size in ((0, len(numbers)), (1, 1024), (3, 1500), (5, 2047), (7, 130)):
        if start + size > len(numbers):
            numbers = np.resize(numbers, 4096)
        part = numbers[start : start + size]
        room = np.full((size + 2) * dtype.itemsize, 0xEE, np.uint8)
        whole = room[dtype.itemsize : -dtype.itemsize].view(dtype)
        convert(part.ctypes.data, whole.ctypes.data, size)
        wanted = np.empty(size, dtype)
        for first in range(0, size, ELEMENTS):
            some = part[first : first + ELEMENTS]
            convert(some.ctypes.data, wanted[first:].ctypes.data, len(some))
        np.testing.assert_array_equal(_bits(whole), _bits(wanted))
        edges = room[: dtype.itemsize], room[-dtype.itemsize :]
        assert all((each == 0xEE).all() for each in edges)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("source", "target"),
    [("f8E4M3FN", "f32"), ("f8E5M2", "f16"), ("f8E3M4", "f32"), ("ui8", "f64")],
)
@pytest.mark.parametrize("skipped", [0, 3])
def test_results_larger_than_caches_are_the_same(source: str, target: str, skipped: int) -> None:
    codes = np.arange(256, dtype=np.uint8)
    size = STREAMED // FORMATS[target].dtype.itemsize + 77
    held = element_dtype(source)
    wanted = _bits(mlir_fp8.cast(codes.view(held), target))
    array = np.resize(codes, size).view(held)
    room = np.zeros(size + skipped + 1, FORMATS[target].dtype)
    for threads in (1, 2):
        room[:] = 0
        mlir_fp8.cast(array, target, out=room[skipped:-1], threads=threads)
        np.testing.assert_array_equal(_bits(room[skipped:-1]), np.resize(wanted, size))
        assert not _bits(room[-1:])[0]
        assert not _bits(room[:skipped]).any()


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 63, 64, 65, 100])
def test_no_byte_beside_the_results_is_written(size: int) -> None:
    array = np.full(size, 1.0, np.float32)
    room = np.full(size + 64, 0xEE, np.uint8)
    mlir_fp8.cast(array, "f8E4M3FN", out=room[32 : 32 + size].view(FORMATS["f8E4M3FN"].dtype))
    assert (room[32 : 32 + size] == 0x38).all()
    assert (room[:32] == 0xEE).all()
    assert (room[32 + size :] == 0xEE).all()


BLOCKS = {
    # Products of the two halves of sums, packs of them, and of the signs.
    ("f32", "f8E4M3FN"): {"pmadd.wd": 4, "packssdw": 4, "packsswb": 1, "packuswb": 1},
    ("f32", "f8E5M2"): {"pmadd.wd": 4, "packssdw": 6, "packsswb": 2, "packuswb": 1},
    ("bf16", "f8E4M3FN"): {"pmadd.wd": 4, "packssdw": 2, "packsswb": 1, "packuswb": 1},
    ("f16", "f8E4M3FN"): {"pmadd.wd": 4, "packssdw": 2, "packsswb": 1, "packuswb": 1},
    ("f32", "f4E2M1FN"): {"pmadd.wd": 4, "packssdw": 6, "packsswb": 2, "packuswb": 1},
    ("f16", "f8E5M2"): {"packsswb": 2, "packuswb": 1},
    ("f16", "f8E5M2FNUZ"): {"pmadd.wd": 4, "packssdw": 4, "packsswb": 1, "packuswb": 1},
    ("f64", "f8E4M3FN"): None,
    ("f8E4M3FN", "f32"): {"pshuf.b": 2},
    ("f8E5M2", "bf16"): {"pshuf.b": 2},
    ("f8E4M3FNUZ", "f32"): {"pshuf.b": 2},
    ("f8E5M2FNUZ", "f16"): None,
    ("f8E3M4", "f32"): None,
    ("f4E2M1FN", "f32"): {"pshuf.b": 2},
    ("f6E3M2FN", "f16"): {"pshuf.b": 8},
    ("f8E4M3FN", "f8E5M2"): {"pshuf.b": 8},
    ("f8E4M3FNUZ", "f8E5M2"): {"pshuf.b": 8},
    ("f4E2M1FN", "f8E4M3FN"): {"pshuf.b": 1},
    ("i32", "f8E4M3FN"): None,
    ("f8E4M3FN", "i8"): None,
}


@pytest.mark.skipif(not is_x86(), reason="AVX2 is x86's")
@pytest.mark.parametrize(("pair", "counts"), BLOCKS.items(), ids=str)
def test_what_a_block_is_made_of(pair: tuple[str, str], counts: dict[str, int] | None) -> None:
    found = block(*pair, saturate=False, processor=TARGETS["avx2"])
    assert (found is None) == (counts is None)
    text = kernel_text(*pair, found, streams=True)
    for name in ("pmadd.wd", "packssdw", "packsswb", "packuswb", "pshuf.b"):
        # With temporal and with non-temporal stores.
        assert text.count(f"llvm.x86.avx2.{name}") == 2 * (counts or {}).get(name, 0), name
    assert "llvm.intr.prefetch" in text
    assert "nontemporal" in text


TABLES = {
    # The low and the high bytes of results, in tables of 128 (two operands) and of 64.
    ("f8E4M3FN", "f32"): {"vpermi2var": 2},
    ("f8E4M3FNUZ", "f16"): {"vpermi2var": 2},
    ("f8E3M4", "f32"): {"vpermi2var": 2},
    ("f8E8M0FNU", "bf16"): {"vpermi2var": 4},
    ("f8E8M0FNU", "f16"): None,
    ("f6E3M2FN", "f16"): {"permvar": 2},
    ("f4E2M1FN", "f8E4M3FN"): {"permvar": 1},
    ("f8E4M3FN", "f8E5M2"): {"vpermi2var": 1},
}


@pytest.mark.skipif(not is_x86(), reason="AVX-512 is x86's")
@pytest.mark.parametrize(("pair", "counts"), TABLES.items(), ids=str)
def test_tables_of_vbmi(pair: tuple[str, str], counts: dict[str, int] | None) -> None:
    found = block(*pair, saturate=False, processor=TARGETS["avx512-vbmi"])
    assert (found is None) == (counts is None)
    text = kernel_text(*pair, found, streams=True)
    for name in ("vpermi2var", "permvar"):
        assert text.count(f"avx512.{name}.qi.512") == 2 * (counts or {}).get(name, 0)
    assert "pshuf" not in text


@pytest.mark.skipif(not is_x86(), reason="AVX-512 is x86's")
def test_registers_of_64_bytes() -> None:
    found = block("f32", "f8E4M3FN", saturate=False, processor=TARGETS["avx512"])
    text = kernel_text("f32", "f8E4M3FN", found, streams=True)
    assert text.count("llvm.x86.avx512.pmaddw.d.512") == 8
    assert text.count("nontemporal") == 1
    assert "{alignment = 64, nontemporal} : vector<64xi8>" in text


def test_other_processors_have_no_such_blocks() -> None:
    for target in ("neon", "baseline"):
        processor = TARGETS[target]
        assert block("f32", "f8E4M3FN", saturate=False, processor=processor) is None
    text = kernel_text("f32", "f8E4M3FN", None, streams=False)
    assert "x86" not in text
    assert "nontemporal" not in text
