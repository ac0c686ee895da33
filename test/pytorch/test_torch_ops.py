"""Ops that have decompositions of our own, held to eager."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch.nn")

import torch
from torch_programs import check

F = torch.nn.functional
nan, inf = float("nan"), float("inf")
X = torch.tensor([[0.5, -1.25, 3.0, 3.0], [nan, 2.0, -2.0, 0.0], [1.0, 1.0, inf, -inf]])
Y = torch.tensor([[2.0, 0.5, -2.0, 1.5], [1.0, -0.75, 1.5, 3.0], [-1.0, 3.0, 2.0, 2.0]])
N = torch.tensor([[5, -7, 3, 3], [0, 2, -2, 9]])
M = torch.tensor([[2, 3, -2, -1], [1, 3, 5, 4]])
INDEX = torch.tensor([[0, 2, 1, 0], [1, 1, 1, 2]])
POSITIVE = torch.tensor([0.1, 0.9, 1.0, 2.5, 7.0])

EXACT: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "fmod": (torch.fmod, (X, Y)),
    "fmod of integers": (torch.fmod, (N, M)),
    "fmod by a number": (lambda x: torch.fmod(x, -1.5), (X,)),
    "remainder": (torch.remainder, (X[:, :2], Y[:, :2])),
    "remainder of integers": (torch.remainder, (N, M)),
    "remainder of a number": (lambda x: torch.remainder(5, x), (M,)),
    "shifts": (lambda x, y: (x << y, x >> y, x << 2), (N, M.abs())),
    "shift of bytes": (lambda x: x >> 1, (torch.tensor([255, 128, 3], dtype=torch.uint8),)),
    "diagonal": (lambda x: (x.diagonal(), x.diagonal(1), x.diagonal(-2)), (Y,)),
    "diagonal of planes": (lambda x: x.diagonal(1, 2, 0), (torch.arange(24.0).reshape(3, 2, 4),)),
    "unfold": (lambda x: x.unfold(1, 2, 2), (X,)),
    "searchsorted": (torch.searchsorted, (torch.tensor([1.0, 2.0, 2.0, nan]), X)),
    "searchsorted to the right": (
        lambda s, x: torch.searchsorted(s, x, right=True, out_int32=True),
        (torch.tensor([1.0, 2.0, 2.0, nan]), X),
    ),
    "bucketize": (torch.bucketize, (torch.tensor(2.0), torch.tensor([1.0, 2.0]))),
    "histc": (lambda x: torch.histc(x, 4, 0, 3), (Y,)),
    "histc of all": (lambda x: torch.histc(x, 3), (Y,)),
    "sort": (lambda x: torch.sort(x, dim=1, stable=True), (X,)),
    "sort downwards": (lambda x: torch.sort(x, dim=0, descending=True, stable=True), (X,)),
    "sort of integers": (lambda x: torch.sort(x, dim=-1, stable=True), (N,)),
    "median": (lambda x: x.median(1).values, (X,)),
    "median of all": (torch.median, (Y,)),
    "nanmedian": (lambda x: x.nanmedian(1).values, (X,)),
    "kthvalue": (lambda x: torch.kthvalue(x, 2, 1).values, (Y,)),
    "argmax of all": (lambda x: (x.argmax(), x.argmin(keepdim=True)), (Y,)),
    "gather": (lambda x, i: x.gather(0, i), (X, INDEX)),
    "take_along_dim": (lambda x, i: torch.take_along_dim(x, i, 0), (X, INDEX)),
    "cumprod": (lambda x: x.cumprod(1), (Y,)),
    "cumprod of integers": (lambda x: x.cumprod(0), (N,)),
    "cummax": (lambda x: torch.cummax(x, 1), (X,)),
    "cummin": (lambda x: torch.cummin(x, 0), (N,)),
    "scatter_reduce": (
        lambda x, i, s: [
            x.scatter_reduce(0, i, s, r, include_self=own)
            for r in ("sum", "prod", "amax", "amin", "mean")
            for own in (True, False)
        ],
        (Y, INDEX, N.float()),
    ),
    "nearest": (lambda x: F.interpolate(x, scale_factor=2), (torch.randn(1, 2, 3, 4),)),
    "nearest of one dimension": (lambda x: F.interpolate(x, 7), (torch.randn(1, 2, 3),)),
    "complex": (lambda x: torch.view_as_real(torch.view_as_complex(x)), (torch.randn(3, 2),)),
    "dropout of all": (lambda x: F.dropout(x, 1.0, True), (Y,)),
    "mask with a number": (lambda x: x.masked_fill(x > 1, 7.0), (X,)),
}


@pytest.mark.parametrize("name", EXACT)
def test_op_is_eagers(name: str) -> None:
    function, args = EXACT[name]
    check(function, *args)


CLOSE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "lgamma": (torch.lgamma, (POSITIVE,)),
    "digamma": (torch.digamma, (POSITIVE,)),
    "erfinv": (torch.erfinv, (torch.tensor([-0.9, -0.1, 0.0, 0.5, 0.99]),)),
    "erfc": (torch.erfc, (Y,)),
    "gelu": (lambda x: (F.gelu(x), F.gelu(x, approximate="tanh")), (Y,)),
    "logsumexp": (lambda x: torch.logsumexp(x, 1), (Y,)),
    "logsumexp of infinity": (lambda x: torch.logsumexp(x, 0), (torch.tensor([[-inf, inf]]),)),
    "logcumsumexp": (lambda x: torch.logcumsumexp(x, 1), (Y,)),
    "norms": (
        lambda x: [torch.linalg.norm(x, ord=o, dim=1) for o in (None, 1, 2, inf, 0, 3)],
        (Y,),
    ),
    "cdist": (lambda x, y: [torch.cdist(x, y, p) for p in (0.0, 1.0, 2.0, 3.0, inf)], (Y, Y + 1)),
    "avg_pool3d": (
        lambda x: [
            F.avg_pool3d(x, 2),
            F.avg_pool3d(x, (2, 3, 2), 1, 1, count_include_pad=False),
            F.avg_pool3d(x, 3, 2, 1, divisor_override=5),
        ],
        (torch.arange(240.0).reshape(1, 2, 4, 5, 6).cos(),),
    ),
    "addmm": (lambda b, x: torch.addmm(b, x, x.T, beta=0.5, alpha=2), (torch.ones(3), Y)),
    "addmm of nothing": (lambda b, x: torch.addmm(b, x, x.T, beta=0), (X[:, :3], Y)),
}


@pytest.mark.parametrize("name", CLOSE)
def test_op_is_near_eagers(name: str) -> None:
    function, args = CLOSE[name]
    check(function, *args, tolerance=2e-6)


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": 0.3}, {"enable_gqa": True}])
def test_attention_is_eagers(options: dict[str, Any]) -> None:
    torch.manual_seed(0)
    heads = 2 if "enable_gqa" in options else 4
    query, key, value = (torch.randn(2, h, 6, 8) for h in (4, heads, heads))

    def function(q: Any, k: Any, v: Any) -> Any:
        return F.scaled_dot_product_attention(q, k, v, **options)

    check(function, query, key, value, tolerance=2e-6)
    check(
        lambda q, k, v: function(q, k, v).transpose(1, 2).reshape(2, 6, 32),
        query,
        key,
        value,
        tolerance=2e-6,
    )


def test_attention_takes_masks() -> None:
    query = torch.randn(2, 4, 6, 8)
    may_look = torch.rand(2, 1, 6, 6) > 0.4
    may_look[..., 0] = True
    for mask in (may_look, torch.randn(6, 6)):
        check(
            lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m),
            query,
            mask,
            tolerance=2e-6,
        )


def test_max_pool_has_a_backward() -> None:
    def gradient(x: Any) -> Any:
        out, places = torch.ops.aten.max_pool2d_with_indices(x, [2, 2], [1, 1])
        return torch.ops.aten.max_pool2d_with_indices_backward(
            out * 2, x, [2, 2], [1, 1], [0, 0], [1, 1], False, places
        )

    check(gradient, torch.randn(2, 3, 5, 4), tolerance=1e-6)


def test_control_flow() -> None:
    def branch(x: Any) -> Any:
        return torch.cond(
            x.sum() > 0, lambda y: (y + 1, y.sum()), lambda y: (y * 2, y.prod()), (x,)
        )

    for x in (torch.tensor([1.0, 2.0]), torch.tensor([-1.0, -2.0])):
        check(branch, x)


def test_primitives_of_torchao() -> None:
    ao = pytest.importorskip("torchao.quantization.quant_primitives")

    def quantized(x: Any) -> Any:
        options = {"float8_dtype": torch.float8_e4m3fn, "block_size": (1, 16)}
        scale = ao._choose_scale_float8(x, **options)
        codes = ao._quantize_affine_float8(x, scale, torch.float8_e4m3fn)
        return codes, scale, ao._dequantize_affine_float8(codes, scale, torch.float32)

    check(quantized, torch.randn(8, 16))


def test_loops() -> None:
    from torch._higher_order_ops import scan
    from torch._higher_order_ops.while_loop import while_loop

    def power(x: Any) -> Any:
        start = torch.zeros((), dtype=torch.int64), x.clone()
        return while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * x), start)

    check(power, torch.tensor([0.5, -1.5]))
    check(
        lambda x: scan(lambda c, v: (c + v, c * v), torch.ones(3), x),
        torch.randn(4, 3),
        tolerance=1e-6,
    )


def test_a_tensor_given_twice_is_two_operands() -> None:
    x = torch.rand(5).sort()[0]
    check(lambda x: torch.view_as_real(torch.complex(x, x)), x)
    check(lambda x: torch.searchsorted(x, x), x)


def test_complex_numbers_keep_their_parts() -> None:
    z = torch.tensor([3 + 4j, -5 + 12j, 1e30 + 1e30j], dtype=torch.complex64)
    check(lambda z: z.real + z.imag, z)
    # Both are within an ulp of the distance, not always on the same side of it.
    check(lambda z: (z.abs(), z.angle()), z, tolerance=2.4e-7)


def test_magnitudes_are_infinite_where_a_part_is() -> None:
    z = torch.tensor([complex(inf, nan), complex(nan, -inf), complex(inf, 1), complex(nan, 1)])
    check(lambda z: z.abs(), torch.cat([z, torch.zeros(1)]))


def test_writes_to_slices_with_ends_left_open() -> None:
    def function(x: Any) -> Any:
        x = x.clone()
        x[1:] *= 2
        x[:, -2:] += 1
        return x

    check(function, torch.randn(3, 4), tolerance=1e-6)


def test_sums_of_products() -> None:
    fma = getattr(torch.ops.prims, "fma", None)
    if fma is None:
        pytest.skip("this PyTorch has none")
    check(lambda a, b, c: fma(a, b, c), *torch.arange(12.0).reshape(3, 4))


F2 = torch.arange(252.0).reshape(2, 3, 7, 6).sin()
F3 = torch.arange(420.0).reshape(1, 2, 5, 7, 6).cos()
POOLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "max beyond the end": (
        lambda x: (
            F.max_pool2d(x, 3, 2, 1, ceil_mode=True, return_indices=True),
            F.max_pool2d(x, 2, 3, 1, dilation=2, ceil_mode=True, return_indices=True),
            F.max_pool1d(x[0], 3, 2, ceil_mode=True),
        ),
        (F2,),
    ),
    "max of NaN": (lambda x: F.max_pool2d(x, 2, ceil_mode=True), (torch.where(F2 > 0.9, nan, F2),)),
    "max of volumes": (
        lambda x: (
            F.max_pool3d(x, 2, 1, 1, return_indices=True),
            F.max_pool3d(x, (2, 3, 2), 2, ceil_mode=True),
        ),
        (F3,),
    ),
    "mean": (
        lambda x: [
            F.avg_pool2d(x, 3, 2, 1, ceil_mode=c, count_include_pad=p, divisor_override=d)
            for c in (True, False)
            for p in (True, False)
            for d in (None, 4)
        ],
        (F2,),
    ),
    "mean of volumes": (
        lambda x: [
            F.avg_pool3d(x, 2, 2, 1, ceil_mode=True, count_include_pad=c) for c in (False, True)
        ],
        (F3,),
    ),
}


@pytest.mark.parametrize("name", POOLS)
def test_pooling_is_eagers(name: str) -> None:
    function, args = POOLS[name]
    check(function, *args, tolerance=2e-6)


def test_max_pool_of_volumes_has_a_backward() -> None:
    def gradient(x: Any) -> Any:
        out, places = torch.ops.aten.max_pool3d_with_indices(x, [2], [1])
        return torch.ops.aten.max_pool3d_with_indices_backward(
            out * 2, x, [2, 2, 2], [1, 1, 1], [0, 0, 0], [1, 1, 1], False, places
        )

    check(gradient, F3, tolerance=1e-6)


def test_masks_that_keep_the_size_are_written_by() -> None:
    def written(x: Any, mask: Any, few: Any) -> Any:
        x, rows, columns = x.clone(), x.clone(), few.clone()
        x[mask] = -1.0
        rows[:, mask[0, :, 0, 0]] = torch.arange(42.0).reshape(7, 6)
        columns[few > 1] = torch.tensor([5.0, 6.0, 7.0])
        return x, rows, columns

    mask = F2 > 0.3
    mask[0, :, 0, 0] = torch.tensor([True, False, True])
    check(written, F2, mask, torch.tensor([0.0, 2, 3, 1, 9]))


def test_masks_that_size_a_tensor_are_refused() -> None:
    def written(x: Any, mask: Any) -> Any:
        x = x.clone()
        x[mask] += 1
        return x

    import mlir_fp8

    with pytest.raises(mlir_fp8.Fp8Error, match=r"'aten\.index\.Tensor' gives a tensor whose size"):
        check(written, F2, F2 > 0)


def test_cumsum() -> None:
    check(
        lambda x, n, b: (x.cumsum(0), n.cumsum(1), b.cumsum(0), b.cumsum(0, dtype=torch.int8)),
        torch.tensor(3.0),
        N,
        N > 0,
    )
    check(lambda x: x.cumsum(1), torch.zeros(2, 0))


def test_draws_follow_the_weights() -> None:
    from torch_programs import Of

    import mlir_fp8.torch

    weights = torch.tensor([0.1, 0.0, 0.6, 0.3])

    def draws(w: Any) -> Any:
        return torch.multinomial(w, 20000, True), torch.multinomial(w.expand(5000, 4), 2)

    again, once = mlir_fp8.torch.export(Of(draws), (weights,))(weights)
    share = again.bincount(minlength=4) / 20000
    torch.testing.assert_close(share, weights, rtol=0, atol=0.02)
    assert share[1] == 0
    assert (once[:, 0] != once[:, 1]).all()
    share = once[:, 0].bincount(minlength=4) / 5000
    torch.testing.assert_close(share, weights, rtol=0, atol=0.03)


def test_derivatives_of_digamma() -> None:
    """Below 0 too."""
    x = torch.tensor([-8.478373527526855, -0.5, -3.25, 0.3, 2.5, 20.0])
    check(lambda x: (torch.polygamma(0, x), torch.polygamma(1, x)), x, tolerance=3e-6)
    check(lambda x: (torch.polygamma(2, x), torch.polygamma(3, x)), x, tolerance=3e-6)
