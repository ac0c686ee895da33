"""A program as a function of arrays in whatever JAX traces."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax  # pyright: ignore[reportMissingImports]

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.xla.exported import exported_with


def program_call(
    name: str,
    artifact: bytes,
    arguments: Sequence[Any],
    results: Sequence[Any],
    devices: int,
    of_cuda: str = "",
) -> Callable[..., list[Any]]:
    """A function of flat arrays of the types `arguments` that gives those of `results`.

    It is called on as many `devices`, or where they are one, on any number; on GPUs of NVIDIA alone
    where `of_cuda` names an op that wants one, in what JAX says when it is lowered for others.
    JAX puts the module into what it compiles. `vmap` calls it for each element in turn, since a
    scale is that of one call; `grad` is refused, since rounding has no derivative to follow.
    """

    def as_many(*_: Any) -> list[Any]:
        return [0.0] * len(results)

    exported = exported_with(jax.jit(as_many, keep_unused=True), arguments, artifact)
    exported = dataclasses.replace(exported, out_avals=tuple(results), nr_devices=devices)
    if of_cuda:
        exported = dataclasses.replace(
            exported,
            fun_name=f"{name} (it has {of_cuda})",
            platforms=("cuda",),
            disabled_safety_checks=(),
        )
    one_by_one = jax.custom_batching.sequential_vmap(exported.call)

    @jax.custom_jvp
    def call(*given: Any) -> list[Any]:
        return one_by_one(*given)

    @call.defjvp
    def refuse(*_: Any) -> Any:
        way_out = "quantize the derivative: mlir_fp8.jax.jit(jax.grad(f)), or the whole step"
        raise Fp8Error(f"'{name}' of mlir_fp8.jax.jit has no derivative: {way_out}")

    return call
