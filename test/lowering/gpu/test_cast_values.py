"""Casts of f8 by the hardware's instructions, run from their PTX: the bits that the CPU gives."""

from fractions import Fraction
from itertools import pairwise

import gpu_kernels as gpu
import ml_dtypes
import numpy as np
import pytest
from ptx_machine import run_kernel
from torch_mlir import ir

from mlir_fp8.base.context import make_context
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.gpu.ptx.back_end import ptx_of_functions
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.pipelines import to_nvvm

BLOCK = 64
STORAGE = {"f32": np.uint32, "f16": np.uint16, "bf16": np.uint16}


def _cast(
    x: np.ndarray, source: str, target: str, lanes: int = 4, *, saturate: bool = False
) -> np.ndarray:
    """The codes of `x`, `source`, cast to `target`, `lanes` of each thread at a time."""
    count = -(-x.size // (BLOCK * lanes)) * BLOCK * lanes
    type_ = f"vector<{lanes}x"
    op = "truncf" if target.startswith("f8") else "extf"
    text = f"""gpu.module @casts {{
      gpu.func @cast(%x: memref<{count}x{source}>, %q: memref<{count}x{target}>) kernel
          attributes {{known_block_size = array<i32: {BLOCK}, 1, 1>}} {{
        %thread = gpu.thread_id x
        %block = gpu.block_id x
        %size = arith.constant {BLOCK} : index
        %lanes = arith.constant {lanes} : index
        %first = arith.muli %block, %size : index
        %number = arith.addi %first, %thread : index
        %at = arith.muli %number, %lanes : index
        %v = vector.load %x[%at] : memref<{count}x{source}>, {type_}{source}>
        %c = arith.{op} %v : {type_}{source}> to {type_}{target}>
        vector.store %c, %q[%at] : memref<{count}x{target}>, {type_}{target}>
        gpu.return
      }}
    }}"""
    module = ir.Module.parse(text, make_context())
    run_pipeline(module, to_nvvm(saturate=saturate))
    ptx = ptx_of_functions(module.operation, "sm_90a")
    padded = np.zeros(count, x.dtype)
    padded[: x.size] = x
    result = np.full(count, 0xEE, STORAGE.get(target, np.uint8))
    return run_kernel(ptx, [padded, result], (count // (BLOCK * lanes), 1), BLOCK)[1][: x.size]


def _narrowed(x: np.ndarray, target: str, *, saturate: bool) -> np.ndarray:
    type_, largest, _ = gpu.FORMATS[target]
    sign = np.signbit(x).astype(np.uint8) << 7
    with np.errstate(all="ignore"):
        codes = (np.clip(x, -largest, largest) if saturate else x).astype(type_).view(np.uint8)
    nan = 0x7F if target == "f8E4M3FN" else 0x7E
    return np.where(np.isnan(x), sign | nan, codes).astype(np.uint8)


def _at_boundaries(target: str) -> np.ndarray:
    """f32 at, below and above each number and each tie of the format, and what is no number."""
    fmt = FORMATS[target]
    numbers = [fmt.magnitude(code) for code in range(fmt.max_code + 1)]
    numbers.append(numbers[-1] + (numbers[-1] - numbers[-2]))
    ties = [(a + b) / 2 for a, b in pairwise(numbers)]
    places = np.array([float(Fraction(x)) for x in (*numbers, *ties)], np.float32).view(np.int32)
    around = (places[:, None] + np.arange(-1, 2)).reshape(-1)
    odd = np.array([0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0x7F7FFFFF, 1, 0x00800000])
    bits = np.concatenate([around[around >= 0], odd]).astype(np.uint32)
    return np.concatenate([bits, bits | 0x80000000]).astype(np.uint32).view(np.float32)


@pytest.mark.parametrize("target", list(gpu.FORMATS))
@pytest.mark.parametrize("saturate", [False, True])
def test_f32_at_all_boundaries(target: str, saturate: bool) -> None:
    x = _at_boundaries(target)
    wanted = _narrowed(x, target, saturate=saturate)
    for lanes in (1, 3, 4):
        np.testing.assert_array_equal(_cast(x, "f32", target, lanes, saturate=saturate), wanted)


@pytest.mark.parametrize("target", list(gpu.FORMATS))
@pytest.mark.parametrize("source", ["f16", "bf16"])
@pytest.mark.parametrize("saturate", [False, True])
def test_all_of_f16_and_bf16(source: str, target: str, saturate: bool) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    x = bits.view(gpu.ELEMENTS[source]).astype(np.float32)
    wanted = _narrowed(x, target, saturate=saturate)
    np.testing.assert_array_equal(_cast(bits, source, target, saturate=saturate), wanted)


@pytest.mark.parametrize("source", list(gpu.FORMATS))
@pytest.mark.parametrize("target", list(STORAGE))
def test_all_codes_to_wider_floats(source: str, target: str) -> None:
    codes = np.arange(256, dtype=np.uint8)
    type_, _, last = gpu.FORMATS[source]
    wide = codes.view(type_).astype(np.float32)
    is_nan = codes & 127 > last
    sign, fraction = codes.astype(np.int64) >> 7, codes.astype(np.int64) & 3
    if target == "f32":
        payload = fraction << 21 if source == "f8E5M2" else 0x400000
        numbers, nans = wide.view(np.uint32), sign << 31 | 0x7F800000 | payload
    elif target == "f16":
        payload = fraction << 8 if source == "f8E5M2" else 0
        numbers, nans = wide.astype(np.float16).view(np.uint16), sign << 15 | 0x7E00 | payload
    else:
        numbers = wide.astype(ml_dtypes.bfloat16).view(np.uint16)
        nans = sign << 15 | 0x7FC0
    wanted = np.where(is_nan, nans, numbers).astype(STORAGE[target])
    np.testing.assert_array_equal(_cast(codes, source, target), wanted)
