"""Products of groups of rows, forward and backward, in the forms that PyTorch has for them."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch_programs import Of  # noqa: E402

import mlir_fp8.torch  # noqa: E402

SHAPES = [((104, 32), (4, 32, 48)), ((4, 48, 32), (32, 104)), ((48, 104), (104, 32))]
ENDS = [[3, 3, 70, 104], [0, 0, 0, 0], [104, 104, 104, 104], [1, 9, 42, 98]]


def grouped(a: Any, b: Any, offs: Any) -> Any:
    return torch._grouped_mm(a, b, offs)


def by_groups(a: Any, b: Any, ends: list[int]) -> Any:
    """In f32, group by group."""
    parts = [*zip([0, *ends[:-1]], ends, strict=True)]
    a, b = a.float(), b.float()
    if a.dim() == b.dim() == 2:
        return torch.stack([a[:, begin:end] @ b[begin:end] for begin, end in parts])
    rows, columns = (a.shape[0], b.shape[2]) if a.dim() == 2 else (a.shape[1], b.shape[1])
    out = torch.zeros(rows, columns)
    for group, (begin, end) in enumerate(parts):
        if a.dim() == 2:
            out[begin:end] = a[begin:end] @ b[group]
        else:
            out[:, begin:end] = a[group] @ b[:, begin:end]
    return out


@pytest.mark.parametrize(
    "shapes", [((104, 32), (4, 32, 48)), ((4, 48, 32), (32, 104)), ((48, 104), (104, 32))]
)
@pytest.mark.parametrize("turned", [False, True])
def test_grouped_mm(shapes: Any, turned: bool) -> None:
    torch.manual_seed(0)
    a, b = (torch.randint(-4, 5, shape).bfloat16() for shape in shapes)
    if turned:
        b = b.transpose(-1, -2).contiguous().transpose(-1, -2)
    module = mlir_fp8.torch.export(Of(grouped), (a, b, torch.tensor(ENDS[0], dtype=torch.int32)))
    for ends in ENDS:
        got = module(a, b, torch.tensor(ends, dtype=torch.int32))
        assert got.dtype == torch.bfloat16
        torch.testing.assert_close(got, by_groups(a, b, ends).bfloat16(), rtol=0, atol=0)


def test_one_group_without_others() -> None:
    a, b = torch.randn(20, 16), torch.randn(1, 16, 24)
    ends = torch.tensor([20], dtype=torch.int32)
    module = mlir_fp8.torch.export(Of(grouped), (a.bfloat16(), b.bfloat16(), ends))
    want = (a.bfloat16().float() @ b[0].bfloat16().float()).bfloat16()
    torch.testing.assert_close(module(a.bfloat16(), b.bfloat16(), ends), want)


def test_scales_of_rows_and_of_columns_of_groups() -> None:
    torch.manual_seed(0)
    a = torch.randint(-4, 5, (104, 32)).to(torch.float8_e4m3fn)
    b = torch.randint(-4, 5, (4, 48, 32)).to(torch.float8_e4m3fn).transpose(1, 2)
    left, right = 2.0 ** torch.randint(-3, 4, (104,)), 2.0 ** torch.randint(-3, 4, (4, 48))
    ends = torch.tensor(ENDS[0], dtype=torch.int32)

    def scaled(*given: Any) -> Any:
        return torch._scaled_grouped_mm(*given, out_dtype=torch.bfloat16)

    module = mlir_fp8.torch.export(Of(scaled), (a, b, left, right, ends))
    wide = a.float() * left[:, None], b.float() * right[:, None, :]
    got = module(a, b, left, right, ends)
    torch.testing.assert_close(got, by_groups(*wide, ENDS[0]).bfloat16(), rtol=0, atol=0)


def test_ops_of_transformers_and_their_gradients() -> None:
    pytest.importorskip("transformers.integrations.moe")
    torch.manual_seed(0)
    a, b = torch.randn(104, 32), torch.randn(4, 32, 48)
    ends, gradient = torch.tensor(ENDS[3]), torch.randn(104, 48)
    ops = torch.ops.transformers
    for op, given in (
        (ops.grouped_mm_fallback, (a, b, ends)),
        (ops.grouped_mm_fallback_backward, (a, b, ends, gradient)),
    ):
        got = mlir_fp8.torch.export(Of(op), given)(*given)
        torch.testing.assert_close(got, op(*given), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("target", ["1.9.0", "0.17.0"])
def test_artifacts_hold_it_as_a_composite(target: str) -> None:
    """Versions that have none, its decomposition."""
    given = torch.randn(9, 16), torch.randn(2, 16, 8), torch.tensor([4, 9])
    module = mlir_fp8.torch.export(Of(torch.ops.mlir_fp8.ragged_mm), given)
    assert "chlo.ragged_dot" in str(module.mlir)
    artifact = module.serialize(target)
    text = str(mlir_fp8.deserialize(artifact))
    assert text.count('stablehlo.composite "chlo.ragged_dot"') == (target == "1.9.0")
    assert text.count("func.func private") == 1
    (got,) = mlir_fp8.compile(artifact)(*(each.numpy() for each in given))
    torch.testing.assert_close(torch.from_numpy(got), by_groups(*given[:2], [4, 9]))


@pytest.mark.parametrize(("quantize", "least", "most"), [("", 0, 1e-6), ("current", 1e-3, 0.1)])
def test_training_by_the_ops_of_transformers(quantize: str, least: float, most: float) -> None:
    pytest.importorskip("transformers.integrations.moe")
    torch.manual_seed(0)
    a, b, weights = torch.randn(104, 32), torch.randn(4, 48, 32), torch.randn(104, 48)
    ends = torch.tensor(ENDS[3], dtype=torch.int32)

    def loss(a: Any, b: Any) -> Any:
        product = torch.ops.transformers.grouped_mm_fallback(a, b.transpose(1, 2), ends)
        return (product * weights)[: ENDS[3][-1]].sum()

    def gradients(function: Any) -> list[Any]:
        given = [each.clone().requires_grad_() for each in (a, b)]
        function(*given).backward()
        return [each.grad for each in given]

    options = {"quantize": quantize} if quantize else {}
    got = gradients(torch.compile(loss, backend="mlir_fp8", options=options))
    for own, want in zip(got, gradients(loss), strict=True):
        assert least <= (own - want).norm() / want.norm() < most
