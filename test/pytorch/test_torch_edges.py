"""Ops of our table of decompositions on inputs at the edges, held to eager.

NaN, infinities, -0.0, subnormal and large numbers, empty tensors, those without a dimension or with
dimensions of size one, of gaps and turned strides, negative dimensions, and broadcast ones.
"""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch.nn")

import torch
from torch_programs import check

F = torch.nn.functional
nan, inf = float("nan"), float("inf")
NUMBERS = torch.tensor(
    [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.5,
        -3.25,
        0.999,
        7.0,
        1e-40,
        -1e-40,
        1e-20,
        3e38,
        nan,
        inf,
        -inf,
    ]
)
ROWS = torch.tensor(
    [
        [0.5, -1.25, 3.0, -0.0],
        [nan, 2.0, -2.0, 1e-40],
        [1.0, -7.5, inf, -inf],
        [9.0, -4.0, 2.25, 6.0],
    ]
)


def shapes(rows: torch.Tensor) -> list[torch.Tensor]:
    """`rows` [n, m], and tensors like it of every layout and of the least sizes."""
    return [
        rows,
        rows.t(),
        rows[::2, 1::2],
        rows[1:2].expand(3, -1),
        rows[:0],
        rows[:, :1],
        rows[2:3, 1:2],
        rows[3, 2],
    ]


def pairs() -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Each number with each other, and operands that are spread, empty or without a dimension."""
    column = NUMBERS.unsqueeze(1)
    return [
        (column, NUMBERS),
        (ROWS, ROWS.t()),
        (ROWS, ROWS[3]),
        (ROWS[2, 0], ROWS[:, :1]),
        (ROWS[:0], ROWS[3]),
        (ROWS[3, 0], ROWS[3, 1]),
    ]


def those_of_eager(function: Callable[..., Any], given: list[Any]) -> list[Any]:
    """The inputs that eager takes."""
    taken = []
    for each in given:
        try:
            function(*each) if isinstance(each, tuple) else function(each)
        except (RuntimeError, IndexError):
            continue
        taken.append(each)
    assert len(taken) >= 3
    return taken


def held(function: Callable[..., Any], given: list[Any], tolerance: float | None) -> None:
    """One program of all that eager takes."""
    taken = those_of_eager(function, given)
    several = isinstance(taken[0], tuple)
    flat = [each for one in taken for each in (one if several else (one,))]
    step = len(taken[0]) if several else 1

    def program(*args: Any) -> Any:
        return [function(*args[i : i + step]) for i in range(0, len(args), step)]

    check(program, *flat, tolerance=tolerance)


OF_ONE: dict[str, tuple[Callable[..., Any], float | None]] = {
    "erf": (torch.erf, 1e-6),
    "erfc": (torch.erfc, 1e-6),
    "erfinv": (torch.erfinv, 3e-6),
    "lgamma": (torch.lgamma, 3e-6),
    "digamma": (torch.digamma, 3e-6),
    "polygamma of order 2": (lambda x: torch.polygamma(2, x), 3e-6),
    "sinh": (torch.sinh, 1e-6),
    "cosh": (torch.cosh, 1e-6),
    "asinh": (torch.asinh, 1e-6),
    "acosh": (torch.acosh, 1e-6),
    "atanh": (torch.atanh, 1e-6),
    "i1e": (torch.special.i1e, 1e-6),
    "angle": (torch.angle, 1e-6),
    "gelu": (lambda x: F.gelu(x.clamp(-1e30, 1e30)), 1e-6),  # eager: NaN of infinity
    "gelu by tanh": (lambda x: F.gelu(x, approximate="tanh"), 1e-6),
    "fmod of a number": (lambda x: torch.fmod(x, -1.5), None),
    "remainder of a number": (lambda x: torch.remainder(x, -1.5), None),
    "floored division by a number": (lambda x: torch.div(x, 0.1, rounding_mode="floor"), None),
    "sgn and abs": (lambda x: (x.sgn(), x.abs()), None),
    "nan_to_num": (torch.nan_to_num, None),
    "masked": (lambda x: x.masked_fill(x > 0, -0.0), None),
}


@pytest.mark.parametrize("name", OF_ONE)
def test_functions_of_numbers(name: str) -> None:
    function, tolerance = OF_ONE[name]
    held(function, [NUMBERS, *shapes(ROWS)], tolerance)


def normal(x: torch.Tensor) -> torch.Tensor:
    """`x` without the smallest and the largest, of which eager's vectors make NaN."""
    return torch.where((x.abs() < 1e-37) | (x.abs() == 3e38), 0.0, x)


OF_TWO: dict[str, tuple[Callable[..., Any], float | None]] = {
    "fmod": (lambda x, y: torch.fmod(normal(x), normal(y)), None),
    "remainder": (lambda x, y: torch.remainder(normal(x), normal(y)), None),
    "floored division": (lambda x, y: torch.div(x, y, rounding_mode="floor"), None),
    "truncated division": (lambda x, y: torch.div(x, y, rounding_mode="trunc"), None),
    "hypot": (torch.hypot, 1e-6),
    "fmax": (torch.fmax, None),
    "fmin": (torch.fmin, None),
    "maximum": (torch.maximum, None),
    "minimum": (torch.minimum, None),
    "isclose": (lambda x, y: (x.isclose(y), x.isclose(y, 0.1, 0.0, True)), None),
    "nextafter": (torch.nextafter, None),
    "copysign": (torch.copysign, None),
    "complex": (lambda x, y: torch.view_as_real(torch.complex(x, y)), None),
    "polar": (lambda x, y: torch.view_as_real(torch.polar(x, y.clamp(-9, 9))), 1e-6),
    "zeta": (lambda x, y: torch.special.zeta(x.clamp(-9, 40), y.clamp(-9, 1e6)), 1e-5),
}


@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two_numbers(name: str) -> None:
    function, tolerance = OF_TWO[name]
    held(function, pairs(), tolerance)


def orders(x: torch.Tensor) -> tuple[float, ...]:
    """Of norms: nothing has no largest."""
    return (0, 1, 2, 3, inf, -inf) if x.numel() else (0, 1, 2, 3)


ALONG: dict[str, tuple[Callable[..., Any], float | None]] = {
    "logsumexp": (lambda x: x.logsumexp(-1), 2e-6),
    "logsumexp kept": (lambda x: x.logsumexp(-1, keepdim=True), 2e-6),
    "cumsum": (lambda x: x.cumsum(-1), 1e-6),
    "cumprod": (lambda x: x.cumprod(-1), 1e-6),
    "cummax": (lambda x: tuple(x.cummax(-1)), None),
    "cummin": (lambda x: tuple(x.cummin(-1)), None),
    "logcumsumexp": (lambda x: x.logcumsumexp(-1), 2e-6),
    "sort": (lambda x: torch.sort(x, dim=-1, stable=True), None),
    "sort downwards": (lambda x: torch.sort(x, dim=-1, stable=True, descending=True), None),
    "median": (lambda x: x.median(-1).values, None),
    "median of all": (torch.median, None),
    "nanmedian": (lambda x: x.nanmedian(-1).values, None),
    "nanmedian of all": (torch.nanmedian, None),
    "kthvalue": (lambda x: x.kthvalue(1, -1, keepdim=True).values, None),
    "argmax": (lambda x: (x.argmax(-1), x.argmin(-1, keepdim=True), x.argmax()), None),
    "extremes": (lambda x: (x.amax(-1), x.amin(-1), x.max(-1).values, x.min(-1).values), None),
    "norms": (
        lambda x: [torch.linalg.vector_norm(x, o, -1) for o in orders(x)],
        2e-6,
    ),
    "diagonal": (lambda x: (x.diagonal(0, -2, -1), x.diagonal(-1), x.diagonal(5)), None),
    "unfold": (lambda x: x.unfold(-1, 1, 1), None),
    "roll": (lambda x: (x.roll(-5), x.roll(2, -1)), None),
    "slices": (lambda x: x.slice_scatter(x[..., 1:] + 1, -1, 1), None),
    "slices of two": (lambda x: x.slice_scatter(x[..., ::2] * 2, -1, step=2), None),
    "diagonal_scatter": (lambda x: x.diagonal_scatter(x.diagonal(1) + 1, 1), None),
    "padding": (lambda x: F.pad(x, (1, -1), value=-0.0), None),
    "histc": (lambda x: torch.histc(x.nan_to_num(0, 2, -2), 4), None),
    "cdist": (lambda x: [torch.cdist(x, x, p) for p in (0.0, 1.0, 2.0)], 2e-6),
    # Eager's largest loses NaN.
    "cdist of inf": (
        lambda x: torch.cdist(x.nan_to_num(1, 2, -2), x.nan_to_num(3, 3, 3), inf),
        2e-6,
    ),
    "pdist": (lambda x: F.pdist(x), 2e-6),
    "searchsorted": (lambda x: torch.searchsorted(torch.tensor([-1.0, 0.0, 2.0]), x), None),
    "bucketize": (lambda x: torch.bucketize(x, torch.tensor([-1.0, 2.0]), right=True), None),
    "gather": (lambda x: x.gather(-1, torch.zeros_like(x, dtype=torch.int64)), None),
    "take": (lambda x: x.take(torch.tensor([[0, -1], [0, 0]])), None),
    "scatter_reduce": (
        lambda x: [
            x.scatter_reduce(-1, torch.zeros_like(x, dtype=torch.int64), x, r, include_self=own)
            for r in ("sum", "prod", "amax", "amin", "mean")
            for own in (True, False)
        ],
        1e-6,
    ),
    "index_reduce": (
        lambda x: [
            x.index_reduce(-1, torch.tensor([0] * x.shape[-1]), x, r, include_self=own)
            for r in ("prod", "amax", "amin", "mean")
            for own in (True, False)
        ],
        1e-6,
    ),
    "put": (lambda x: x.put(torch.tensor([0, -1]), torch.tensor([5.0, nan])), None),
    "unbind": (lambda x: torch.unbind_copy(x, -1), None),
    "nearest": (lambda x: F.interpolate(x[None], 5), None),
    "addmm": (lambda x: torch.addmm(x[:1, :1], x, x.t(), beta=0, alpha=2), 1e-6),
    "fft": (lambda x: torch.view_as_real(torch.fft.fft(x.nan_to_num(0, 2, -2))), 1e-5),
}


@pytest.mark.parametrize("name", ALONG)
def test_functions_along_dimensions(name: str) -> None:
    function, tolerance = ALONG[name]
    held(function, shapes(ROWS), tolerance)


PLANES = torch.cat([ROWS, ROWS.flip(0)]).unflatten(0, (2, 4))
POOLED: dict[str, Callable[..., Any]] = {
    "max": lambda x: F.max_pool2d(x, 2, 1, 1, return_indices=True),
    "max beyond the end": lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True, return_indices=True),
    "mean": lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
    "adaptive max": lambda x: F.adaptive_max_pool2d(x, (3, 2), return_indices=True),
    "adaptive mean": lambda x: F.adaptive_avg_pool2d(x, (3, 2)),
    "adaptive mean of volumes": lambda x: F.adaptive_avg_pool3d(x[None], (1, 3, 2)),
    "samples": lambda x: F.grid_sample(
        x[None], torch.tensor([[[[-1.0, 1.0], [0.1, -3.0], [0.5, 1e9]]]]), align_corners=True
    ),
}


@pytest.mark.parametrize("name", POOLED)
def test_windows(name: str) -> None:
    large = torch.where(inf == PLANES, 3e38, PLANES).nan_to_num(1, 1, -1)
    given = [PLANES, PLANES.transpose(1, 2), large[:1], PLANES[..., :1].expand(-1, -1, 3)]
    held(POOLED[name], given, 2e-6)


WHOLE = torch.tensor([[5, -7, 3, 3], [0, 2, -2, 9], [-1, 127, -128, 64]])
OF_WHOLE: dict[str, Callable[..., Any]] = {
    "fmod": lambda x: (torch.fmod(x, 3), torch.fmod(x, -3)),
    "remainder": lambda x: (torch.remainder(x, 3), torch.remainder(x, -3)),
    "floored division": lambda x: (x // 3, torch.div(x, -2, rounding_mode="trunc")),
    "shifts": lambda x: (x << 1, x >> 1, x >> 7),
    "fmax": lambda x: (torch.fmax(x, x.flip(-1)), torch.fmin(x, x.flip(-1))),
    "cumulative": lambda x: (x.cumsum(-1), x.cumprod(-1), x.cummax(-1), x.cummin(-1)),
    "sort": lambda x: torch.sort(x, dim=-1, stable=True),
    "median": lambda x: (x.median(-1).values, x.kthvalue(1, -1).values),
    "isclose": lambda x: x.isclose(x.flip(-1)),
    "roll": lambda x: x.roll(1, -1),
}


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64])
@pytest.mark.parametrize("name", OF_WHOLE)
@pytest.mark.sampled(3)
def test_whole_numbers(name: str, dtype: torch.dtype) -> None:
    wide = WHOLE.to(dtype)
    held(OF_WHOLE[name], [wide, wide.t(), wide[::2, 1::2], wide[:, :1], wide[:, :0]], None)
