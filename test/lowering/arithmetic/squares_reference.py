"""The random bits of stochastic rounding, in Python and numpy: see docs/numerics.md."""

import numpy as np

MASK = (1 << 64) - 1


def splitmix64(state: int) -> int:
    """The first output of the generator in `state`, as in S. Vigna's splitmix64.c."""
    z = (state + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def key_of(seed: int, stream: int) -> int:
    return splitmix64((splitmix64(seed & MASK) + stream) & MASK) | 1


def squares32(counters: np.ndarray, key: int) -> np.ndarray:
    """uint32[...] of uint64 counters: `squares32` of Widynski, arXiv:2004.06278."""
    half = np.uint64(32)
    with np.errstate(over="ignore"):
        y = x = counters.astype(np.uint64) * np.uint64(key)
        z = y + np.uint64(key)
        x = x * x + y
        x = (x >> half) | (x << half)
        x = x * x + z
        x = (x >> half) | (x << half)
        x = x * x + y
        x = (x >> half) | (x << half)
        return ((x * x + z) >> half).astype(np.uint32)


def draws(count: int, seed: int, stream: int) -> np.ndarray:
    """The 32 bits of each of `count` elements; uint32[count]."""
    return squares32(np.arange(count, dtype=np.uint64), key_of(seed, stream))
