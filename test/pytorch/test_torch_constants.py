"""Numbers that a program knows, and indices that count from the end, held to eager."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch.nn")

import torch
from torch_programs import check

inf = float("inf")
KNOWN: dict[str, Callable[[torch.Tensor], Any]] = {
    "negative numbers": lambda x: [
        op(torch.full((3,), 0.5), number)
        for op in (torch.add, torch.sub, torch.mul, torch.div, torch.rsub, torch.pow)
        for number in (-1, -2, 3, -0.5)
    ],
    "comparisons": lambda x: [
        op(torch.full((), 3.0, dtype=dtype), number)
        for op in (torch.lt, torch.le, torch.gt, torch.ge, torch.eq, torch.ne)
        for number in (1, -1, 3, 3.5)
        for dtype in (torch.float64, torch.float32, torch.int32)
    ],
    "of one": lambda x: [
        op(torch.full((2,), number))
        for op in (torch.sign, torch.trunc, torch.frac, torch.floor, torch.round, torch.abs)
        for number in (-2.0, 0.0, -0.5, 3.0)
    ],
    "zeros and ones": lambda x: (
        *(torch.zeros(3) - 1, torch.ones(2, 2).tril() * -1, torch.eye(2) - 1),
        *(torch.zeros_like(x) * -1, x.new_ones(2) // -2, x.new_full((2,), -3) + x[:2]),
        *(torch.arange(4) * -1, torch.linspace(-1, 1, 5) * -2, torch.tensor(-2.0).sign()),
        *(torch.full((2, 2), -inf).triu(1), torch.scalar_tensor(2.5) - 4),
    ),
    "other types": lambda x: (
        *(torch.full((2,), 7, dtype=torch.uint8) * 3, torch.ones(2, dtype=torch.bool) | False),
        *(torch.full((2,), 2.5, dtype=torch.bfloat16) - 1, torch.full((2,), -7) // 2),
        *(torch.view_as_real(torch.full((2,), 1 - 2j) * 1j), torch.full((), 2.9, dtype=torch.int8)),
        *(torch.full((), 1j).real, torch.zeros(0) - 1, torch.full((2,), 3) & 2),
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_numbers(name: str) -> None:
    check(KNOWN[name], torch.tensor([1.0, -2.0, 3.0]))


def test_indices_count_from_the_end() -> None:
    def program(x: torch.Tensor, places: torch.Tensor) -> Any:
        written = x.clone()
        written[places] = 8.0
        written[-2, -1] = 5.0
        return (
            *(x[places], x[:, places], x[places, -1], x[[0, -1]], x[places[:, None], places]),
            *(x.index_put((places,), x[0]), x.index_put((places, places), x[0, 0], True), written),
            *(x.index_fill(0, places.long(), 7.0), x.take(places.long())),
            *(x[:, None, places], x[1:][places]),
        )

    x, places = torch.arange(16.0).reshape(4, 4), torch.tensor([1, -1])
    check(program, x, places)
    check(program, x.to(torch.uint8), places.to(torch.int32))


def test_views_are_inputs() -> None:
    numbers = torch.randn(4, 6)
    views = numbers[1:3], numbers.t(), numbers[:, ::2], numbers[3], numbers[:0], numbers[1, 2]
    check(lambda *given: [each * 2 for each in given], numbers, *views)
