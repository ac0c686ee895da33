"""Casts give the same codes in a process that flushes subnormals to zero."""

import itertools

import numpy as np
import pytest
from flushed_subnormals import flushing_subnormals
from kernel_products import Case, Form, compiled, program, targets
from native_code import compile_converts
from rounding_table import table

from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS


def test_subnormals_are_flushed_inside_only() -> None:
    tiny, one = np.float32(1e-40), np.float32(1)
    with flushing_subnormals():
        flushed = tiny * one
    assert flushed.view(np.uint32) == 0
    assert (tiny * one).view(np.uint32) != 0


@pytest.mark.parametrize("target", targets())
def test_products_do_not_depend_on_subnormals(target: str) -> None:
    """Of few rows of f8, whose subnormal codes may become subnormal numbers of f32."""
    cases: list[Case] = []
    arrays: list[np.ndarray] = []
    for fmt in (each for each in SMALL_FLOATS.values() if each.bits == 8 and each.has_zero):
        subnormal = np.arange(1, 1 << fmt.mantissa_bits, dtype=np.uint8)
        codes = np.resize(subnormal, (70, 150))
        for letters, other in itertools.product(("mk,kn->mn", "mk,nk->mn"), (fmt, FORMATS["f32"])):
            form = Form(letters, {"m": 2, "n": 150, "k": 70})
            cases.append((form, (other.name, fmt.name)))
            left = np.ones((2, 70), np.float32).astype(other.dtype)
            arrays += [left, codes.view(fmt.dtype).reshape(form.shape(form.operands[1]))]
    kernels = compiled(program(cases), target)
    normal = kernels(*arrays)
    with flushing_subnormals():
        flushed = kernels(*arrays)
        tiny = np.float32(1e-40) * np.float32(1)
    assert tiny.view(np.uint32) == 0
    for (form, elements), want, got in zip(cases, normal, flushed, strict=True):
        assert want.any()
        assert want.tobytes() == got.tobytes(), f"{target} {form} {elements}"


def test_casts_do_not_depend_on_subnormals() -> None:
    codes = [table(fmt).all_codes.view(fmt.dtype) for fmt in SMALL_FLOATS.values()]
    bits = np.random.default_rng(0).integers(0, 1 << 32, 1 << 16, np.uint32)
    subnormal = bits % (1 << 23) | bits & (1 << 31)
    numbers = np.concatenate([bits, subnormal]).view(np.float32)
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    wide = np.random.default_rng(1).integers(0, 1 << 63, 1 << 16, np.int64)
    wide = np.concatenate([wide, wide % (1 << 52)]).view(np.float64)
    arguments = [*codes, numbers, wide, halves]
    count = len(codes)
    up = [(i, target) for i in range(count) for target in ("f32", "f16", "bf16")]
    down = [(count + i, target) for i in range(3) for target in (*SMALL_FLOATS, "bf16")]
    compiled = compile_converts(arguments, up + down)
    normal = compiled(*arguments)
    with flushing_subnormals():
        flushed = compiled(*arguments)
    for (index, target), want, got in zip(up + down, normal, flushed, strict=True):
        assert want.tobytes() == got.tobytes(), f"argument {index} to {target}"
