"""Random sharded JAX programs: XLA's eight devices of the CPU beside our simulated ones.

`python random_sharded.py FIRST COUNT` prints a line for each program on which they differ, or that
one of them refuses. Numbers are small integers, exact in any order of sums.
"""

import sys
from collections.abc import Callable
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
import numpy as np
from jax.sharding import AxisType, NamedSharding  # pyright: ignore[reportMissingImports]
from jax.sharding import PartitionSpec as P  # pyright: ignore[reportMissingImports]

import mlir_fp8

MESHES = [{"x": 8}, {"x": 2, "y": 4}, {"x": 4, "y": 2}, {"x": 2, "y": 2, "z": 2}]
DTYPES = ["float32", "int32", "bfloat16", "float8_e4m3fn", "float16", "int8"]
LARGEST = 5
ROWS = COLUMNS = 16
Step = Callable[[Any], Any]


class Program:
    """The program of one seed."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.sizes = self.pick(MESHES)
        self.dtype = jnp.dtype(self.pick(DTYPES))
        kinds = (AxisType.Auto,) * len(self.sizes)
        self.mesh = jax.make_mesh(tuple(self.sizes.values()), tuple(self.sizes), axis_types=kinds)

    def pick(self, choices: Any) -> Any:
        return choices[self.rng.integers(len(choices))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def axes(self) -> tuple[str, ...]:
        """Some of the mesh's, at least one, in any order."""
        names = list(self.rng.permutation(list(self.sizes)))
        return tuple(map(str, names[: self.rng.integers(1, len(names) + 1)]))

    def count(self, axes: tuple[str, ...]) -> int:
        return int(np.prod([self.sizes[axis] for axis in axes]))

    def spec(self) -> P:
        """Of a matrix; no axis twice."""
        names = list(map(str, self.rng.permutation(list(self.sizes))))
        cut = int(self.rng.integers(0, len(names) + 1))
        rest = int(self.rng.integers(cut, len(names) + 1))
        return P(tuple(names[:cut]) or None, tuple(names[cut:rest]) or None)

    def small(self, x: Any) -> Any:
        """`x` with numbers below 5 again."""
        wide = x.astype(jnp.int32)
        return jnp.remainder(wide, LARGEST).astype(self.dtype)

    def steps(self, depth: int = 0) -> list[Step]:
        makers = [self.elementwise, self.reduce, self.gather, self.scatter, self.exchange,
                  self.permute, self.number, self.product]  # fmt: skip
        if depth < 2:
            makers += [self.loop, self.branch]
        found: list[Step] = []
        for _ in range(int(self.rng.integers(1, 5 if depth == 0 else 3))):
            make = self.pick(makers)
            found.append(make(depth) if make in (self.loop, self.branch) else make())
        return found

    def run(self, steps: list[Step], x: Any) -> Any:
        for step in steps:
            x = self.small(step(x))
        return x

    def elementwise(self) -> Step:
        return self.pick([
            lambda x: x.astype(jnp.int32) * 3 + 1,
            lambda x: jnp.maximum(x.astype(jnp.int32), 2) - x.astype(jnp.int32),
            lambda x: jnp.flip(x, 0).astype(jnp.int32) + x.astype(jnp.int32),
        ])  # fmt: skip

    def wide(self, x: Any) -> Any:
        """Sums of f8 and i8 would be too large."""
        narrow = self.dtype.itemsize == 1
        return x.astype(jnp.float32 if self.chance(0.5) else jnp.int32) if narrow else x

    def reduce(self) -> Step:
        axes, reduce_ = self.axes(), self.pick([jax.lax.psum, jax.lax.pmax, jax.lax.pmin])
        return lambda x: reduce_(self.wide(x), axes)

    def gather(self) -> Step:
        axes, dim, tiled = self.axes(), self.pick([0, 1]), self.chance(0.7)
        count = self.count(axes)

        def step(x: Any) -> Any:
            whole = jax.lax.all_gather(x, axes, axis=dim, tiled=tiled)
            if not tiled:
                return jnp.sum(whole.astype(jnp.int32) * _ramp(count, dim, 3), axis=dim)
            parts = whole.reshape(*x.shape[:dim], count, *x.shape[dim:]).astype(jnp.int32)
            return jnp.sum(parts * _ramp(count, dim, 3), axis=dim)

        return step

    def scatter(self) -> Step:
        axes, dim = self.axes(), self.pick([0, 1])
        count = self.count(axes)

        def step(x: Any) -> Any:
            tiled = jnp.concatenate([jnp.roll(x, i, 1 - dim) for i in range(count)], axis=dim)
            return jax.lax.psum_scatter(self.wide(tiled), axes, scatter_dimension=dim, tiled=True)

        return step

    def exchange(self) -> Step:
        axis, split, concat = str(self.pick(list(self.sizes))), self.pick([0, 1]), self.pick([0, 1])
        count = self.sizes[axis]

        def step(x: Any) -> Any:
            tiled = jnp.concatenate([jnp.roll(x, i, 1 - split) for i in range(count)], axis=split)
            got = jax.lax.all_to_all(tiled, axis, split, concat, tiled=True)
            parts = got.reshape(*x.shape[:concat], count, *x.shape[concat:]).astype(jnp.int32)
            return jnp.sum(parts * _ramp(count, concat, 3), axis=concat)

        return step

    def permute(self) -> Step:
        axis = str(self.pick(list(self.sizes)))
        order = self.rng.permutation(self.sizes[axis])
        pairs = [(int(i), int(j)) for i, j in enumerate(order) if self.chance(0.8)]
        return lambda x: jax.lax.ppermute(x, axis, pairs)

    def number(self) -> Step:
        axis = str(self.pick(list(self.sizes)))
        return lambda x: x.astype(jnp.int32) + jax.lax.axis_index(axis)

    def product(self) -> Step:
        def step(x: Any) -> Any:
            wide = x.astype(jnp.float32)
            return (wide @ (wide.T @ wide)) % 64

        return step

    def loop(self, depth: int) -> Step:
        inner, turns = self.steps(depth + 1), int(self.rng.integers(1, 4))
        if self.chance(0.5):
            return lambda x: jax.lax.fori_loop(0, turns, lambda _, v: self.run(inner, v), x)

        def turn(x: Any, number: Any) -> Any:
            return self.small(self.run(inner, x) + number.astype(x.dtype)), None

        return lambda x: jax.lax.scan(turn, x, jnp.arange(turns))[0]

    def branch(self, depth: int) -> Step:
        """By what all devices agree on."""
        first, second = self.steps(depth + 1), self.steps(depth + 1)
        axes = tuple(self.sizes)

        def step(x: Any) -> Any:
            total = jax.lax.psum(jnp.sum(x.astype(jnp.int32)), axes)
            return jax.lax.cond(
                total % 2 == 0, lambda v: self.run(first, v), lambda v: self.run(second, v), x
            )

        return step

    def function(self) -> Callable[..., Any]:
        """A function of two matrices, around `shard_map`."""
        in_specs, out = (self.spec(), self.spec()), self.spec()
        steps, more = self.steps(), self.steps()
        place = NamedSharding(self.mesh, self.spec())

        def each(x: Any, y: Any) -> Any:
            return tuple(
                self.small(self.agreed(self.run(run, value), spec))
                for run, value, spec in zip((steps, more), (x, y), in_specs, strict=True)
            )

        def whole(x: Any, y: Any) -> Any:
            local = jax.shard_map(
                each, mesh=self.mesh, in_specs=in_specs, out_specs=in_specs, check_vma=False
            )
            a, b = local(x, y)
            c = jax.lax.with_sharding_constraint(a.astype(jnp.float32) + 1, place)
            again = jax.shard_map(
                lambda v: jax.lax.psum(v, self.pick_axis),
                mesh=self.mesh, in_specs=out, out_specs=out, check_vma=False,
            )  # fmt: skip
            return again(c), b

        self.pick_axis = str(self.pick(list(self.sizes)))
        return whole

    def agreed(self, x: Any, spec: P) -> Any:
        """`x`, the same on devices along axes that `spec` has not."""
        used = {name for dim in spec if dim is not None for name in dim}
        others = tuple(axis for axis in self.sizes if axis not in used)
        return jax.lax.pmax(x.astype(jnp.int32), others) if others else x

    def arguments(self) -> list[np.ndarray]:
        drawn = self.rng.integers(0, LARGEST, (2, ROWS, COLUMNS))
        return [np.asarray(each).astype(self.dtype) for each in drawn]


def _ramp(count: int, dim: int, rank: int) -> Any:
    shape = [1] * rank
    shape[dim] = count
    return jnp.arange(1, count + 1).reshape(shape)


def difference(seed: int) -> str:
    """How the two differ on the program of `seed`; empty where they do not."""
    program = Program(seed)
    function, arrays = program.function(), program.arguments()
    exported = jax.export.export(jax.jit(function))(*arrays)
    wanted = [np.asarray(each) for each in jax.jit(function)(*arrays)]
    jax.clear_caches()
    try:
        got = mlir_fp8.compile(exported.mlir_module_serialized, simulate_devices=8)(*arrays)
    except mlir_fp8.Fp8Error as error:
        return str(error)
    for number, (a, b) in enumerate(zip(got, wanted, strict=True)):
        if not np.array_equal(a.astype(np.float64), b.astype(np.float64)):
            return f"result {number}: {int((a != b).sum())} of {a.size} differ"
    return ""


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    first, count = map(int, sys.argv[1:])
    for seed in range(first, first + count):
        found = difference(seed)
        if found:
            print(f"{seed}: {found}", flush=True)
