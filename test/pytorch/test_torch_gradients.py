"""Ops of training and of index arithmetic that torch-mlir cannot lower, held to eager."""

from typing import Any

import pytest

pytest.importorskip("torch.nn")

import torch
from torch_programs import Of, check

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


F = torch.nn.functional
torch.manual_seed(5)
X, Y = torch.randn(3, 4), torch.randn(3, 4)
SQUARE, POSITIVE = torch.randn(3, 3) + 3 * torch.eye(3), torch.rand(2, 5) + 0.1
PLANES, VOLUMES = torch.randn(1, 2, 5, 6), torch.randn(1, 2, 4, 5, 3)
GRID, GRID_3D = torch.rand(1, 3, 4, 2) * 2.4 - 1.2, torch.rand(1, 2, 2, 3, 3) * 2.4 - 1.2
INDEX = torch.tensor([[0, 2, 1, 0], [1, 1, 1, 2]])
MASK = X > 0
DIFFERENTIABLE: dict[str, tuple[Any, tuple[torch.Tensor, ...]]] = {
    "abs of complex": (lambda x: torch.view_as_complex(x).abs(), (torch.randn(3, 2),)),
    "adaptive_avg_pool1d": (lambda x: F.adaptive_avg_pool1d(x[0], 4), (PLANES[0],)),
    "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, (3, 4)), (PLANES,)),
    "adaptive_avg_pool3d": (lambda x: F.adaptive_avg_pool3d(x, (3, 4, 2)), (VOLUMES,)),
    "adaptive_max_pool1d": (lambda x: F.adaptive_max_pool1d(x, 4), (PLANES[0],)),
    "adaptive_max_pool2d": (lambda x: F.adaptive_max_pool2d(x, (3, 4)), (PLANES,)),
    "adaptive_max_pool3d": (lambda x: F.adaptive_max_pool3d(x, (3, 4, 2)), (VOLUMES,)),
    "addmm": (lambda b, x: torch.addmm(b, x, x.T, beta=0.5, alpha=2), (torch.ones(3), X)),
    "addmv": (lambda b, x: torch.addmv(b, x, b[:1].expand(4), alpha=2), (torch.ones(3), X)),
    "as_strided_scatter": (
        lambda x, y: torch.as_strided_scatter(x, y[:2, :3], (2, 3), (5, 1), 1),
        (X, Y),
    ),
    "attention": (
        lambda x: F.scaled_dot_product_attention(x, x.flip(-1), x, is_causal=True),
        (torch.randn(1, 2, 4, 3),),
    ),
    "avg_pool2d": (
        lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
        (PLANES,),
    ),
    "avg_pool3d": (lambda x: F.avg_pool3d(x, 2, 1, 1, divisor_override=3), (VOLUMES,)),
    "baddbmm": (
        lambda b, x: torch.baddbmm(b, x[None], x.T[None], beta=2),
        (torch.ones(1, 3, 3), X),
    ),
    "cholesky": (lambda a: torch.linalg.cholesky(a @ a.T), (SQUARE,)),
    "cholesky_solve": (lambda b, a: torch.cholesky_solve(b, a.tril()), (X, SQUARE)),
    "complex": (lambda x, y: torch.view_as_real(torch.complex(x, y) * 1j), (X, Y)),
    "conv1d": (
        lambda x, w: F.conv1d(x, w, stride=2, padding=1),
        (torch.randn(2, 3, 9), torch.randn(4, 3, 3)),
    ),
    "conv3d": (lambda x, w: F.conv3d(x, w), (VOLUMES, torch.randn(3, 2, 2, 2, 2))),
    "cummax": (lambda x: x.cummax(1).values, (X,)),
    "cumprod": (lambda x: x.cumprod(1), (X,)),
    "cumsum": (lambda x: x.cumsum(-1), (X,)),
    "det": (torch.linalg.det, (SQUARE,)),
    "diagonal": (lambda x: x.diagonal(1), (X,)),
    "diagonal_scatter": (lambda x, y: x.diagonal_scatter(y.diagonal(-1), -1), (X, Y)),
    "digamma": (torch.digamma, (POSITIVE,)),
    "dist": (torch.dist, (X, Y)),
    "erfc": (torch.erfc, (X,)),
    "erfinv": (torch.erfinv, (POSITIVE * 0.8,)),
    "fft": (lambda x: torch.view_as_real(torch.fft.rfft(x)), (X,)),
    "fmax": (torch.fmax, (X, Y)),
    "fmod": (lambda x, y: torch.fmod(x, y), (X, Y)),
    "fold": (lambda x: F.fold(x, (4, 5), 2), (torch.randn(1, 8, 12),)),
    "gather": (lambda x: x.gather(0, INDEX), (X,)),
    "gelu": (lambda x: F.gelu(x) + F.gelu(x, approximate="tanh"), (X,)),
    "grid_sample of volumes": (
        lambda x, g: F.grid_sample(x, g, padding_mode="border", align_corners=False),
        (VOLUMES, GRID_3D),
    ),
    "householder_product": (
        lambda a: torch.linalg.householder_product(a, a[0] / 9),
        (SQUARE,),
    ),
    "hypot": (torch.hypot, (X, Y)),
    "index_put": (lambda x: x.masked_fill(MASK, 2.0), (X,)),
    "inv": (torch.linalg.inv, (SQUARE,)),
    "kthvalue": (lambda x: x.kthvalue(2, 1).values, (X,)),
    "lgamma": (torch.lgamma, (POSITIVE,)),
    "logcumsumexp": (lambda x: x.logcumsumexp(1), (X,)),
    "logsumexp": (lambda x: x.logsumexp(1), (X,)),
    "lu_solve": (lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b), (SQUARE, X)),
    "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True), (PLANES,)),
    "max_pool3d": (lambda x: F.max_pool3d(x, 2, 1), (VOLUMES,)),
    "median": (lambda x: x.median(1).values, (X,)),
    "nearest": (lambda x: F.interpolate(x, scale_factor=2), (PLANES,)),
    "norm": (lambda x: torch.linalg.vector_norm(x, 3, 1), (X,)),
    "pad": (lambda x: torch.view_as_real(F.pad(torch.complex(x, x), (1, 2))), (X,)),
    "pinv": (torch.linalg.pinv, (X,)),
    "polar": (lambda x, y: torch.view_as_real(torch.polar(x, y)), (X, Y)),
    "polygamma": (lambda x: torch.polygamma(1, x), (POSITIVE,)),
    "put": (lambda x, y: x.put(INDEX, y.flatten()[:8].view(2, 4), accumulate=True), (X, Y)),
    "qr": (lambda a: torch.linalg.qr(a)[1].abs(), (SQUARE,)),
    "remainder": (torch.remainder, (X, Y)),
    "roll": (lambda x: x.roll((1, -2), (0, 1)), (X,)),
    "scatter_reduce": (
        lambda x, y: [
            x.scatter_reduce(0, INDEX, y[:2], how, include_self=own)
            for how, own in (("sum", True), ("mean", False), ("amax", True), ("prod", True))
        ],
        (X, Y),
    ),
    "slice_scatter": (lambda x, y: x.slice_scatter(y[:, ::2], 1, step=2), (X, Y)),
    "slogdet": (lambda a: torch.linalg.slogdet(a)[1], (SQUARE,)),
    "solve": (torch.linalg.solve, (SQUARE, X)),
    "solve_triangular": (
        lambda a, b: torch.linalg.solve_triangular(a, b, upper=True),
        (SQUARE, X),
    ),
    "sort": (lambda x: torch.sort(x, dim=1, stable=True).values, (X,)),
    "sum of complex": (lambda x: torch.view_as_real(torch.view_as_complex(x).sum(0)), (X[:, :2],)),
    "unbind_copy": (lambda x: torch.unbind_copy(x, 1)[2], (X,)),
    "unfold": (lambda x: x.unfold(1, 2, 1), (X,)),
    "windows": (lambda x: F.unfold(x, 2, 1, 1, 2), (PLANES,)),
    "xlogy and zeta": (lambda q: torch.special.zeta(torch.tensor(3.0), q), (POSITIVE,)),
}
for _p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf")):
    DIFFERENTIABLE[f"cdist of {_p}"] = lambda x, y, p=_p: torch.cdist(x, y[:2], p), (X, Y)
for _mode in ("bilinear", "nearest", "bicubic"):
    for _padding in ("zeros", "border", "reflection"):

        def _sample(x: Any, g: Any, mode: str = _mode, padding: str = _padding) -> Any:
            same = F.grid_sample(x, g, mode, padding, align_corners=True)
            return same + F.grid_sample(x, g, mode, padding, align_corners=False)

        DIFFERENTIABLE[f"grid_sample, {_mode} {_padding}"] = _sample, (PLANES, GRID)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.sampled(4)
def test_backward_is_eagers(name: str) -> None:
    function, args = DIFFERENTIABLE[name]

    def total(*inner: torch.Tensor) -> Any:
        made = function(*inner)
        return torch.cat([each.flatten() for each in made]) if isinstance(made, list) else made

    args = tuple(each.clone() for each in args)
    graph = _gradients(total, *args)
    check(graph, *(each.detach() for each in args), tolerance=3e-5)
