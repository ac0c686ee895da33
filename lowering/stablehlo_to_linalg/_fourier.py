"""Discrete Fourier transforms as StableHLO text: products with small matrices of roots of unity.

A length p * q is p-point transforms, factors, and q-point transforms (Cooley and Tukey, 1965); a
large prime length is a convolution (Bluestein, 1970). Complex numbers are pairs of real tensors;
the roots are rounded once from f64.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from mlir_fp8.lowering.rewriting.text_writer import Pair, Writer

_DIRECT = 32  # lengths up to this are one product with the matrix
_LARGEST_PRIME = 256  # beyond it three transforms of a power of two are fewer operations


def transform(writer: Writer, value: Pair, batch: int, length: int) -> Pair:
    """The forward transform along the last axis of (batch, length), unnormalized."""
    if length == 1:
        return value
    first = _first_factor(length)
    if first == length:
        if length <= _LARGEST_PRIME:
            return _by_matrix(writer, value, batch, length, 1)
        return _bluestein(writer, value, batch, length)
    second = length // first
    apart = [batch, first, second]
    value = _each(value, lambda part: writer.reshape(part, [batch, length], apart))
    value = _by_matrix(writer, value, batch, first, second)
    twiddles = writer.roots(np.outer(np.arange(first), np.arange(second)), length)
    dims = "dims = [1, 2]"
    spread = _each(
        twiddles,
        lambda part: writer.emit(
            f"broadcast_in_dim {part}, {dims} : ({writer.type(apart[1:])}) -> {writer.type(apart)}"
        ),
    )
    value = writer.times(value, spread, apart)
    rows = [batch * first, second]
    value = _each(value, lambda part: writer.reshape(part, apart, rows))
    value = transform(writer, value, batch * first, second)
    value = _each(value, lambda part: writer.reshape(part, rows, apart))
    value = _each(value, lambda part: writer.transpose(part, apart, [0, 2, 1]))
    flat = [batch, length]
    return _each(value, lambda part: writer.reshape(part, [batch, second, first], flat))


def _each(value: Pair, step: Callable[[str], str]) -> Pair:
    return step(value[0]), step(value[1])


def _first_factor(length: int) -> int:
    """The largest factor for which one product is cheap, else the smallest prime factor."""
    if length <= _DIRECT:
        return length
    for factor in range(_DIRECT, 1, -1):
        if length % factor == 0:
            return factor
    return next(each for each in range(_DIRECT, length + 1) if length % each == 0)


def _by_matrix(writer: Writer, value: Pair, batch: int, length: int, inner: int) -> Pair:
    """The transform along the middle axis of (batch, length, inner), or (batch, length)."""
    cosines, sines = writer.roots(np.outer(np.arange(length), np.arange(length)), length)
    shape = [batch, length] if inner == 1 else [batch, length, inner]
    gives = [length, batch] if inner == 1 else [length, batch, inner]
    order = [1, 0, *range(2, len(shape))]

    def product(matrix: str, part: str) -> str:
        given = f"({writer.type([length, length])}, {writer.type(shape)}) -> {writer.type(gives)}"
        return writer.emit(
            f"dot_general {matrix}, {part}, contracting_dims = [1] x [1],"
            f" precision = [HIGHEST, HIGHEST] : {given}"
        )

    a, b = value
    real = writer.binary("subtract", product(cosines, a), product(sines, b), gives)
    imaginary = writer.binary("add", product(cosines, b), product(sines, a), gives)
    return _each((real, imaginary), lambda part: writer.transpose(part, gives, order))


def _bluestein(writer: Writer, value: Pair, batch: int, length: int) -> Pair:
    """jk = (j^2 + k^2 - (k - j)^2) / 2 makes the transform a convolution with exp(pi i m^2 / n)."""
    padded = 1 << math.ceil(math.log2(2 * length - 1))
    squares = np.array([index * index % (2 * length) for index in range(length)])
    flat, wide = [batch, length], [batch, padded]

    def spread(pair: Pair, shape: Sequence[int]) -> Pair:
        given = f"({writer.type(shape[1:])}) -> {writer.type(shape)}"
        return _each(
            pair, lambda part: writer.emit(f"broadcast_in_dim {part}, dims = [1] : {given}")
        )

    chirp = spread(writer.roots(squares, 2 * length), flat)
    value = writer.times(value, chirp, flat)
    zero = writer.emit(f"constant dense<0.0> : {writer.type([])}")
    given = f"({writer.type(flat)}, {writer.type([])}) -> {writer.type(wide)}"
    rest = f"low = [0, 0], high = [0, {padded - length}], interior = [0, 0] : {given}"
    value = _each(value, lambda part: writer.emit(f"pad {part}, {zero}, {rest}"))
    value = transform(writer, value, batch, padded)
    filter_ = np.zeros(padded, complex)
    filter_[:length] = np.exp(1j * np.pi * squares / length)
    filter_[padded - length + 1 :] = filter_[length - 1 : 0 : -1]
    spectrum = np.fft.fft(filter_) / padded
    factors = (writer.constant(spectrum.real), writer.constant(spectrum.imag))
    value = writer.times(value, spread(factors, wide), wide)
    # The inverse transform, by real and imaginary part in each other's place.
    imaginary, real = transform(writer, (value[1], value[0]), batch, padded)
    cut = f"[0:{batch}, 0:{length}] : ({writer.type(wide)}) -> {writer.type(flat)}"
    value = _each((real, imaginary), lambda part: writer.emit(f"slice {part} {cut}"))
    return writer.times(value, chirp, flat)
