"""`mlir_fp8.jax.jit`: a JAX function, quantized and rewritten by our passes, as JAX's own."""

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import jax  # pyright: ignore[reportMissingImports]

from mlir_fp8.base.errors import Fp8Error, callers_code
from mlir_fp8.failures.internal_error import public
from mlir_fp8.jax.options import passes_of
from mlir_fp8.jax.step import Step

MADE = "_mlir_fp8_step"
"""The attribute by which `explain` knows what was made here."""


class Jitted(Protocol):
    """What `jax.jit` gives, with the state of before the first step where a recipe has one."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def lower(self, *args: Any, **kwargs: Any) -> Any: ...
    def trace(self, *args: Any, **kwargs: Any) -> Any: ...
    def init_state(self, *args: Any, **kwargs: Any) -> dict[str, Any]: ...


@public
def jit(
    function: Callable[..., Any],
    *,
    quantize: Any = None,
    target: str | None = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Sequence[str] | None = None,
    **options: Any,
) -> Jitted:
    """`jax.jit(function)` whose program goes through our passes before XLA compiles it.

    It is traced once per types of arguments, as `jax.jit` does. `quantize` is a recipe of
    `mlir_fp8.quantize` or its name, or a mapping of options of `mlir_fp8.quantize`, `recipe` among
    them; None leaves numbers as they are. `target="xla-gpu"` writes FP8 dots in the form that
    XLA:GPU runs as such (docs/xla_gpu.md). The other options are those of `jax.jit`.

    The result is what `jax.jit` gives: arguments may be pytrees and sharded arrays, and other
    transformations may call it, in whose programs the module is then, with no call of the host.
    `vmap` calls it once for each element; `grad` of it is refused: quantize the function that takes
    the gradient. A recipe with a state (`DelayedScaling`) makes of `function(*args)` a step
    `out, state = step(state, *args)`, where `step.init_state(*args)` is the first state, a dict of
    arrays; numbers in `static_argnums` and `donate_argnums` remain those of `function`.
    Raises `Fp8Error` for what cannot be done, some of it when it is first called.
    """
    if not callable(function):
        raise Fp8Error(f"function is a {type(function).__name__}, which cannot be called")
    static = {"static_argnums": static_argnums, "static_argnames": static_argnames}
    step = Step(function, passes_of(quantize, target), static)
    shift = 1 if step.passes.has_state else 0
    given = {
        "static_argnums": _shifted(static_argnums, shift),
        "static_argnames": static_argnames,
        "donate_argnums": _shifted(donate_argnums, shift),
        "donate_argnames": donate_argnames,
        **(_of_a_state(options) if shift else options),
    }
    called = step.with_state if shift else step.stateless
    with callers_code():  # what is wrong with options is as of `jax.jit`
        jitted: Any = jax.jit(
            called, **{key: value for key, value in given.items() if value is not None}
        )
    setattr(jitted, MADE, step)
    if shift:
        jitted.init_state = step.init_state
    return jitted


def _shifted(numbers: int | Sequence[int] | None, by: int) -> Any:
    """Numbers of arguments behind `by` others; those from the end stay."""
    if numbers is None or not by:
        return numbers
    listed = numbers if isinstance(numbers, Iterable) else [operator.index(numbers)]
    return tuple(number + by if number >= 0 else number for number in listed)


def _of_a_state(options: dict[str, Any]) -> dict[str, Any]:
    """`options` whose entries per argument or result have one for the state too, which is free."""
    given = dict(options)
    if given.get("out_shardings") is not None:
        given["out_shardings"] = (given["out_shardings"], None)
    if given.get("in_shardings") is not None:
        if not isinstance(given["in_shardings"], tuple):
            raise Fp8Error("in_shardings is one for all arguments, the state too: give a tuple")
        given["in_shardings"] = (None, *given["in_shardings"])
    return given
