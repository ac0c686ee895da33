"""Modules that quantize a tensor by the scales of its blocks, and tensors for them."""

from functools import cache
from typing import Any

import numpy as np
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.scaling.block_insertion import block_scaled


def scaling_module(
    shape: tuple[int, ...], blocks: tuple[int, ...], format_: str, rule: str, stream: int | None
) -> ir.Module:
    """A module that gives of a tensor its codes and its scales, with NVFP4 its number too."""
    context = make_context()
    load_fp8_dialect(context)
    sizes = "x".join(map(str, shape))
    module = ir.Module.parse(f"func.func @main(%x: tensor<{sizes}xf32>) {{ return }}", context)
    function = module.body.operations[0].operation
    block = function.regions[0].blocks[0]
    block.operations[0].operation.erase()
    with context, ir.Location.unknown(), ir.InsertionPoint(block):
        made = block_scaled(block.arguments[0], blocks, format_, rule, stream)
        results = [each for each in (made.codes, made.scale, made.factor) if each is not None]
        ir.Operation.create("func.return", operands=results)
        types = [[each.type for each in values] for values in (block.arguments, results)]
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(*types))
    return module


@cache
def scaling(*key: Any) -> mlir_fp8.CompiledModule:
    return mlir_fp8.compile(scaling_module(*key))


def values(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers whose blocks differ in size, and some blocks of zeros."""
    random = np.random.default_rng(seed)
    sizes = np.exp2(random.integers(-20, 20, (*shape[:-1], 1)) * random.integers(0, 2))
    array = random.standard_normal(shape) * sizes
    return np.where(random.random(shape) < 0.1, 0, array).astype(np.float32)
