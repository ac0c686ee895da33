"""`fp8.scaled_ragged_dot` by native code against numpy: dimensions, scales, sizes, artifacts."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.base.context import make_context
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.composite_to_fp8 import CompositeToFp8

SIZES = np.array([10, 0, 17, 3], np.int32)  # 2 of 32 are of no group


def program(shapes: dict[str, str], result: str, numbers: str, flags: str = "") -> ir.Module:
    """A module of one op; `shapes` by operand, with types."""
    names = ("a", "b", "group_sizes", "a_scale", "b_scale")
    given = {name: shapes[name] for name in names if name in shapes}
    taken = ", ".join(f"%{name}: tensor<{each}>" for name, each in given.items())
    types = ", ".join(f"tensor<{each}>" for each in given.values())
    sizes = ", ".join(str(int(name in given)) for name in names)
    context = make_context()
    load_fp8_dialect(context)
    return ir.Module.parse(
        f"func.func @main({taken}) -> tensor<{result}> {{\n"
        f'%0 = "fp8.scaled_ragged_dot"({", ".join(f"%{each}" for each in given)}) {{'
        f"operandSegmentSizes = array<i32: {sizes}>, "
        f"ragged_dot_dimension_numbers = #chlo.ragged_dot<{numbers}>{flags}}} : "
        f"({types}) -> tensor<{result}>\nreturn %0 : tensor<{result}>\n}}",
        context,
    )


def arrays(shapes: dict[str, str], seed: int = 0) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    found = []
    for name, text in shapes.items():
        *sizes, element = text.split("x")
        shape, type_ = tuple(map(int, sizes)), element_dtype(element)
        if name == "group_sizes":
            found.append(SIZES.astype(type_))
        elif name.endswith("scale"):
            found.append(np.exp2(random.integers(-3, 4, shape)).astype(type_))
        else:
            found.append(random.integers(-3, 4, shape).astype(np.float32).astype(type_))
    return found


def groups(size: int) -> list[slice]:
    ends = np.minimum(np.cumsum(SIZES), size).tolist()
    return [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]


def f32(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float32)


def rows(a: np.ndarray, b: np.ndarray, by_a: Any = 1.0, by_b: Any = 1.0) -> np.ndarray:
    """Of a [m, k] and b [groups, k, n]; scales of the groups' results, b's by group."""
    by_a = np.broadcast_to(by_a, (len(a), 1))
    by_b = np.broadcast_to(by_b, (len(SIZES), 1, b.shape[2]))
    out = np.zeros((len(a), b.shape[2]), np.float32)
    for group, part in enumerate(groups(len(a))):
        out[part] = f32(f32(a[part]) @ f32(b[group])) * by_a[part] * by_b[group]
    return out


def sums(a: np.ndarray, b: np.ndarray, by_a: Any = 1.0, by_b: Any = 1.0) -> np.ndarray:
    """Of a [k, m] and b [k, n]."""
    parts = [f32(a[part]).T @ f32(b[part]) for part in groups(len(a))]
    return np.stack(parts) * np.asarray(by_a, np.float32) * np.asarray(by_b, np.float32)


A, B, N = "32x24xf8E4M3FN", "4x24x40xf8E4M3FN", "4xi32"
NUMBERS = {
    "rows": "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], "
    "lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]",
    "sums": "lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], "
    "lhs_ragged_dimensions = [0]",
}
SCALES: dict[str, tuple[dict[str, str], Any]] = {
    "none": ({}, lambda a, b: (1.0, 1.0)),
    "tensor": ({"a_scale": "f32", "b_scale": "bf16"}, lambda a, b: (a, f32(b))),
    "rows": ({"a_scale": "32x1xf32"}, lambda a, b: (a, 1.0)),
    "channels": ({"b_scale": "4x1x40xf32"}, lambda a, b: (1.0, b)),
    "matrices": ({"b_scale": "4x1x1xf32"}, lambda a, b: (1.0, b)),
    "columns": ({"b_scale": "1x1x40xf32"}, lambda a, b: (1.0, b)),
    "groups": ({"b_scale": "4xf32"}, lambda a, b: (1.0, b[:, None, None])),
    "rows_channels": (
        {"a_scale": "32x1xf32", "b_scale": "4x1x40xf8E8M0FNU"},
        lambda a, b: (a, f32(b)),
    ),
}


def by_native_code(module: ir.Module | bytes, given: list[np.ndarray]) -> np.ndarray:
    return np.asarray(mlir_fp8.compile(module)(*given)[0])


@pytest.mark.parametrize("target", ["current", "0.17.0"])
def test_artifacts(target: str) -> None:
    """As a composite; older versions, which have none, hold its decomposition."""
    shapes = {"a": A, "b": B, "group_sizes": N, "a_scale": "f32", "b_scale": "4x1x40xf32"}
    module = program(shapes, "32x40xbf16", NUMBERS["rows"])
    given, artifact = arrays(shapes), mlir_fp8.serialize(module, target)
    text = str(mlir_fp8.deserialize(artifact))
    assert ('stablehlo.composite "fp8.scaled_ragged_dot"' in text) == (target == "current")
    assert "chlo." not in text
    want = rows(given[0], given[1], *given[3:]).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(by_native_code(artifact, given), want)


@pytest.mark.parametrize("name", list(SCALES))
def test_rows(name: str) -> None:
    scales, by = SCALES[name]
    shapes = {"a": A, "b": B, "group_sizes": N, **scales}
    module = program(shapes, "32x40xf32", NUMBERS["rows"])
    given = arrays(shapes)
    found = dict(zip(scales, given[3:], strict=True))
    want = rows(given[0], given[1], *by(found.get("a_scale"), found.get("b_scale")))
    np.testing.assert_array_equal(by_native_code(module, given), want)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("scales", [
    {}, {"a_scale": "f32", "b_scale": "f32"}, {"a_scale": "1x24xf32", "b_scale": "1x40xf32"},
    {"a_scale": "4xf32", "b_scale": "1x1xf32"}, {"b_scale": "4xf32"},
])  # fmt: skip
@pytest.mark.parametrize("format_", ["f8E4M3FN", "f8E5M2", "f6E2M3FN"])
def test_sums(scales: dict[str, str], format_: str) -> None:
    shapes = {"a": "32x24xf8E4M3FN", "b": f"32x40x{format_}", "group_sizes": "4xi64", **scales}
    module = program(shapes, "4x24x40xbf16", NUMBERS["sums"], ", fast_accum")
    given = arrays(shapes)
    by: dict[str, Any] = {"a_scale": 1.0, "b_scale": 1.0}
    for name, scale in zip(scales, given[3:], strict=True):
        turned = {"1x24xf32": (1, 24, 1), "1x40xf32": (1, 1, 40), "4xf32": (4, 1, 1)}
        by[name] = scale.reshape(turned.get(scales[name], (1, 1, 1)))
    want = sums(given[0], given[1], by["a_scale"], by["b_scale"]).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(by_native_code(module, given), want)


@pytest.mark.parametrize(("numbers", "a", "b"), [
    ((0, 2, 1, 1), (1, 0), (2, 0, 1)),
    ((1, 0, 0, 2), (0, 1), (1, 2, 0)),
    ((0, 1, 1, 0), (1, 0), (0, 1, 2)),
])  # fmt: skip
def test_dimensions_in_any_order(
    numbers: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...]
) -> None:
    """Of a [m, k] and b [groups, k, n], each transposed."""
    plain = arrays({"a": A, "b": B, "group_sizes": N})
    given = [plain[0].transpose(a), plain[1].transpose(b), plain[2]]
    left, right, of, group = numbers
    text = f"lhs_contracting_dimensions = [{left}], rhs_contracting_dimensions = [{right}], "
    text += f"lhs_ragged_dimensions = [{of}], rhs_group_dimensions = [{group}]"
    shapes = {
        name: "x".join(map(str, x.shape)) + "xf8E4M3FN"
        for name, x in zip("ab", given, strict=False)
    }
    module = program({**shapes, "group_sizes": N}, "32x40xf32", text)
    np.testing.assert_array_equal(by_native_code(module, given), rows(plain[0], plain[1]))


def test_a_composite_is_the_op_again() -> None:
    module = program(
        {"a": A, "b": B, "group_sizes": N}, "32x40xf32", NUMBERS["rows"], ", fast_accum"
    )
    back = mlir_fp8.deserialize(mlir_fp8.serialize(module))
    text = str(back)
    assert 'stablehlo.composite "fp8.scaled_ragged_dot"' in text and "chlo." not in text
    CompositeToFp8().run(back.operation)
    assert str(back) == str(module)
