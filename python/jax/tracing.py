"""A JAX function as StableHLO: traced on types alone, what it captures made arguments."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
from jax.core import ShapedArray, Tracer  # pyright: ignore[reportMissingImports]
from jax.extend import core, source_info_util  # pyright: ignore[reportMissingImports]

from mlir_fp8.base.errors import Fp8Error, callers_code
from mlir_fp8.failures import internal_error
from mlir_fp8.xla.failures import one_line

# Places in the module are of the user's program, not of what is called on the way.
source_info_util.register_exclusion(str(Path(__file__).parent))
source_info_util.register_exclusion(internal_error.__file__)

_ALLOWED_CALLS = ("LayoutConstraint",)
"""Custom calls that our own passes build: a function may call what they made."""
_CUSTOM_CALL = re.compile(r"stablehlo\.custom_call @([^\s(]+)\(")
_LARGEST_CONSTANT = 4096
"""Bytes of an array that stays a constant of the module: beyond, it is an argument."""


@dataclass(frozen=True)
class Traced:
    """A function of flat arrays as the module in `artifact`, and what has to be given to it."""

    name: str
    artifact: bytes
    """Of the StableHLO that JAX exports; `main` takes `captured`, then the leaves."""
    captured: tuple[Any, ...]
    """Arrays and tracers that the function closes over."""
    arguments: tuple[Any, ...]
    """The types of all arguments, as `jax.ShapeDtypeStruct`s."""
    results: tuple[Any, ...]
    """The types of the results, as JAX's abstract values: weak types are in them."""
    tree: Any
    """How the results are put together."""
    devices: int
    """How many the module is for: one, where it shards no values itself."""
    mesh: Any
    """That of a sharding in the function, which says where it runs; None without one."""


def trace(function: Callable[..., Any], leaves: Sequence[Any], tree: Any, platform: str) -> Traced:
    """`function` of `(args, kwargs)`, which are `leaves` put together as `tree` says.

    A leaf that is no array, but a value that the function is specialized for, is taken as it is.
    Whatever the function itself raises reaches the caller. Raises `Fp8Error` for what cannot be a
    module of its own: effects, callbacks.
    """
    name = getattr(function, "__name__", type(function).__name__)
    _refuse_explicit_meshes(name)
    for leaf in leaves:
        if not all(isinstance(size, int) for size in getattr(leaf, "shape", ())):
            raise Fp8Error(f"'{name}' is traced with sizes {leaf.shape}: passes need numbers")
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, jax.ShapeDtypeStruct)]
    found: list[Any] = []

    def flat(*given: Any) -> list[Any]:
        filled = list(leaves)
        for place, value in zip(places, given, strict=True):
            filled[place] = value
        args, kwargs = jax.tree.unflatten(tree, filled)
        results, found_tree = jax.tree.flatten(function(*args, **kwargs))
        found.append(found_tree)
        return results

    with callers_code():
        closed = jax.make_jaxpr(flat)(*(leaves[place] for place in places))
    if closed.effects:
        effect = type(next(iter(closed.effects))).__name__
        raise Fp8Error(f"'{name}' has effects ({effect}), as jax.debug.print and callbacks: call"
                       " them outside of what is quantized")  # fmt: skip
    captured, constants = _split(closed.consts)

    def body(*given: Any) -> Any:
        rest = iter(given[: len(captured)])
        consts = [next(rest) if constant is None else constant for constant in constants]
        whole = core.ClosedJaxpr(closed.jaxpr, consts)
        return core.jaxpr_as_fun(whole)(*given[len(captured) :])

    body.__name__ = name
    arguments = [abstract(value) for value in (*captured, *closed.in_avals)]
    with one_line(f"'{name}' cannot be a module of its own", platform):
        exported = _exported(body, arguments, platform)
    return Traced(
        name,
        exported.mlir_module_serialized,
        tuple(captured),
        tuple(arguments),
        tuple(exported.out_avals),
        found[0],
        _devices(exported),
        next(_meshes(closed.jaxpr), None),
    )


def _exported(body: Callable[..., Any], arguments: Sequence[Any], platform: str) -> Any:
    allowed = [jax.export.DisabledSafetyCheck.custom_call(call) for call in _ALLOWED_CALLS]
    export = jax.export.export(
        jax.jit(body, keep_unused=True), platforms=[platform], disabled_checks=allowed
    )
    try:
        return export(*arguments)
    except ValueError as error:
        called = _CUSTOM_CALL.search(str(error))
        if called is None:
            raise
        reason = "of which JAX guarantees nothing: call it outside of what is quantized"
        raise Fp8Error(f"'{body.__name__}' has a custom call of '{called[1]}', {reason}") from None


def _refuse_explicit_meshes(name: str) -> None:
    axes = jax.sharding.get_abstract_mesh().axis_types
    if jax.sharding.AxisType.Explicit in axes:
        way_out = "make the mesh with AxisType.Auto"
        raise Fp8Error(f"'{name}' is traced with shardings in types, which passes drop: {way_out}")


def _split(consts: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """What becomes an argument, and in the place of it None among the constants."""
    captured: list[Any] = []
    constants: list[Any] = []
    for value in consts:
        is_large = getattr(value, "nbytes", 0) > _LARGEST_CONSTANT
        if is_large or isinstance(value, Tracer):
            captured.append(value)
            constants.append(None)
        else:
            constants.append(value)
    return captured, constants


def abstract(value: Any) -> Any:
    """The type of an array, which is all that is traced; any other value as it is."""
    if isinstance(value, jax.Array):
        value = jax.typeof(value)
    if not isinstance(value, ShapedArray):
        return value
    return jax.ShapeDtypeStruct(value.shape, value.dtype, weak_type=value.weak_type)


def _devices(exported: Any) -> int:
    if exported.nr_devices == 1:
        return 1
    from mlir_fp8.artifacts.mhlo import has_shardings_inside

    is_sharded = has_shardings_inside(exported.mlir_module_serialized)
    return exported.nr_devices if is_sharded else 1


def _meshes(jaxpr: Any) -> Iterator[Any]:
    """The meshes of devices that the equations of a jaxpr name."""
    for equation in jaxpr.eqns:
        for value in equation.params.values():
            mesh = getattr(value, "mesh", value)
            if isinstance(mesh, jax.sharding.Mesh) and mesh.size > 1:
                yield mesh
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns"):
                yield from _meshes(inner)
