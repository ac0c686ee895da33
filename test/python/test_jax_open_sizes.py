"""JAX's exports with symbolic shapes, by value against what JAX itself computes of them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import Fp8Error

jax = pytest.importorskip("jax")
from jax import export, lax  # noqa: E402  # pyright: ignore[reportMissingImports]
from jax import numpy as jnp  # noqa: E402  # pyright: ignore[reportMissingImports]

GENERATOR = np.random.default_rng(0)


@jax.jit
def _double(x: Any) -> Any:
    return x + x


@jax.jit
def _centered(x: Any) -> Any:
    return x - x.mean(0)


PROGRAMS: dict[str, tuple[Callable[..., Any], Sequence[str], Sequence[tuple[int, ...]]]] = {
    "a helper of two shapes": (
        lambda x: _double(jnp.concatenate([_double(x), _double(x)])),
        ["b, 3"],
        [(4, 3)],
    ),
    "b // 2 and 2 * b": (
        lambda x: (_centered(x[: x.shape[0] // 2]), _centered(jnp.concatenate([x, x]))),
        ["b, 3"],
        [(5, 3)],
    ),
    "b % 4": (lambda x: x[: x.shape[0] % 4], ["b, 3"], [(7, 3)]),
    "max and min": (
        lambda x, y: jnp.ones(
            (jax.core.max_dim(x.shape[0], y.shape[0]), jax.core.min_dim(x.shape[0], y.shape[0]))
        ),
        ["a", "b"],
        [(4,), (7,)],
    ),
    "sizes of one another": (lambda x, y: x[:, None] * y[None], ["a", "2*a"], [(3,), (6,)]),
    "running sums": (lambda x: jnp.cumsum(x, 0), ["b, c"], [(4, 3)]),
    "windows of open size": (
        lambda x: lax.reduce_window(
            x, -jnp.inf, lax.max, (x.shape[0], 2), (1, 2), "SAME", (1, 2), (2, 1)
        ),
        ["b, c"],
        [(5, 6)],
    ),
    "the half that is largest": (
        lambda x: lax.top_k(x, x.shape[1] // 2),
        ["b, c"],
        [(5, 6)],
    ),
    "random bits": (
        lambda x: jax.random.bits(jax.random.key(0, impl="rbg"), x.shape) >> 8,
        ["b, c"],
        [(5, 3)],
    ),
    "a branch with helpers": (
        lambda x: lax.cond(x[0, 0] > 0, _double, lambda y: _double(_centered(y)), x),
        ["b, c"],
        [(4, 3)],
    ),
    "a loop over open sizes": (
        lambda x: lax.scan(lambda c, y: (_double(c) + y, c * y), jnp.zeros(x.shape[1]), x),
        ["b, c"],
        [(4, 3)],
    ),
}


def _exported(
    function: Callable[..., Any], shapes: Sequence[str], *constraints: str, **options: Any
) -> Any:
    scope = export.SymbolicScope(constraints)
    types = [
        jax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=scope), jnp.float32)
        for shape in shapes
    ]
    return export.export(jax.jit(function), **options)(*types)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str) -> None:
    function, shapes, given = PROGRAMS[name]
    arrays = [GENERATOR.standard_normal(shape).astype(np.float32) for shape in given]
    exported = _exported(function, shapes)
    wanted = jax.tree.leaves(exported.call(*arrays))
    kept = [arrays[index] for index in exported.module_kept_var_idx]
    results = mlir_fp8.compile(exported.mlir_module(), shapes=kept)(*kept)
    for result, value in zip(results, wanted, strict=True):
        assert result.shape == value.shape
        np.testing.assert_allclose(result, value, rtol=1e-5, atol=1e-6)


def test_a_bitcast_to_another_rank() -> None:
    """XLA itself cannot refine it."""
    x = GENERATOR.standard_normal((5, 3)).astype(np.float32)
    module = _exported(lambda x: lax.bitcast_convert_type(x, jnp.int8), ["b, c"]).mlir_module()
    (result,) = mlir_fp8.compile(module, shapes=[x])(x)
    np.testing.assert_array_equal(result, x.view(np.int8).reshape(5, 3, 4))


@pytest.mark.parametrize(
    ("shapes", "constraints", "given"),
    [
        (["b"], ["b >= 4"], [(3,)]),
        (["b", "2*b"], [], [(3,), (7,)]),
        (["b", "b"], [], [(3,), (4,)]),
        (["3*b"], [], [(4,)]),
    ],
)
def test_assertions_say_what_jax_says(
    shapes: Sequence[str], constraints: Sequence[str], given: Sequence[tuple[int, ...]]
) -> None:
    exported = _exported(lambda *arrays: [array * 2 for array in arrays], shapes, *constraints)
    with pytest.raises(ValueError, match="Input shapes do not match") as wanted:
        exported.call(*(np.ones(shape, np.float32) for shape in given))
    with pytest.raises(Fp8Error) as error:
        mlir_fp8.compile(exported.mlir_module(), shapes=given)
    assert str(error.value).split(": ", 1)[1] == " ".join(str(wanted.value).split())


def test_the_index_of_a_platform() -> None:
    """Exports for several platforms take it first."""
    exported = _exported(
        lambda x: lax.platform_dependent(x, cpu=lambda y: y * 2, cuda=lambda y: y * 3),
        ["b"],
        platforms=("cpu", "cuda"),
    )
    x = np.ones(3, np.float32)
    compiled = mlir_fp8.compile(exported.mlir_module(), shapes=[(), x])
    assert compiled(np.int32(0), x)[0].tolist() == [2.0] * 3
    assert compiled(np.int32(1), x)[0].tolist() == [3.0] * 3
