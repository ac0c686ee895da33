"""Scaled products by their specification, in numpy: each step in f32, then rounded to its type."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlir_fp8.dialects.float_formats import FORMATS


def spread(scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """`scale` repeated to `shape` by its rule."""
    if scale.ndim == 0:
        return np.broadcast_to(scale, shape)
    for axis, (size, whole) in enumerate(zip(scale.shape, shape, strict=True)):
        scale = np.repeat(scale, whole // size if size else 1, axis)
    return scale


def rounded(x: np.ndarray | float, name: str) -> np.ndarray:
    """`x` in f32, rounded to the type `name`."""
    with np.errstate(all="ignore"):
        return np.asarray(x, np.float32).astype(FORMATS[name].dtype).astype(np.float32)


@dataclass(frozen=True)
class Reference:
    """The result of [M, K] by [K, N] with the options that the builder takes, as names of types."""

    a: np.ndarray
    b: np.ndarray
    result: str
    options: dict[str, Any] = field(default_factory=dict)

    def results(self) -> list[np.ndarray]:
        """D, and amax where it is asked for."""
        options = self.options
        epilogue = options.get("epilogue_type") or options.get("dot_type") or "f32"
        x = rounded(self._sum(), options.get("dot_type") or "f32")
        x = self._activation(self._linear(rounded(x, epilogue), epilogue), epilogue)
        amax = np.max(np.abs(x), initial=0.0) if x.size else np.float32(0)
        if "d_scale" in options:
            x = self._scaled(x, options["d_scale"], not options.get("d_inverse"), epilogue)
        if options.get("saturate"):
            limit = float(FORMATS[self.result].max)
            x = np.where(np.isnan(x), x, np.clip(x, -limit, limit))
        with np.errstate(all="ignore"):
            results = [x.astype(np.float32).astype(FORMATS[self.result].dtype)]
        if options.get("amax"):
            results.append(np.asarray(amax, np.float32).astype(FORMATS[epilogue].dtype))
        return results

    def _sum(self) -> np.ndarray:
        kind = self.options.get("operand_type")
        sides = []
        for name, data in (("a", self.a), ("b", self.b)):
            wide = data.astype(np.float32)
            scale = self.options.get(f"{name}_scale")
            if kind is not None and scale is not None:
                wide = self._scaled(wide, scale, bool(self.options.get(f"{name}_inverse")), kind)
            sides.append(wide)
        x = exact_dot(*sides)
        if kind is None:
            for name in ("a", "b"):
                scale = self.options.get(f"{name}_scale")
                if scale is not None:
                    x = self._scaled(x, scale, bool(self.options.get(f"{name}_inverse")), "f32")
        return x

    @staticmethod
    def _scaled(x: np.ndarray, scale: np.ndarray, divide: bool, name: str) -> np.ndarray:
        factor = spread(rounded(scale, name), x.shape)
        with np.errstate(all="ignore"):
            return rounded(x / factor if divide else x * factor, name)

    def _linear(self, x: np.ndarray, name: str) -> np.ndarray:
        options = self.options
        if "alpha" in options:
            x = rounded(x * rounded(options["alpha"], name), name)
        if "c" in options:
            c = rounded(options["c"], name)
            if "beta" in options:
                c = rounded(c * rounded(options["beta"], name), name)
            x = rounded(x + c, name)
        if "bias" in options:
            x = rounded(x + rounded(options["bias"], name), name)
        return x

    def _activation(self, x: np.ndarray, name: str) -> np.ndarray:
        match self.options.get("activation", "none"):
            case "relu":
                return np.where(np.isnan(x), x, np.maximum(x, np.float32(0)))
            case "gelu_tanh":
                return gelu_tanh(x, name)
            case "gelu_erf":
                return gelu_erf(x, name)
            case _:
                return x


def exact_dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The dot of f32 numbers of which no partial sum, in whatever order, rounds in f32."""
    finite_a, finite_b = (np.where(np.isfinite(x), x, 0).astype(np.float64) for x in (a, b))
    terms = finite_a[:, :, None] * finite_b[None]
    if terms.size:
        place = np.float64(2.0) ** -40
        units = terms / place
        assert np.array_equal(units, np.round(units)), "products below 2^-40"
        common = np.gcd.reduce(np.abs(units).astype(np.int64), axis=1)
        total = np.abs(units).sum(axis=1)
        assert np.all(total <= np.maximum(common, 1) * 2.0**24), "sums that round in f32"
    with np.errstate(all="ignore"):
        return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)


def gelu_tanh(x: np.ndarray, name: str) -> np.ndarray:
    """`jax.nn.gelu`, each step rounded; tanh rounded from f64."""
    k0, k1 = rounded(0.044715, name), rounded(math.sqrt(2 / math.pi), name)
    with np.errstate(all="ignore"):
        cube = rounded(x * rounded(x * x, name), name)
        inner = rounded(rounded(x + rounded(k0 * cube, name), name) * k1, name)
        tanh = rounded(np.tanh(inner.astype(np.float64)), name)
        half = rounded(rounded(tanh + np.float32(1), name) * np.float32(0.5), name)
        return rounded(x * half, name)


def gelu_erf(x: np.ndarray, name: str) -> np.ndarray:
    """`jax.nn.gelu(approximate=False)`, each step rounded; erfc rounded from f64."""
    with np.errstate(all="ignore"):
        inner = rounded(-x * rounded(math.sqrt(0.5), name), name)
        erfc = rounded(np.vectorize(math.erfc, otypes=[np.float64])(inner), name)
        return rounded(rounded(np.float32(0.5) * x, name) * erfc, name)
