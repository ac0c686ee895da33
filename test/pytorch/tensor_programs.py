"""Programs of one argument, and tensors for them."""

import numpy as np
import pytest

import mlir_fp8

pytest.importorskip("torch.nn", reason="pip install 'mlir-fp8[torch]'")
import torch  # pyright: ignore[reportMissingImports]


def identity(shape: str, element: str) -> mlir_fp8.CompiledModule:
    type_ = f"tensor<{shape}{element}>"
    return mlir_fp8.compile(f"func.func @main(%a: {type_}) -> {type_} {{ return %a : {type_} }}")


def double(shape: str) -> mlir_fp8.CompiledModule:
    type_ = f"tensor<{shape}f32>"
    return mlir_fp8.compile(
        f"func.func @main(%a: {type_}) -> {type_} {{ %0 = stablehlo.add %a, %a : {type_} "
        f"return %0 : {type_} }}"
    )


def tensor_of(name: str, shape: tuple[int, ...]) -> torch.Tensor:
    """Elements whose bytes are 1, 0, 1, 0, ...: a value of every type."""
    dtype = getattr(torch, name)
    count = int(np.prod(shape)) * dtype.itemsize
    return (1 - torch.arange(count) % 2).to(torch.uint8).view(dtype).reshape(shape)


def bits(tensor: torch.Tensor) -> bytes:
    if not tensor.numel():
        return b""
    return tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
