"""Random arguments, the same ones for the same seed and types."""

from collections.abc import Sequence

import ml_dtypes
import numpy as np

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.dialects.float_formats import FORMATS

# Small, so that indices and table look-ups mostly stay inside.
_INTEGERS = 8


def random_arrays(specs: Sequence[TensorSpec], seed: int) -> list[np.ndarray]:
    """One array per spec, from one generator, in order."""
    generator = np.random.Generator(np.random.PCG64(seed))
    return [_random(generator, spec) for spec in specs]


def _random(generator: np.random.Generator, spec: TensorSpec) -> np.ndarray:
    """Floats are standard normal, rounded once to the spec's type: f32 is what ml_dtypes rounds
    from exactly, where f64 would be rounded twice."""
    if spec.element in FORMATS:
        drawn = np.float64 if spec.element == "f64" else np.float32
        values = generator.standard_normal(spec.shape, dtype=drawn)
        values = values if FORMATS[spec.element].signed else np.abs(values)
        return np.asarray(values, spec.dtype)
    if spec.element.startswith("complex"):
        drawn = spec.dtype.type(0).real.dtype
        real = generator.standard_normal(spec.shape, dtype=drawn)
        imaginary = generator.standard_normal(spec.shape, dtype=drawn)
        return np.asarray(real + 1j * imaginary, spec.dtype)
    limit = 2 if spec.element == "i1" else min(_INTEGERS, int(ml_dtypes.iinfo(spec.dtype).max) + 1)
    return np.asarray(generator.integers(0, limit, spec.shape), spec.dtype)
