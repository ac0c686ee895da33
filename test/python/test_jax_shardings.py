"""`mlir_fp8.jax.jit` on arrays that lie on several devices: in a process with four of the CPU."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("jax")

PROGRAM = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import mlir_fp8
import mlir_fp8.jax

mesh = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Auto,))
rows, whole = NamedSharding(mesh, P("d")), NamedSharding(mesh, P())
x, w = jax.random.normal(jax.random.key(0), (16, 64)), jax.random.normal(jax.random.key(1), (64, 8))
product = lambda x, w: jax.nn.relu(x @ w)
step = mlir_fp8.jax.jit(product, quantize="current")
want = np.asarray(step(x, w))

got = step(jax.device_put(x, rows), jax.device_put(w, whole))
assert got.sharding.is_equivalent_to(rows, 2), got.sharding
assert np.array_equal(got, want)  # the scale is that of the whole array

placed = mlir_fp8.jax.jit(product, quantize="current", in_shardings=(rows, whole),
                          out_shardings=whole)
assert placed(x, w).sharding.is_equivalent_to(whole, 2) and np.array_equal(placed(x, w), want)

stateful = mlir_fp8.jax.jit(product, quantize=mlir_fp8.DelayedScaling(history=2),
                            in_shardings=(rows, whole), out_shardings=rows)
out, _ = stateful(stateful.init_state(x, w), x, w)
assert out.sharding.is_equivalent_to(rows, 2)

mapped = jax.shard_map(step, mesh=mesh, in_specs=(P("d"), P()), out_specs=P("d"))
parts = [step(x[4 * i : 4 * i + 4], w) for i in range(4)]
assert np.array_equal(jax.jit(mapped)(x, w), np.concatenate(parts))

def refusal(function, *arrays):
    try:
        mlir_fp8.jax.jit(function, quantize="current")(*arrays)
    except mlir_fp8.Fp8Error as error:
        return str(error)

# What the function itself shards: arrays of one device, as `jax.jit` takes them, and sharded ones.
constrained = mlir_fp8.jax.jit(
    lambda x, w: jax.lax.with_sharding_constraint(product(x, w), rows), quantize="current")
inside = mlir_fp8.jax.jit(
    jax.shard_map(product, mesh=mesh, in_specs=(P("d"), P()), out_specs=P("d")))
for x_given in (x, jax.device_put(x, rows)):
    got = constrained(x_given, w)
    assert got.sharding.is_equivalent_to(rows, 2) and np.array_equal(got, want)
    got = inside(x_given, w)
    assert got.sharding.is_equivalent_to(rows, 2)
    assert np.array_equal(got, np.asarray(jax.jit(product)(jax.device_put(x, rows), w)))
with jax.set_mesh(jax.make_mesh((4,), ("d",), axis_types=(AxisType.Explicit,))):
    print(refusal(product, x, w))
with jax.set_mesh(mesh):
    assert np.array_equal(step(x, w), want)
    keyed = mlir_fp8.jax.jit(lambda key, x: x + jax.random.normal(key, x.shape))
    assert keyed(jax.random.key(2), x).shape == x.shape
"""


def test_several_devices() -> None:
    flags = "--xla_force_host_platform_device_count=4"
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
    )
    assert run.returncode == 0, run.stderr
    (explicit,) = run.stdout.splitlines()
    assert "make the mesh with AxisType.Auto" in explicit
