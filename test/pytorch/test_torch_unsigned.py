"""uint16, uint32 and uint64: what PyTorch has of them, held to eager."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch.nn")

import torch
from torch_programs import check

UNSIGNED = [torch.uint16, torch.uint32, torch.uint64]
OPS: dict[str, Callable[..., Any]] = {
    "layout": lambda x, y: (x.clone(), x.view(2, 2), x[1:3], x.expand(2, 4)),
    "joined": lambda x, y: (torch.cat([x, y]), torch.stack([x, y])),
    "taken": lambda x, y: (x[torch.tensor([3, 0])], x[1:][torch.tensor([1, -1])]),
    "product": lambda x, y: (x * y, x * 2, x.prod(), x * 1.5, x / 2),
    "sum": lambda x, y: (x.sum(), x.sum(dtype=torch.float32), x.sum(0, dtype=torch.int64)),
    "bits": lambda x, y: (x & y, x | y, x ^ y),
    "compared": lambda x, y: (x == y, x != 3, x.any(), torch.where(x == y, x, y)),
    "sorted": lambda x, y: x.sort(stable=True).values,
    "made": lambda x, y: (
        torch.zeros_like(x),
        torch.full((2,), 7, dtype=x.dtype),
        torch.ones(2, dtype=x.dtype),
        x.new_zeros(3),
        x * torch.tensor(60000, dtype=x.dtype),
    ),
}


@pytest.mark.parametrize("dtype", UNSIGNED)
@pytest.mark.parametrize("name", OPS)
def test_ops_of_unsigned_integers(name: str, dtype: torch.dtype) -> None:
    largest = torch.iinfo(dtype).max
    x, y = torch.tensor([1, 2, 3, largest], dtype=dtype), torch.tensor([2, 2, 1, 7], dtype=dtype)
    check(OPS[name], x, y)


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_casts_of_unsigned_integers(dtype: torch.dtype) -> None:
    others = [torch.float32, torch.float64, torch.bfloat16, torch.bool, torch.uint8, torch.int8]
    others += [torch.int16, torch.int32, torch.int64, *UNSIGNED]
    largest = torch.iinfo(dtype).max
    numbers = torch.tensor([0, 1, 200, 40000, largest // 2 + 1, largest], dtype=dtype)
    check(lambda x: [x.to(each) for each in others], numbers)
    small = torch.tensor([0.0, 1.0, 77.0, 100.75])
    check(lambda *given: [each.to(dtype) for each in given], *(small.to(each) for each in others))
    wide = torch.tensor([-1, -5, 2**40 + 3])
    check(lambda x: x.to(dtype), wide)


def test_floats_become_all_unsigned_integers() -> None:
    half = torch.tensor([2.0**31, 2.0**32 - 256, 60000.5])
    check(lambda x: x.to(torch.uint32), half)
    check(lambda x: x.to(torch.uint64), torch.tensor([2.0**63, 2.0**64 - 2.0**40, 5.5]))
