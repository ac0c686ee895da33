"""Integer quantization of PyTorch's own, to the bit of eager mode."""

import pytest

pytest.importorskip("torch.nn")

import torch
import torch.ao.quantization.fx._decomposed
from torch_programs import check

Q = torch.ops.quantized_decomposed
I8, E4M3 = torch.int8, torch.float8_e4m3fn
FAKE = torch.ops.aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams
SCALES, ZEROS = torch.rand(16, generator=torch.Generator().manual_seed(0)) + 0.01, torch.arange(16)
PROGRAMS = {
    "per tensor": lambda x, s, z: Q.dequantize_per_tensor.tensor(
        Q.quantize_per_tensor.tensor(x, s[0], z[3], -128, 127, I8), s[0], z[3], -128, 127, I8
    ),
    "by numbers, to bf16": lambda x, s, z: Q.dequantize_per_tensor.default(
        Q.quantize_per_tensor.default(x, 0.07, 3, -128, 127, I8),
        *(0.07, 3, -128, 127, I8),
        out_dtype=torch.bfloat16,
    ),
    "per tensor, to bf16": lambda x, s, z: Q.dequantize_per_tensor.tensor(
        Q.quantize_per_tensor.tensor(x, s[0], z[3], -128, 127, I8),
        *(s[0], z[3], -128, 127, I8),
        out_dtype=torch.bfloat16,
    ),
    "float8": lambda x, s, z: Q.quantize_per_tensor.default(x, 0.07, 0, -448, 448, E4M3),
    "per channel": lambda x, s, z: Q.dequantize_per_channel(
        Q.quantize_per_channel(x, s, z, 0, -128, 127, I8), s, z, 0, -128, 127, I8
    ),
    "per token": lambda x, s, z: Q.quantize_per_token(
        x, *Q.choose_qparams_per_token_asymmetric(x, I8), -128, 127, I8
    ),
    "symmetric tokens": lambda x, s, z: Q.choose_qparams_per_token(x, I8),
    "groups": lambda x, s, z: Q.quantize_per_channel_group(
        x, s[:, None].expand(16, 2) + 0, z[:, None].expand(16, 2) * 0.5, -8, 7, I8, 32
    ),
    "chosen": lambda x, s, z: Q.choose_qparams.tensor(x, -128, 127, 1e-5, I8),
    "chosen, symmetric": lambda x, s, z: Q.choose_qparams_symmetric.tensor(
        x, 0, 255, 1e-5, torch.uint8
    ),
    "fake, per tensor": lambda x, s, z: torch.fake_quantize_per_tensor_affine(
        x, s[:1], z[3:4].int(), -128, 127
    ),
    "fake, per channel": lambda x, s, z: torch.fake_quantize_per_channel_affine(
        x, s, z.int(), 0, -128, 127
    ),
    "fake, with the mask": lambda x, s, z: torch.ops.aten.fake_quantize_per_tensor_affine_cachemask(
        x, 0.03, 3, -128, 127
    ),
    "fake, switched on": lambda x, s, z: FAKE(x, s[:1], z[3:4].int(), z[1:2], -128, 127),
    "fake, switched off": lambda x, s, z: FAKE(x, s[:1], z[3:4].int(), z[:1], -128, 127),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_integer_quantization(name: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(16, 64) * 3
    check(PROGRAMS[name], x, SCALES * 0.1, ZEROS)


def test_zero_points_that_are_floats_are_added_before_rounding() -> None:
    """Eager mode multiplies and adds in one rounding, or two."""
    torch.manual_seed(0)
    x, zeros = torch.randn(16, 64) * 3, ZEROS * 0.3
    fake = torch.fake_quantize_per_channel_affine
    check(lambda *a: fake(*a, 0, -128, 127), x, SCALES * 0.1, zeros, tolerance=1e-6)


def test_training_with_fake_quantization() -> None:
    """What is out of range has no gradient."""
    torch.manual_seed(0)
    x, scale = torch.randn(16, 64) * 3, torch.tensor([0.02])

    def loss(x: torch.Tensor) -> torch.Tensor:
        zero_point = torch.zeros(1, dtype=torch.int32)
        return (torch.fake_quantize_per_tensor_affine(x, scale, zero_point, -128, 127) ** 2).sum()

    gradients = []
    for function in (loss, torch.compile(loss, backend="mlir_fp8")):
        given = x.clone().requires_grad_()
        function(given).backward()
        gradients.append(given.grad)
    assert 0 < (gradients[0] == 0).sum() < x.numel()
    assert torch.equal(*gradients)


@pytest.mark.parametrize("symmetric", [False, True])
def test_affine_quantization_of_torchao(symmetric: bool) -> None:
    ao = pytest.importorskip("torchao.quantization.quant_primitives")
    mapping = ao.MappingType.SYMMETRIC if symmetric else ao.MappingType.ASYMMETRIC

    def quantized(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        block = (1, 32)
        scale, zero_point = ao.choose_qparams_affine(x, mapping, block, I8, -8, 7)
        codes = ao.quantize_affine(x, block, scale, zero_point, I8, -8, 7)
        return codes, ao.dequantize_affine(codes, block, scale, zero_point, I8, -8, 7)

    torch.manual_seed(0)
    check(quantized, torch.randn(16, 64) * 3)


def test_products_of_int8_weights() -> None:
    torch.manual_seed(0)
    codes = torch.randint(-128, 127, (48, 64), dtype=I8)
    x, scales = torch.randn(16, 64).bfloat16(), torch.rand(48).bfloat16()
    check(torch._weight_int8pack_mm, x, codes, scales)
    check(torch._int_mm, torch.randint(-128, 127, (32, 64), dtype=I8), codes.t())
