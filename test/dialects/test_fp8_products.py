"""`fp8.scaled_dot` against its specification in numpy, all forms and special numbers."""

from typing import Any

import numpy as np
import pytest
from fp8_product_reference import Reference
from fp8_programs import MATMUL, cast, element, run, same_bits, spelled
from torch_mlir import ir

from mlir_fp8.dialects import fp8
from mlir_fp8.dialects.float_formats import FORMATS

M, K, N = 4, 64, 6
TYPES = ("operand_type", "dot_type", "epilogue_type")


def _grid(seed: int, shape: tuple[int, ...], name: str, top: int = 4) -> np.ndarray:
    """Few-bit numbers of `name`, whose products add up exactly in f32."""
    random = np.random.default_rng(seed)
    return cast(random.integers(-top, top + 1, shape) / 2, name)


def _scale(seed: int, shape: tuple[int, ...], name: str = "f32") -> np.ndarray:
    return cast(np.random.default_rng(seed).uniform(0.3, 3, shape), name)


def _check(cases: list[Reference], formats: tuple[str, str], inexact: bool = False) -> None:
    """Run all `cases` as one module, by native code; each result to the bit."""
    arrays: list[np.ndarray] = []
    types: list[str] = []

    def enter(array: np.ndarray, name: str | None = None) -> int:
        name = name or next(n for n, f in FORMATS.items() if f.dtype == array.dtype)
        arrays.append(array)
        types.append(spelled(array, name))
        return len(arrays) - 1

    calls = []
    for case in cases:
        places = {n: enter(v) for n, v in case.options.items() if isinstance(v, np.ndarray)}
        calls.append((enter(case.a, formats[0]), enter(case.b, formats[1]), places))

    def body(*arguments: ir.Value) -> list[ir.Value]:
        results: list[ir.Value] = []
        for case, (a, b, places) in zip(cases, calls, strict=True):
            options: dict[str, Any] = dict(case.options)
            options.update({name: arguments[place] for name, place in places.items()})
            options.update({n: element(options[n]) for n in TYPES if n in options})
            results += fp8.scaled_dot(
                arguments[a],
                arguments[b],
                dot_dimension_numbers=ir.Attribute.parse(MATMUL),
                result_element=element(case.result),
                **options,
            )
        return results

    results = iter(run(types, body, *arrays))
    for index, case in enumerate(cases):
        for want in case.results():
            got = next(results)
            assert got.dtype == want.dtype and got.shape == want.shape
            if inexact:
                np.testing.assert_array_max_ulp(got, want, maxulp=4)
            else:
                assert same_bits(got, want), (index, case.options, got, want)


@pytest.mark.parametrize(
    "formats", [("f8E4M3FN", "f8E4M3FN"), ("f8E5M2", "f8E4M3FN"), ("f8E5M2", "f8E5M2")]
)
def test_scales_of_the_sum(formats: tuple[str, str]) -> None:
    """Per tensor, row, column and block: multiplied into the f32 sum."""
    a, b = _grid(1, (M, K), formats[0]), _grid(2, (K, N), formats[1])
    scales: list[dict[str, Any]] = [
        {},
        {"a_scale": _scale(3, ())},
        {"a_scale": _scale(3, ()), "b_scale": _scale(4, ()), "b_inverse": True},
        {"a_scale": _scale(5, (M, 1)), "b_scale": _scale(6, (1, N))},
        {"a_scale": _scale(5, (2, 1)), "a_inverse": True, "b_scale": _scale(6, (1, 3), "bf16")},
        {"a_scale": _scale(5, (1, 1), "f8E4M3FN"), "fast_accum": True},
    ]
    forms: list[dict[str, Any]] = [{}, {"dot_type": "bf16"}, {"dot_type": "f16"}]
    cases = [Reference(a, b, "f32", scale | form) for scale in scales for form in forms]
    _check(cases, formats)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("kind", ["f32", "bf16", "f16"])
def test_scales_of_operands(kind: str) -> None:
    """Dequantized to a type first: blocks along the contracting dimension, too."""
    formats = ("f8E4M3FN", "f8E4M3FN")
    a, b = _grid(1, (M, K), formats[0], top=2), _grid(2, (K, N), formats[1], top=2)

    def few_bits(seed: int, *shape: int) -> np.ndarray:
        return np.asarray(_grid(seed, shape, "f32", top=3) + np.float32(4))

    cases = [
        Reference(a, b, kind, {"operand_type": kind, "dot_type": kind, **scales})
        for scales in (
            {},
            {"a_scale": few_bits(3), "b_scale": few_bits(4)},
            {"a_scale": few_bits(5, M, 2), "b_scale": few_bits(6, 4, 1)},
            {"a_scale": few_bits(5, 2, 4), "b_scale": few_bits(6, K, N)},
            {"a_scale": np.asarray(0.25, np.float32), "a_inverse": True},
        )
    ]
    _check(cases, formats)


def test_mx_and_nvfp4() -> None:
    """f4 and f6 with E8M0 scales of 32 elements, f4 with E4M3 scales of 16."""
    powers = cast(2.0 ** np.random.default_rng(1).integers(-2, 3, (M, 2)), "f8E8M0FNU")
    for name in ("f4E2M1FN", "f6E2M3FN", "f6E3M2FN"):
        a, b = _grid(1, (M, K), name), _grid(2, (K, N), name)
        options = {"operand_type": "f32", "a_scale": powers, "b_scale": powers[:1].T}
        _check([Reference(a, b, "f32", options)], (name, name))
    a, b = _grid(1, (M, K), "f4E2M1FN"), _grid(2, (K, N), "f4E2M1FN")
    options = {"operand_type": "f32", "a_scale": _grid(3, (M, 4), "f8E4M3FN")}
    _check([Reference(a, b, "bf16", options)], ("f4E2M1FN", "f4E2M1FN"))
    mixed = _grid(4, (K, N), "f8E5M2")
    _check([Reference(a, mixed, "f32", {"a_scale": powers[:, :1]})], ("f4E2M1FN", "f8E5M2"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["f32", "bf16", "f16"])
def test_epilogue(kind: str) -> None:
    """Every step, alone and with the others, each rounded to the epilogue's type."""
    formats = ("f8E4M3FN", "f8E4M3FN")
    a, b = _grid(1, (M, K), formats[0]), _grid(2, (K, N), formats[1])
    scale = {"a_scale": _scale(1, ()), "epilogue_type": kind}
    c, bias = _scale(2, (M, N)), _scale(3, (N,), "bf16")
    linear = {"alpha": 0.3, "c": c, "beta": -1.7, "bias": bias}
    scaled = {"d_scale": _scale(4, ()), "amax": True}
    cases = [
        Reference(a, b, "f32", scale | {"alpha": 0.1}),
        Reference(a, b, "f32", scale | {"c": c}),
        Reference(a, b, "bf16", scale | {"c": _grid(5, (M, N), "f8E4M3FN"), "beta": 0.3}),
        Reference(a, b, "f32", scale | {"bias": bias}),
        Reference(a, b, "f16", scale | linear | {"amax": True, "activation": "relu"}),
        Reference(a, b, "f8E4M3FN", scale | linear | scaled | {"saturate": True}),
        Reference(a, b, "f8E5M2", scale | scaled | {"d_scale": _scale(6, (M, 1))}),
        Reference(a, b, "f8E4M3FN", scale | scaled | {"d_scale": _scale(7, (2, 3), "f16")}),
        Reference(a, b, "f8E4M3FN", scale | scaled | {"d_inverse": True, "saturate": True}),
        Reference(a, b, "f4E2M1FN", scale | scaled | {"saturate": True, "dot_type": "bf16"}),
    ]
    _check(cases, formats)


@pytest.mark.parametrize("kind", ["bf16", "f16"])
def test_gelu(kind: str) -> None:
    """To the bit in narrow floats, whose functions are correctly rounded."""
    formats = ("f8E4M3FN", "f8E4M3FN")
    a, b = _grid(1, (M, K), formats[0]), _grid(2, (K, N), formats[1])
    options = {"a_scale": np.asarray(0.05, np.float32), "epilogue_type": kind, "amax": True}
    cases = [
        Reference(a, b, result, options | {"activation": activation})
        for activation in ("gelu_tanh", "gelu_erf")
        for result in ("f32", "f8E5M2")
    ]
    _check(cases, formats)


def test_gelu_in_f32() -> None:
    formats = ("f8E4M3FN", "f8E4M3FN")
    a, b = _grid(1, (M, K), formats[0]), _grid(2, (K, N), formats[1])
    scale = {"a_scale": np.asarray(0.01, np.float32)}
    _check([Reference(a, b, "f32", scale | {"activation": "gelu_tanh"})], formats, inexact=True)


def test_special_numbers() -> None:
    """NaN and infinity through sum, activation, amax and output; negative zero."""
    formats = ("f8E5M2", "f8E4M3FN")
    a, b = _grid(1, (M, K), formats[0]), _grid(2, (K, N), formats[1])
    b = np.where(b == 0, cast(np.asarray(1.0), formats[1]), b)
    a[0, 3], a[1, 5], a[2] = np.inf, np.nan, -0.0
    everything = {"amax": True, "d_scale": _scale(1, ()), "saturate": True}
    cases = [
        Reference(a, b, result, everything | {"activation": activation, "epilogue_type": kind})
        for result in ("f8E4M3FN", "f8E5M2", "f4E2M1FN")
        for activation in ("none", "relu")
        for kind in ("f32", "bf16")
    ]
    cases += [Reference(a[2:], b, "f8E5M2", {"a_scale": np.asarray(s, np.float32), "amax": True})
              for s in (np.inf, 0.0, -1.0, np.nan)]  # fmt: skip
    _check(cases, formats)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("m", "k", "n"), [(1, K, N), (0, K, N), (M, 0, N), (M, K, 0), (1, 1, 1)])
def test_sizes(m: int, k: int, n: int) -> None:
    """One row; no elements, of which amax is 0; a sum of nothing, which is 0."""
    formats = ("f8E4M3FN", "f8E4M3FN")
    a, b = _grid(1, (m, k), formats[0]), _grid(2, (k, n), formats[1])
    options = {
        "a_scale": _scale(1, (m, 1)),
        "b_scale": _scale(2, ()),
        "bias": _scale(3, (n,)),
        "d_scale": _scale(4, ()),
        "amax": True,
    }
    in_operands = options | {"operand_type": "f32", "a_scale": np.ones((m, k), np.float32)}
    in_operands["b_scale"] = np.asarray(2.0, np.float32)
    _check([Reference(a, b, "f32", each) for each in (options, in_operands)], formats)
