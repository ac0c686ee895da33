"""Kernels decode 8-bit codes through f16, recognized by what the scalar ops compute."""

import re

import pytest
from kernel_products import PASS, Case, Form, program
from torch_mlir import ir
from torch_mlir.dialects import func

import mlir_fp8
from mlir_fp8 import pipelines
from mlir_fp8.base.context import make_context
from mlir_fp8.compiling.entry import copy_of
from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
from mlir_fp8.lowering.codec.float_codec import decode
from mlir_fp8.lowering.kernels.vector_code.byte_tables import LOOK_UP, PERMUTE
from mlir_fp8.lowering.kernels.vector_code.code_blocks import MULTIPLY_BYTES
from mlir_fp8.lowering.kernels.vector_code.decode import decoded_format
from mlir_fp8.passes.pass_pipeline import run_pipeline

BYTES = [fmt for fmt in FORMATS.values() if fmt.bits == 8]
BY_HALF = ["f8E4M3FN", "f8E5M2", "f8E4M3", "f8E3M4", "f8E4M3FNUZ", "f8E4M3B11FNUZ"]


@pytest.mark.parametrize("fmt", BYTES, ids=lambda fmt: fmt.name)
def test_the_ops_that_decode_a_code_are_recognized(fmt: FloatFormat) -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            function = func.FuncOp("f", ([ir.IntegerType.get_signless(8)], []))
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            decode(fmt, block.arguments[0])
        ops = [op.operation for op in block.operations]
        assert decoded_format(ops, block.arguments[0]) is fmt


@pytest.mark.sampled(4)
@pytest.mark.parametrize("m", [1, 20], ids=["few rows", "many rows"])
@pytest.mark.parametrize("letters", ["mk,kn->mn", "mk,nk->mn"])
@pytest.mark.parametrize("name", BY_HALF)
def test_kernels_of_the_whole_pipeline_decode_by_half(name: str, letters: str, m: int) -> None:
    """Both operands, in every kernel; no kernel decodes in another way."""
    kernels = _kernels(Form(letters, {"m": m, "n": 64, "k": 64}), name, "avx2")
    assert kernels
    for kernel in kernels:
        assert re.search(r"arith.extf .* : vector<\d+xf16> to vector<\d+xf32>", kernel)
        assert not re.search(r"arith.subf .* : vector<(?:8|16|32)xf32>", kernel)


@pytest.mark.parametrize("letters", ["mk,kn->mn", "mk,nk->mn"])
@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E4M3FNUZ"])
def test_where_subnormals_are_fast_bits_become_those_of_f32(name: str, letters: str) -> None:
    """In the unrolled loops over rows or columns, and in their tails."""
    kernels = _kernels(Form(letters, {"m": 1, "n": 64, "k": 64}), name, "zen")
    (kernel,) = [each for each in kernels if "@skinny_" in each]
    *together, last, _ = kernel.split(MULTIPLY_BYTES)
    assert len(together) == (2 if letters == "mk,nk->mn" else 4)
    assert not any("scf.for" in each for each in together[1:])
    assert "scf.for" in last


@pytest.mark.parametrize("letters", ["mk,kn->mn", "mk,nk->mn"])
@pytest.mark.parametrize("name", BY_HALF)
def test_one_row_looks_codes_up_where_tables_are_fast(name: str, letters: str) -> None:
    """By a permutation, two tables and two unpacks, in each load of 64 codes."""
    kernels = _kernels(Form(letters, {"m": 1, "n": 64, "k": 64}), name, "avx512-vbmi")
    (kernel,) = [each for each in kernels if "@skinny_" in each]
    assert kernel.count(f"call @{LOOK_UP}(") == 2 * kernel.count(f"call @{PERMUTE}(") > 0
    several = _kernels(Form(letters, {"m": 3, "n": 64, "k": 64}), name, "avx512-vbmi")
    (kernel,) = [each for each in several if "@skinny_" in each]
    assert (LOOK_UP in kernel) == (letters == "mk,nk->mn")


def _kernels(form: Form, name: str, target: str) -> list[str]:
    """The text of the kernels of a product of two operands of the format `name`."""
    case: Case = (form, (name, name))
    module = copy_of(mlir_fp8.load(program([case])))
    passes = [*pipelines.to_linalg(), *pipelines.to_llvm()]
    place = next(i for i, each in enumerate(passes) if each.startswith(PASS))
    run_pipeline(module, [*passes[:place], f"{PASS}{{target={target} min-size=1}}"])
    return re.findall(r"func.func private @(?:pack|skinny)_.*?\n  }\n", str(module), re.DOTALL)
