"""Arguments that suit an op: in its domain, with exact sums, in range as indices."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
from sample_groups import Case, spec_of

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.dialects.float_formats import FORMATS

_DOMAINS: dict[str, tuple[float, float]] = {
    "stablehlo.log": (0.1, 5.0),
    "stablehlo.log_plus_one": (-0.9, 4.0),
    "stablehlo.sqrt": (0.0, 9.0),
    "stablehlo.rsqrt": (0.1, 9.0),
    "stablehlo.tan": (-1.2, 1.2),
    "chlo.tan": (-1.2, 1.2),
    "chlo.acos": (-1.0, 1.0),
    "chlo.acosh": (1.0, 5.0),
    "chlo.asin": (-1.0, 1.0),
    "chlo.atanh": (-0.9, 0.9),
    "chlo.erf_inv": (-0.9, 0.9),
    "chlo.digamma": (0.4, 6.0),
    "chlo.lgamma": (0.4, 6.0),
    "chlo._asin_acos_kernel": (-1.0, 1.0),
}
"""Where an op of one operand gives numbers; elsewhere from -3 to 3."""

_PAIRS: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {
    "power": ((0.25, 3.0), (-2.0, 2.0)),
    "zeta": ((1.5, 4.0), (0.5, 4.0)),
    "polygamma": ((0.0, 3.0), (0.6, 4.0)),
    "divide": ((-4.0, 4.0), (0.5, 4.0)),
    "remainder": ((-8.0, 8.0), (0.5, 3.0)),
}
"""The same for two operands, by the op's last name."""

_WHOLE_FIRST = ("polygamma",)
_BITWISE = (
    *("and", "or", "xor", "not", "popcnt", "count_leading_zeros", "add", "subtract", "multiply"),
    *("maximum", "minimum", "negate", "mulhi", "compare", "square", "select"),
)


def _name(case: Case) -> str:
    return case.sample.op.split(".")[1].removeprefix("broadcast_")


def arguments(case: Case) -> list[np.ndarray]:
    """One array per argument of the case, the same in every run."""
    rng = np.random.default_rng([len(case.text), *case.text.encode()])
    special = _SPECIAL.get(_name(case))
    head = case.sample.text.splitlines()[0].split(" -> ")[0]
    is_element = ["$" in part for part in head.split("tensor<")[1:]]
    found = []
    for index, type_ in enumerate(case.argument_types):
        spec = spec_of(type_)
        if special is not None and (array := special(case, index, spec, rng)) is not None:
            found.append(array)
        elif case.element and not is_element[index]:
            found.append(_index(spec, rng))
        else:
            found.append(_elements(case, index, spec, rng))
    return found


def _index(spec: TensorSpec, rng: np.random.Generator) -> np.ndarray:
    if spec.element in FORMATS:
        return (rng.integers(-4, 5, spec.shape) / 2).astype(spec.dtype)
    return rng.integers(0, 2 if spec.element == "i1" else 3, spec.shape).astype(spec.dtype)


def _elements(case: Case, index: int, spec: TensorSpec, rng: np.random.Generator) -> np.ndarray:
    if spec.element == "i1":
        return rng.integers(0, 2, spec.shape).astype(np.bool_)
    if spec.element.startswith("complex"):
        real, imaginary = (_floats(case, index, spec.shape, rng) for _ in range(2))
        return np.asarray(real + 1j * imaginary).astype(spec.dtype)
    if spec.element in FORMATS:
        return _rounded(_floats(case, index, spec.shape, rng), spec)
    return _integers(case, index, spec, rng)


def _floats(case: Case, index: int, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    pair = _PAIRS.get(_name(case))
    domain = _DOMAINS.get(case.sample.op) if pair is None else pair[index]
    if domain is None:
        # Halves, whose products and sums are exact in f32.
        return np.asarray(rng.integers(-6, 7, shape) / 2)
    values = np.asarray(rng.uniform(*domain, shape))
    return np.rint(values) if index == 0 and _name(case) in _WHOLE_FIRST else values


def _rounded(values: np.ndarray, spec: TensorSpec) -> np.ndarray:
    fmt = FORMATS[spec.element]
    if not fmt.has_zero:
        values = np.maximum(np.abs(values), 0.5)
    limit = float(fmt.max)
    return np.clip(values, -limit, limit).astype(spec.dtype)


def _integers(case: Case, index: int, spec: TensorSpec, rng: np.random.Generator) -> np.ndarray:
    limits = ml_dtypes.iinfo(spec.dtype)
    low, high = int(limits.min), int(limits.max)
    name = _name(case)
    if name.startswith("shift") and index == 1:
        bits = int(spec.element.lstrip("ui"))
        return rng.integers(0, min(bits, high + 1), spec.shape).astype(spec.dtype)
    if name in ("divide", "remainder") and index == 1:
        return rng.integers(1, min(high, 5) + 1, spec.shape).astype(spec.dtype)
    if name == "power":
        return rng.integers(0, min(high, 3) + 1, spec.shape).astype(spec.dtype)
    if name in _BITWISE or name.startswith("shift") or not case.element:
        dtype = np.int64 if low < 0 else np.uint64
        return rng.integers(low, high, spec.shape, dtype, endpoint=True).astype(spec.dtype)
    return rng.integers(max(low, -4), min(high, 4) + 1, spec.shape).astype(spec.dtype)


def _parts(spec: TensorSpec, values: np.ndarray, imaginary: np.ndarray) -> np.ndarray:
    if spec.element.startswith("complex"):
        return (values + 1j * imaginary).astype(spec.dtype)
    return values.astype(spec.dtype)


def _lower(spec: TensorSpec, rng: np.random.Generator) -> np.ndarray:
    """Lower triangular matrices of small whole numbers, with 1 and 2 on the diagonal."""
    below = _parts(
        TensorSpec(spec.shape, "complex<f64>" if spec.element.startswith("complex") else "f64"),
        rng.integers(0, 2, spec.shape).astype(np.float64),
        rng.integers(-1, 2, spec.shape).astype(np.float64),
    )
    diagonal = np.eye(spec.shape[-1]) * rng.integers(1, 3, (*spec.shape[:-1], 1))
    return np.tril(below, -1) + diagonal


def _cholesky(case: Case, index: int, spec: TensorSpec, rng: np.random.Generator) -> np.ndarray:
    fmt = FORMATS.get(spec.element)
    if fmt is not None and not fmt.has_zero:
        return (np.eye(spec.shape[-1]) * 3.5 + np.full(spec.shape, 0.5)).astype(spec.dtype)
    lower = _lower(spec, rng)
    return np.asarray(lower @ np.conj(np.swapaxes(lower, -1, -2))).astype(spec.dtype)


def _triangular_solve(
    case: Case, index: int, spec: TensorSpec, rng: np.random.Generator
) -> np.ndarray | None:
    return _lower(spec, rng).astype(spec.dtype) if index == 0 else None


def _batch_norm(
    case: Case, index: int, spec: TensorSpec, rng: np.random.Generator
) -> np.ndarray | None:
    """The variance is positive."""
    if (_name(case), index) not in (("batch_norm_inference", 4), ("batch_norm_grad", 3)):
        return None
    return rng.integers(1, 4, spec.shape).astype(spec.dtype)


def _rng(case: Case, index: int, spec: TensorSpec, rng: np.random.Generator) -> np.ndarray:
    """From 0 to 1, to 3 or to 4."""
    top = {"i2": 1, "i1": 1}.get(spec.element, 3 if spec.element == "ui2" else 4)
    fmt = FORMATS.get(spec.element)
    low = 1 if fmt is not None and not fmt.has_zero else 0
    return np.full(spec.shape, (low, top)[index]).astype(spec.dtype)


def _state(case: Case, index: int, spec: TensorSpec, rng: np.random.Generator) -> np.ndarray:
    """The same for all types of the bits."""
    rng = np.random.default_rng(len(case.sample.form))
    return rng.integers(0, 1 << 64, spec.shape, np.uint64)


def _clamp(case: Case, index: int, spec: TensorSpec, rng: np.random.Generator) -> np.ndarray | None:
    if index != 2:
        return None
    return np.full(spec.shape, 1).astype(spec.dtype)


def _reduction(
    case: Case, index: int, spec: TensorSpec, rng: np.random.Generator
) -> np.ndarray | None:
    """How often the initial value takes part is open: so it changes nothing."""
    if spec.shape or case.sample.form not in ("add", "xor", "multiply", ""):
        return None
    fmt = FORMATS.get(spec.element)
    if case.sample.form == "multiply":
        return np.full(spec.shape, 1).astype(spec.dtype)
    least = 0.0 if fmt is None or fmt.has_zero else float(fmt.smallest_normal)
    return np.full(spec.shape, least).astype(spec.dtype)


_SPECIAL: dict[str, Callable[[Case, int, TensorSpec, np.random.Generator], np.ndarray | None]] = {
    "cholesky": _cholesky,
    "triangular_solve": _triangular_solve,
    "batch_norm_inference": _batch_norm,
    "batch_norm_grad": _batch_norm,
    "reduce": _reduction,
    "reduce_window": _reduction,
    "rng": _rng,
    "rng_bit_generator": _state,
    "select_and_scatter": _reduction,
    "clamp": _clamp,
}
