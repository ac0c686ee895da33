"""Casts give the same codes in a process that flushes subnormals to zero."""

import ctypes
import itertools
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pytest
from kernel_products import Case, Form, compiled, program, targets
from native_code import compile_converts
from rounding_table import table
from torch_mlir import ir
from torch_mlir.execution_engine import ExecutionEngine

from mlir_fp8.context import make_context
from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS


class Control(NamedTuple):
    """How to load and store the floating-point control word, and its bits that flush."""

    load: str
    store: str
    clobbers: str
    flushing: int


_ARM = Control("ldr x9, [$0]\\0A msr fpcr, x9", "mrs x9, fpcr\\0A str x9, [$0]", "~{x9},", 1 << 24)
CONTROLS = {
    "x86_64": Control("ldmxcsr ($0)", "stmxcsr ($0)", "", 0x8040),
    "aarch64": _ARM,
    "arm64": _ARM,
}


@contextmanager
def flushing_subnormals() -> Iterator[None]:
    control = CONTROLS[platform.machine()]
    functions = "\n".join(
        f'''llvm.func @{name}(%word: !llvm.ptr) {{
          llvm.inline_asm has_side_effects asm_dialect = att
              "{text}", "r,{control.clobbers}~{{memory}}" %word : (!llvm.ptr) -> ()
          llvm.return
        }}'''
        for name, text in (("load", control.load), ("store", control.store))
    )
    engine = ExecutionEngine(ir.Module.parse(functions, make_context()))
    word = ctypes.c_uint64(0)
    # The packed calling convention: an array of pointers to the arguments, here one pointer.
    argument = (ctypes.c_void_p * 1)(ctypes.addressof(word))
    packed = (ctypes.c_void_p * 1)(ctypes.addressof(argument))

    def call(name: str) -> None:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.raw_lookup(name))(ctypes.addressof(packed))

    call("store")
    before = word.value
    word.value |= control.flushing
    call("load")
    try:
        yield
    finally:
        word.value = before
        call("load")


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
