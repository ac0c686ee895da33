"""FP8 of PyTorch: casts to the bit, and scaled products."""

import pytest

pytest.importorskip("torch.nn")

import torch
from torch_programs import Of, check

import mlir_fp8.torch

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
SMALL = (E4M3, E5M2, torch.float8_e8m0fnu, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz)
EDGES = [448.0, 464.0, 465.0, 480.0, 57344.0, 61439.0, 61440.0, 1e30, 5.9e-39, 4.4e-39, 1.5, 0.75]


def _numbers() -> "torch.Tensor":
    """All of bf16, its NaNs apart, and edges of the small types."""
    all_bf16 = torch.arange(2**16, dtype=torch.int32).to(torch.int16).view(torch.bfloat16).float()
    edges = torch.tensor(EDGES)
    numbers = torch.cat([all_bf16, edges, -edges, edges.nextafter(torch.tensor(0.0))])
    return numbers[~numbers.isnan()]


@pytest.mark.parametrize(
    "source", [torch.float32, torch.float64, torch.bfloat16, torch.float16, E5M2]
)
@pytest.mark.parametrize("target", SMALL, ids=str)
def test_casts_are_those_of_this_pytorch(target: "torch.dtype", source: "torch.dtype") -> None:
    numbers = _numbers().to(source)
    numbers = numbers[~numbers.float().isnan()]
    check(lambda x: x.to(target), numbers)


def test_integers_are_rounded_to_f32_first() -> None:
    check(lambda x: x.to(E4M3), torch.tensor([0, 17, -448, 1000, 2**24 + 1]))


def test_what_is_clamped_already_is_clamped_once() -> None:
    module = mlir_fp8.torch.export(Of(lambda x: x.clamp(-448, 448).to(E4M3)), (torch.ones(2),))
    assert str(module.mlir).count("stablehlo.clamp") == 1


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("out", [torch.bfloat16, torch.float32])
def test_scaled_products(out: "torch.dtype", by_row: bool, has_bias: bool) -> None:
    """Scales of powers of two are exact in every order, and all codes' products in f32."""
    torch.manual_seed(0)
    a, b = torch.randn(32, 64).to(E4M3), torch.randn(48, 64).to(E4M3).t()
    scale_a = torch.rand(32, 1).log2().floor().exp2() if by_row else torch.tensor(0.25)
    scale_b = torch.rand(1, 48).log2().floor().exp2() if by_row else torch.tensor(2.0)
    bias = torch.randn(48, dtype=torch.bfloat16) if has_bias else None

    def product(a: "torch.Tensor", b: "torch.Tensor") -> "torch.Tensor":
        return torch._scaled_mm(a, b, scale_a, scale_b, bias=bias, out_dtype=out)

    check(product, a, b)


def test_other_scales_round_in_an_order_that_depends_on_the_cpu() -> None:
    torch.manual_seed(0)
    a, b = torch.randn(32, 64).to(E4M3), torch.randn(48, 64).to(E4M3).t()
    scale_a, scale_b = torch.tensor(0.3), torch.tensor(0.7)
    exact = (a.double() @ b.double()) * scale_a.double() * scale_b.double()

    def product(a: "torch.Tensor", b: "torch.Tensor") -> "torch.Tensor":
        return torch._scaled_mm(a, b, scale_a, scale_b, out_dtype=torch.float32)

    check(product, a, b, tolerance=3e-6)
    ours = mlir_fp8.torch.export(Of(product), (a, b))(a, b)
    torch.testing.assert_close(ours.double(), exact, rtol=1.6e-7, atol=0)


def test_a_scale_of_the_result_divides() -> None:
    a, b = torch.eye(16).to(E4M3), torch.eye(16).to(E4M3).t()
    one = torch.tensor(1.0)
    for out in (E4M3, torch.bfloat16):
        check(
            lambda a, b, s, out=out: torch._scaled_mm(
                a, b, one, one, scale_result=s, out_dtype=out
            ),
            a,
            b,
            torch.tensor(4.0),
        )


def test_small_results_are_rounded_once() -> None:
    """PyTorch's CPUs with AMX round to f16 first."""
    torch.manual_seed(0)
    a, b = torch.randn(32, 64).to(E4M3), torch.randn(48, 64).to(E4M3).t()
    scale = torch.tensor(0.5)
    expected = ((a.double() @ b.double()) * 0.25).float().to(E4M3)
    module = mlir_fp8.torch.export(
        Of(lambda a, b: torch._scaled_mm(a, b, scale, scale, out_dtype=E4M3)), (a, b)
    )
    assert torch.equal(module(a, b).view(torch.uint8), expected.view(torch.uint8))
