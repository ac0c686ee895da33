"""What JAX traces in the place of a function: a call of the module that our passes made of it."""

import functools
import inspect
from collections.abc import Callable, Container
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
from jax.core import ShapedArray  # pyright: ignore[reportMissingImports]

from mlir_fp8.artifacts.mhlo import text_without_places
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.failures.internal_error import public
from mlir_fp8.jax.calls import program_call
from mlir_fp8.jax.options import Passes
from mlir_fp8.jax.programs import Program, program_of
from mlir_fp8.jax.tracing import Traced, abstract, trace


class Step:
    """A function and its passes; what JAX traces are `stateless` and `with_state`.

    `static` are the options of `jax.jit` that say which arguments are no arrays.
    """

    def __init__(
        self, function: Callable[..., Any], passes: Passes, static: dict[str, Any]
    ) -> None:
        self.passes = passes
        self._static = {key: value for key, value in static.items() if value is not None}
        self._function = function
        self._programs: dict[str, Program] = {}
        self.stateless = _like(function, lambda *args, **kwargs: self._results(args, kwargs)[0])
        self.with_state = _like(
            function, lambda state, /, *args, **kwargs: self._results(args, kwargs, state), "state"
        )

    def init_state(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The state of before the first step on such arguments, of which only types count."""
        state = self.program(args, kwargs).state
        return {name: jax.numpy.asarray(array) for name, array in state.items()}

    def program(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Program:
        """What a call with such arguments runs."""
        found: list[Program] = []

        def look(*args: Any, **kwargs: Any) -> None:
            found.append(self._made(args, kwargs)[1])

        jax.jit(_like(self._function, look), **self._static).trace(*args, **kwargs)
        return found[0]

    @public
    def _made(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Traced, Program]:
        leaves, tree = jax.tree.flatten((args, kwargs))
        traced = trace(self._function, list(map(abstract, leaves)), tree, self._platform())
        text = text_without_places(traced.artifact)
        if text not in self._programs:
            self._programs[text] = program_of(traced.artifact, traced.name, self.passes)
        return traced, self._programs[text]

    def _platform(self) -> str:
        is_for_gpu = self.passes.target == "xla-gpu" or jax.default_backend() == "gpu"
        return "cuda" if is_for_gpu else jax.default_backend()

    def _results(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], state: Any = None
    ) -> tuple[Any, dict[str, Any]]:
        traced, program = self._made(args, kwargs)
        carried = _checked(program, state) if self.passes.has_state else []
        avals = [ShapedArray(each.shape, each.dtype) for each in program.state.values()]
        call = program_call(
            traced.name,
            program.artifact,
            [*traced.arguments, *map(abstract, avals)],
            [*traced.results, *avals],
            traced.devices,
            program.of_cuda,
        )
        leaves = [leaf for leaf in jax.tree.leaves((args, kwargs)) if isinstance(leaf, jax.Array)]
        if traced.mesh is not None:
            leaves = [_somewhere(leaf, traced.mesh) for leaf in leaves]
        given = call(*traced.captured, *leaves, *carried)
        count = len(traced.results)
        new_state = dict(zip(program.state, given[count:], strict=True))
        return jax.tree.unflatten(traced.tree, given[:count]), new_state


def _somewhere(array: Any, mesh: Any) -> Any:
    """`array` on the devices of `mesh`, however JAX likes it."""
    free = [jax.sharding.PartitionSpec.UNCONSTRAINED] * array.ndim
    place = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*free))
    return jax.lax.with_sharding_constraint(array, place)


def _checked(program: Program, state: Any) -> list[Any]:
    """The arrays of `state` in the order in which `main` takes them."""
    what = f"the state of '{program.name}'"
    if not isinstance(state, dict):
        raise Fp8Error(f"{what} is a {type(state).__name__}: give step.init_state(*args)")
    expected = {key: (each.shape, each.dtype) for key, each in program.state.items()}
    for key in sorted({*expected, *state}):
        got = (state[key].shape, state[key].dtype) if key in state else None
        if expected.get(key) != got:
            way_out = "give step.init_state(*args) of these arguments"
            raise Fp8Error(f"{what} has '{key}' {_type(got)}, not {_type(expected.get(key))}: "
                           f"{way_out}")  # fmt: skip
    return [state[key] for key in expected]


def _type(found: Any) -> str:
    return "absent" if found is None else f"{found[1]}{list(found[0])}"


def _like(
    function: Callable[..., Any], inner: Callable[..., Any], *before: str
) -> Callable[..., Any]:
    """`inner` with the name and the signature of `function`, behind arguments named `before`."""
    wrapped = functools.wraps(function)(inner)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of builtins
        del wrapped.__wrapped__  # pyright: ignore[reportAttributeAccessIssue]
        return wrapped
    kind = inspect.Parameter.POSITIONAL_ONLY
    added = [inspect.Parameter(_free(name, signature.parameters), kind) for name in before]
    wrapped.__signature__ = signature.replace(  # pyright: ignore[reportAttributeAccessIssue]
        parameters=[*added, *signature.parameters.values()]
    )
    return wrapped


def _free(name: str, taken: Container[str]) -> str:
    while name in taken:
        name += "_"
    return name
