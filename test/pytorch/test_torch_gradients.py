"""Ops of training and of index arithmetic that torch-mlir cannot lower, held to eager."""

from typing import Any

import pytest

pytest.importorskip("torch.nn")

import torch
from programs import Of, check

import mlir_fp8.torch

INDICES, OFFSETS = torch.tensor([1, 2, 3, 4, 1, 9]), torch.tensor([0, 2, 2, 5])


def _gradients(function: Any, *args: torch.Tensor) -> Any:
    """A function of tensors that gives the gradients of the sum of squares of its result."""

    def gradients(*inner: torch.Tensor) -> Any:
        floats = [each for each in inner if each.is_floating_point()]
        return torch.autograd.grad(function(*inner).square().sum(), floats)

    leaves = [each.requires_grad_(each.is_floating_point()) for each in args]
    return torch.fx.experimental.proxy_tensor.make_fx(gradients)(*leaves)


@pytest.mark.parametrize(
    "places", [(1, None, 2), (0, 2**63 - 1, 2), (-3, -1, 1), (2, 2, 1), (7, 3, 2)]
)
def test_slices_are_written(places: Any) -> None:
    x = torch.randn(3, 8)
    source = torch.randn(x[:, slice(*places)].shape)
    check(lambda x, source: torch.slice_scatter(x, source, 1, *places), x, source)


def test_strided_views_are_written() -> None:
    x, source = torch.randn(4, 6), torch.randn(2, 3)
    check(lambda x, source: torch.as_strided_scatter(x, source, (2, 3), (7, 2), 1), x, source)


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "sum", "padding_idx": 1},
        {"mode": "mean", "padding_idx": 1},
        {"mode": "mean", "include_last_offset": True},
    ],
)
def test_embedding_bags(options: Any) -> None:
    def bag(indices: Any, weight: Any, offsets: Any) -> Any:
        return torch.nn.functional.embedding_bag(indices, weight, offsets, **options)

    ends = torch.tensor([len(INDICES)] * ("include_last_offset" in options), dtype=torch.int64)
    args = INDICES, torch.randn(10, 4), torch.cat([OFFSETS, ends])
    check(bag, *args, tolerance=1e-6)
    check(_gradients(bag, *args), *(each.detach() for each in args), tolerance=1e-5)


@pytest.mark.parametrize(
    ("is_transposed", "groups", "options"),
    [(True, 1, (2, 1, 1)), (True, 2, (2, 1, 1)), (False, 2, (2, 1)), (False, 4, (1, 2))],
)
def test_convolutions_have_gradients(is_transposed: bool, groups: int, options: Any) -> None:
    def convolution(x: Any, weight: Any, bias: Any) -> Any:
        if is_transposed:
            return torch.nn.functional.conv_transpose2d(x, weight, bias, *options, groups, 2)
        return torch.nn.functional.conv2d(x, weight, bias, *options, 2, groups)

    shape = (4, 3, 3, 2) if is_transposed else (8, 4 // groups, 3, 2)
    channels = 3 * groups if is_transposed else 8
    args = torch.randn(2, 4, 7, 6), torch.randn(shape), torch.randn(channels)
    graph = _gradients(convolution, *args)
    check(graph, *(each.detach() for each in args), tolerance=1e-4)


def test_constants_are_splats() -> None:
    x = torch.randn(2, 4)
    module = mlir_fp8.torch.export(Of(lambda x: x * 0.1 + torch.arange(4)), (x,))
    text = str(module.mlir)
    assert "dense<1.000000e-01> : tensor<2x4xf32>" in text
    assert "f64" not in text
    assert "dynamic_iota" not in text
    torch.testing.assert_close(module(x), x * 0.1 + torch.arange(4))
