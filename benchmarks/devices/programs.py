"""What several devices do with each other, in JAX: a layer for each way to share a model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
from jax.sharding import PartitionSpec as P  # pyright: ignore[reportMissingImports]

AXIS = "x"
ROWS, COLUMNS = P(AXIS), P(None, AXIS)


@dataclass(frozen=True)
class Sizes:
    """Of a layer."""

    rows: int
    """Of all devices."""
    inner: int
    outer: int
    gradients: int
    """Numbers of an all-reduce, on each device."""


SIZES = {"quick": Sizes(64, 64, 128, 1 << 14), "cpu": Sizes(1024, 512, 2048, 1 << 22),
         "gpu": Sizes(8192, 8192, 28672, 1 << 28)}  # fmt: skip


@dataclass(frozen=True)
class Argument:
    """Normal numbers of a spread, in the layout of `spec`."""

    shape: tuple[int, ...]
    dtype: Any
    std: float
    spec: P


@dataclass(frozen=True)
class Program:
    """`body` is what each device does with its parts."""

    name: str
    body: Callable[..., Any]
    arguments: Sequence[Argument]
    out: P

    def on(self, mesh: Any) -> Callable[..., Any]:
        """The function of whole arrays."""
        specs = tuple(each.spec for each in self.arguments)
        return jax.shard_map(
            self.body, mesh=mesh, in_specs=specs, out_specs=self.out, check_vma=False
        )


def programs(devices: int, sizes: Sizes) -> list[Program]:
    """One of each kind, on so many devices."""
    rows, inner, outer = sizes.rows, sizes.inner, sizes.outer
    spread = inner**-0.5
    tokens = Argument((rows, inner), jnp.bfloat16, 1.0, ROWS)

    def fsdp(x: Any, w: Any) -> Any:
        # Of a weight that is split along what is not contracted, codes come as products want them.
        return x @ jax.lax.all_gather(w, AXIS, axis=1, tiled=True)

    def tensor_parallel(x: Any, w1: Any, w2: Any) -> Any:
        whole = jax.lax.all_gather(x, AXIS, axis=0, tiled=True)
        partial = jax.nn.relu(whole @ w1) @ w2
        return jax.lax.psum_scatter(partial, AXIS, scatter_dimension=0, tiled=True)

    def there_and_back(x: Any) -> Any:
        sent = jax.lax.all_to_all(x, AXIS, split_axis=0, concat_axis=0, tiled=True)
        return jax.lax.all_to_all(sent * 2, AXIS, split_axis=0, concat_axis=0, tiled=True)

    def experts(x: Any, w: Any) -> Any:
        sent = jax.lax.all_to_all(x, AXIS, split_axis=0, concat_axis=0, tiled=True)
        return jax.lax.all_to_all(sent @ w, AXIS, split_axis=0, concat_axis=0, tiled=True)

    def pipeline(x: Any) -> Any:
        following = [(number, (number + 1) % devices) for number in range(devices)]
        return jax.lax.ppermute(x, AXIS, following)

    def gradients(x: Any) -> Any:
        return jax.lax.psum(x, AXIS)

    return [
        Program("FSDP layer", fsdp,
                [tokens, Argument((inner, outer), jnp.bfloat16, spread, COLUMNS)], ROWS),
        Program("tensor parallel layer", tensor_parallel,
                [tokens, Argument((inner, outer), jnp.bfloat16, spread, COLUMNS),
                 Argument((outer, inner), jnp.bfloat16, outer**-0.5, ROWS)], ROWS),
        Program("MoE layer", experts,
                [tokens, Argument((devices * inner, inner), jnp.bfloat16, spread, ROWS)], ROWS),
        Program("MoE all-to-all", there_and_back, [tokens], ROWS),
        Program("pipeline permute", pipeline, [tokens], ROWS),
        Program("gradients' all-reduce", gradients,
                [Argument((devices * sizes.gradients,), jnp.float32, 1.0, ROWS)], ROWS),
    ]  # fmt: skip
