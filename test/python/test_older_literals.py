"""Floats in LLVM IR, from the newest spelling to one that llvmlite's LLVM reads."""

import ctypes

import llvmlite.binding as binding
import numpy as np
import pytest
from torch_mlir import ir

from mlir_fp8.aot.llvm_ir import llvm_ir
from mlir_fp8.base.context import make_context
from mlir_fp8.lowering.rewriting.older_literals import in_older_words


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("float +inf", "float 0x7FF0000000000000"),
        ("fadd float %0, -inf", "fadd float %0, 0xFFF0000000000000"),
        ("float +qnan", "float 0x7FF8000000000000"),
        ("float -nan(0x1)", "float 0xFFF8000020000000"),
        ("float +snan(0x1)", "float 0x7FF0000020000000"),
        ("float f0x3727C5AC", "float 0x3EE4F8B580000000"),
        ("float 4.471500e-02", "float 0x3FA6E4E260000000"),
        ("float -0.000000e+00", "float 0x8000000000000000"),
        ("double 1.000000e-01", "double 0x3FB999999999999A"),
        ("double f0x3FB999999999999A", "double 0x3FB999999999999A"),
        ("half -inf", "half 0xHFC00"),
        ("half 9.997550e-02", "half 0xH2E66"),
        ("bfloat +qnan", "bfloat 0xR7FC0"),
        ("<4 x float> splat (float 1.000000e+00)", "<4 x float> splat (float 0x3FF0000000000000)"),
        ('@"float +inf 1.0" = i32 7', '@"float +inf 1.0" = i32 7'),
        ("call void @f1.5(float %1.5)", "call void @f1.5(float %1.5)"),
        ("add i32 %0, -1", "add i32 %0, -1"),
    ],
)
def test_spellings(new: str, old: str) -> None:
    assert in_older_words(new) == old


@pytest.mark.parametrize(
    ("element", "llvm"), [("f16", "half"), ("f32", "float"), ("f64", "double")]
)
def test_every_bit_survives(element: str, llvm: str) -> None:
    bits = int(element[1:])
    codes = np.random.default_rng(0).integers(0, 1 << bits, 4000, f"uint{bits}")
    mantissa, exponents = {16: (10, 31), 32: (23, 255), 64: (52, 2047)}[bits]
    top = exponents << mantissa
    strange = [0, 1, top - 1, top, top + 1, top | 1 << (mantissa - 1), top + (1 << mantissa) - 1]
    codes = np.array([*strange, *(code | 1 << (bits - 1) for code in strange), *codes], codes.dtype)
    listed = ", ".join(f"0x{code:0{bits // 4}X}" for code in codes)
    value = f"dense<[{listed}]> : tensor<{len(codes)}x{element}>"
    array = f"!llvm.array<{len(codes)} x {element}>"
    text = f"llvm.mlir.global external constant @all({value}) : {array}"
    module = ir.Module.parse(text, make_context())
    text = llvm_ir(module)
    assert f"x {llvm}]" in text
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(in_older_words(text)), machine)
    engine.finalize_object()
    address = engine.get_global_value_address("all")
    held = ctypes.string_at(address, codes.nbytes)
    np.testing.assert_array_equal(np.frombuffer(held, codes.dtype), codes)
