"""Functions as modules, and how results are compared with eager's."""

from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

import mlir_fp8.torch


class Of(torch.nn.Module):
    """A module that calls `function` on tensors."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *a: Any) -> Any:
        return self.function(*a)


def check(function: Callable[..., Any], *args: Any, tolerance: float | None = None) -> None:
    """Hold what the exported `function` gives to eager's results; exactly without a tolerance."""
    module = mlir_fp8.torch.export(Of(function), args)
    agree(module(*args), function(*args), tolerance)


def agree(got: Any, expected: Any, tolerance: float | None = None) -> None:
    """The same leaves, of the same shapes and dtypes."""
    got, expected = pytree.tree_leaves(got), pytree.tree_leaves(expected)
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        assert one.dtype == other.dtype
        if one.dtype.itemsize == 1 and one.dtype.is_floating_point:
            one, other = one.view(torch.uint8), other.view(torch.uint8)
        limit = tolerance or 0.0
        torch.testing.assert_close(one, other.detach(), equal_nan=True, rtol=limit, atol=limit)
