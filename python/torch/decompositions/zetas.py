"""Hurwitz's zeta function and the derivatives of digamma, in f64 as eager computes them."""

import math
from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.register import decomposes

_aten = torch.ops.aten
_SMALL = 2.0**-53
_DIVISORS = (
    *(12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9),
    *(7.47242496e10, -2.950130727918164224e12, 1.1646782814350067249e14),
    *(-4.5979787224074726105e15, 1.8152105401943546773e17, -7.1661652561756670113e18),
)
"""`(2k)! / B2k` of Euler's and Maclaurin's sum."""


@decomposes(_aten.special_zeta.default)
def zeta(x: Tensor, q: Tensor) -> Tensor:
    """The sum of `(k + q)^-x` over all k from 0 on."""
    dtype = torch.result_type(x, q)
    if not dtype.is_floating_point:
        dtype = torch.get_default_dtype()
    return _zeta(x.double(), q.double()).to(dtype)


def _zeta(x: Tensor, q: Tensor) -> Tensor:
    """Poles and what is undefined as in `zeta` of aten/src/ATen/native/Math.h.

    Below 0, where x is an integer, the terms of `j - q` up to 0 are those of a sum that starts
    at the fraction of q, with the sign of `(-1)^x`, less those that are beyond.
    """
    floor = torch.floor(q)
    is_below = q <= 0
    left = torch.where(is_below, q - floor, q)
    mirrored = torch.where(is_below, 1 - left, 1.0)
    before = _of_positive(x, mirrored) - _of_positive(x, mirrored - torch.where(is_below, floor, 0))
    sign = 1 - 2 * torch.fmod(x, 2)
    total = _of_positive(x, left) + torch.where(is_below, sign * before, 0.0)
    total = torch.where(is_below & (x != torch.floor(x)), math.nan, total)
    total = torch.where(is_below & (q == floor), math.inf, total)
    return torch.where(x == 1, math.inf, torch.where(x < 1, math.nan, total))


def _of_positive(x: Tensor, q: Tensor) -> Tensor:
    """Nine terms, and Euler's and Maclaurin's formula for the others, as Cephes has it."""
    total, term, place = q.pow(-x), q, q
    for _ in range(9):
        place = place + 1
        term = place.pow(-x)
        total = total + term
    total = total + term * place / (x - 1) - term / 2
    factor = torch.ones_like(total)
    is_done = total.isnan()
    for index, divisor in enumerate(_DIVISORS):
        factor = factor * (x + 2 * index)
        term = term / place
        part = factor * term / divisor
        total = torch.where(is_done, total, total + part)
        is_done = is_done | ((part / total).abs() < _SMALL)
        factor = factor * (x + 2 * index + 1)
        term = term / place
    return total


@decomposes(_aten.polygamma.default)
def polygamma(n: int, x: Tensor) -> Tensor | Any:
    """The n-th derivative of digamma, of order 1 as eager mirrors it below 1/2."""
    dtype = x.dtype if x.is_floating_point() else torch.get_default_dtype()
    if n == 0:
        return torch.digamma(x)
    if n == 1:
        return _trigamma(x.double()).to(dtype)
    # Eager rounds the sum before it is multiplied.
    rounded = dtype if dtype == torch.float64 else torch.float32
    total = _zeta(torch.full((), n + 1.0, dtype=torch.float64), x.double()).to(rounded)
    scale = math.exp(math.lgamma(n + 1.0)) if n < 170 else math.inf
    return (total.double() * (scale if n % 2 else -scale)).to(dtype)


def _trigamma(x: Tensor) -> Tensor:
    """As `trigamma` of aten/src/ATen/native/Math.h; infinite at poles, where it is just large."""
    is_low = x < 0.5
    near = x - torch.round(x)
    sine = torch.sin(math.pi * near)
    given = torch.where(is_low, 1 - x, x)
    total = torch.zeros_like(given)
    for _ in range(6):
        total = total + 1 / (given * given)
        given = given + 1
    square = 1 / (given * given)
    series = 1 / 6 - square * (1 / 30 - square * (1 / 42))
    total = total + (1 + 1 / (2 * given) + square * series) / given
    return torch.where(is_low, (math.pi / sine).square() - total, total)
