"""JAX programs on eight devices, and modules run by XLA on eight devices of the CPU.

As a script, in a process that has them: `trace FOLDER` writes each program as text with arguments,
`run FOLDER` runs each `NAME.run.mlir` there and writes results and the partitioned HLO, `train
FOLDER` runs each for many steps.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

DEVICES = 8
GSPMD = {
    "gspmd_manual": """module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%x: tensor<64x128xbf16> {mhlo.sharding = "{devices=[8,1]<=[8]}"},
                  %w: tensor<128x64xbf16> {mhlo.sharding = "{devices=[8,1]<=[8]}"})
      -> (tensor<64x64xbf16> {mhlo.sharding = "{devices=[8,1]<=[8]}"}) {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[8,1]<=[8]}"}
      : (tensor<64x128xbf16>) -> tensor<64x128xbf16>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"}
      : (tensor<64x128xbf16>) -> tensor<8x128xbf16>
    %2 = stablehlo.custom_call @Sharding(%w) {mhlo.sharding = "{devices=[8,1]<=[8]}"}
      : (tensor<128x64xbf16>) -> tensor<128x64xbf16>
    %3 = stablehlo.custom_call @SPMDFullToShardShape(%2) {mhlo.sharding = "{manual}"}
      : (tensor<128x64xbf16>) -> tensor<16x64xbf16>
    %4 = "stablehlo.all_gather"(%3) <{all_gather_dim = 0 : i64,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>,
      use_global_device_ids}> : (tensor<16x64xbf16>) -> tensor<128x64xbf16>
    %5 = stablehlo.dot_general %1, %4, contracting_dims = [1] x [0]
      : (tensor<8x128xbf16>, tensor<128x64xbf16>) -> tensor<8x64xbf16>
    %6 = stablehlo.custom_call @Sharding(%5) {mhlo.sharding = "{manual}"}
      : (tensor<8x64xbf16>) -> tensor<8x64xbf16>
    %7 = stablehlo.custom_call @SPMDShardToFullShape(%6) {mhlo.sharding = "{devices=[8,1]<=[8]}"}
      : (tensor<8x64xbf16>) -> tensor<64x64xbf16>
    return %7 : tensor<64x64xbf16>
  }
}""",
    "gspmd_reshard": """module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%x: tensor<64x128xbf16> {mhlo.sharding = "{devices=[8,1]<=[8]}"},
                  %w: tensor<128x64xbf16> {mhlo.sharding = "{devices=[2,4]<=[8]}"})
      -> (tensor<64x64xbf16> {mhlo.sharding = "{devices=[8,1]<=[8]}"}) {
    %0 = stablehlo.custom_call @Sharding(%w) {mhlo.sharding = "{replicated}"}
      : (tensor<128x64xbf16>) -> tensor<128x64xbf16>
    %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0]
      : (tensor<64x128xbf16>, tensor<128x64xbf16>) -> tensor<64x64xbf16>
    return %1 : tensor<64x64xbf16>
  }
}""",
}
"""Programs in GSPMD's words, which JAX does not write any more, on a matrix of each shape."""
STEPS = 16
"""Of what has a state: it is zero before the first, and results are the mean of all steps."""


def child(action: str, folder: Path) -> None:
    flags = f"--xla_force_host_platform_device_count={DEVICES}"
    run = subprocess.run(
        [sys.executable, __file__, action, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
    )
    assert run.returncode == 0, run.stderr[-3000:]


def traced(folder: Path) -> dict[str, tuple[str, list[np.ndarray]]]:
    """Each program as text, and its arguments."""
    child("trace", folder)
    of_jax = {
        path.stem: (path.read_text(), _arrays(path.with_suffix(".npz")))
        for path in sorted(folder.glob("*.mlir"))
    }
    numbers = np.random.default_rng(1)
    given = [numbers.normal(size=size).astype(np.float32) for size in ((64, 128), (128, 64))]
    return of_jax | {name: (text, given) for name, text in GSPMD.items()}


def run(
    folder: Path, modules: Mapping[str, tuple[str, Sequence[np.ndarray]]], action: str = "run"
) -> dict[str, tuple[list[np.ndarray], str]]:
    """What XLA makes of each module on eight devices: whole results, and the HLO of one device.

    With the action "train", the losses of 200 steps.
    """
    for name, (text, arrays) in modules.items():
        (folder / f"{name}.run.mlir").write_text(text)
        _save(folder / f"{name}.args.npz", arrays)
    child(action, folder)
    return {
        name: (_arrays(folder / f"{name}.out.npz"), (folder / f"{name}.hlo").read_text())
        for name in modules
    }


def _save(path: Path, arrays: Sequence[np.ndarray]) -> None:
    np.savez(path, *[np.asarray(each, np.float32) if _is_small(each) else each for each in arrays])


def _is_small(array: np.ndarray) -> bool:
    return array.dtype.kind == "V"


def _arrays(path: Path) -> list[np.ndarray]:
    with np.load(path) as file:
        return [file[f"arr_{index}"] for index in range(len(file.files))]


def _programs() -> dict[str, tuple[Callable[..., Any], Sequence[Any], Sequence[Any]]]:
    """Each a function, the partition specs of its arguments, and the arguments."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import AxisType, NamedSharding
    from jax.sharding import PartitionSpec as P

    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    ring = jax.make_mesh((8,), ("x",), axis_types=(AxisType.Auto,))
    numbers = np.random.default_rng(0)

    def array(*shape: int, type_: Any = jnp.bfloat16) -> Any:
        return jnp.asarray(numbers.normal(size=shape), type_)

    def mapped(in_specs: Any, out_specs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return lambda body: jax.shard_map(
            body, mesh=ring, in_specs=in_specs, out_specs=out_specs, check_vma=False
        )

    def squares(x: Any) -> Any:
        return jnp.sum(x.astype(jnp.float32) ** 2)

    @mapped((P("x"), P("x"), P("x")), P("x"))
    def fsdp(x: Any, w1: Any, w2: Any) -> Any:
        """Each device has a part of the weights, and gathers them for its rows."""
        w1 = jax.lax.all_gather(w1, "x", axis=0, tiled=True)
        hidden = jax.nn.relu(x @ w1)
        return hidden @ jax.lax.all_gather(w2, "x", axis=0, tiled=True)

    def fsdp_step(x: Any, w1: Any, w2: Any) -> Any:
        """Gradients of the weights, reduced and scattered."""
        return jax.grad(lambda *w: squares(fsdp(*w)), argnums=(1, 2))(x, w1, w2)

    @mapped((P("x", None), P(None, "x"), P("x", None)), P("x", None))
    def sequence_parallel(x: Any, w1: Any, w2: Any) -> Any:
        """Tensor parallel: rows are gathered before, and sums scattered to rows after."""
        x = jax.lax.all_gather(x, "x", axis=0, tiled=True)
        partial = jax.nn.relu(x @ w1) @ w2
        return jax.lax.psum_scatter(partial, "x", scatter_dimension=0, tiled=True)

    @mapped((P("x"), P("x")), P("x"))
    def experts(tokens: Any, w: Any) -> Any:
        """Tokens go to the devices of their experts and come back."""
        sent = jax.lax.all_to_all(tokens, "x", split_axis=1, concat_axis=0, tiled=True)
        made = jax.nn.relu(jnp.einsum("nmk,ekf->nmf", sent, w))
        return jax.lax.all_to_all(made, "x", split_axis=0, concat_axis=1, tiled=True)

    def experts_step(tokens: Any, w: Any) -> Any:
        return jax.grad(lambda *each: squares(experts(*each)), argnums=(0, 1))(tokens, w)

    @mapped((P("x"), P("x")), P("x"))
    def pipeline(x: Any, w: Any) -> Any:
        """What a stage makes goes to the next one."""
        for _ in range(2):
            x = jax.nn.relu(x @ w[0]) / 8
            x = jax.lax.ppermute(x, "x", [(i, (i + 1) % 8) for i in range(8)])
        return x

    @mapped((P("x"),), P("x"))
    def sums(x: Any) -> Any:
        return jax.lax.psum(x, "x")

    def resharded(x: Any, w: Any) -> Any:
        """Nothing is written but shardings: weights lie apart, and each device wants them whole."""
        whole = jax.lax.with_sharding_constraint(w, NamedSharding(mesh, P()))
        return jax.lax.with_sharding_constraint(x @ whole, NamedSharding(mesh, P("data")))

    @mapped((P(), P(), rows_of := P("x"), rows_of), (P(), P(), P()))
    def train(w1: Any, w2: Any, x: Any, y: Any) -> Any:
        """A step of data-parallel training, whose gradients are summed over devices."""

        def loss(w1: Any, w2: Any) -> Any:
            return jnp.mean((jnp.tanh(x @ w1) @ w2 - y) ** 2)

        value, gradients = jax.value_and_grad(loss, argnums=(0, 1))(w1, w2)
        g1, g2 = (jax.lax.psum(each, "x") / 8 for each in gradients)
        return w1 - 0.3 * g1, w2 - 0.3 * g2, jax.lax.pmean(value, "x")

    x = numbers.normal(size=(512, 32))
    y = np.tanh(x @ numbers.normal(size=(32, 8)) / 6) + numbers.normal(size=(512, 8)) / 4
    start = (array(32, 64, type_=jnp.float32) / 8, array(64, 8, type_=jnp.float32) / 8)
    f32 = tuple(jnp.asarray(each, jnp.float32) for each in (x, y))
    weights = (array(64, 128), array(128, 256), array(256, 64))
    tokens = (array(8, 64, 128), array(8, 128, 64))
    square = (array(64, 128), array(128, 256), array(256, 128))
    rows, columns = P("x"), P(None, "x")
    return {
        "fsdp": (fsdp, (ring, rows, rows, rows), weights),
        "fsdp_step": (fsdp_step, (ring, rows, rows, rows), weights),
        "sequence_parallel": (sequence_parallel, (ring, rows, columns, rows), square),
        "experts": (experts, (ring, rows, rows), tokens),
        "experts_step": (experts_step, (ring, rows, rows), tokens),
        "pipeline": (pipeline, (ring, rows, rows), (array(64, 128), array(8, 128, 128))),
        "sums": (sums, (ring, rows), (array(64, 511, type_=jnp.float32),)),
        "train": (train, (ring, P(), P(), rows, rows), (*start, *f32)),
        "resharded": (resharded, (mesh, P("data"), P("data", "model")), weights[:2]),
    }


def _trace(folder: Path) -> None:
    import jax
    from jax.sharding import NamedSharding

    for name, (function, (mesh, *specs), arrays) in _programs().items():
        shardings = tuple(NamedSharding(mesh, spec) for spec in specs)
        lowered = jax.jit(function, in_shardings=shardings).lower(*arrays)
        (folder / f"{name}.mlir").write_text(lowered.as_text(debug_info=True))
        np.savez(folder / f"{name}.npz", *[np.asarray(each, np.float32) for each in arrays])


def _run(folder: Path) -> None:
    for path in sorted(folder.glob("*.run.mlir")):
        name = path.name.removesuffix(".run.mlir")
        executable = _Executable(path.read_text())
        results = _mean_of_steps(executable, _arrays(folder / f"{name}.args.npz"))
        np.savez(folder / f"{name}.out.npz", *results)
        (folder / f"{name}.hlo").write_text(executable.hlo)


def _mean_of_steps(run: "_Executable", arrays: list[np.ndarray]) -> list[np.ndarray]:
    """The results of one step; of what has a state the mean of several, and the last state."""
    if not run.states:
        return run(arrays)
    sums: list[np.ndarray] = []
    for _ in range(STEPS):
        made = run(arrays)
        results = made[: len(made) - run.states]
        sums = [a + b for a, b in zip(sums, results, strict=True)] if sums else results
        arrays = [*arrays[: len(arrays) - run.states], *made[len(results) :]]
    return [*(each / STEPS for each in sums), *arrays[len(arrays) - run.states :]]


def _train(folder: Path) -> None:
    """Run each `NAME.run.mlir` for 200 steps, its first results its next first arguments.

    What remains of its results is a loss, whose values are written.
    """
    for path in sorted(folder.glob("*.run.mlir")):
        name = path.name.removesuffix(".run.mlir")
        run, arrays = _Executable(path.read_text()), _arrays(folder / f"{name}.args.npz")
        losses: list[float] = []
        for _ in range(200):
            made = run(arrays)
            count = len(made) - run.states - 1
            losses.append(float(made[count]))
            end = len(arrays) - run.states
            arrays = [*made[:count], *arrays[count:end], *made[count + 1 :]]
        np.savez(folder / f"{name}.out.npz", np.array(losses))
        (folder / f"{name}.hlo").write_text(run.hlo)


class _Executable:
    """A module compiled for all devices, called on whole arrays."""

    def __init__(self, text: str) -> None:
        # No public name compiles a module for several devices.
        from jax._src.interpreters import mlir as jax_mlir
        from jax._src.sharding_impls import GSPMDSharding
        from jax.extend import backend
        from jaxlib import xla_client
        from jaxlib.mlir import ir

        client = backend.get_backend("cpu")
        self._devices = tuple(client.devices()[:DEVICES])
        options = xla_client.CompileOptions()
        build = options.executable_build_options
        options.num_partitions = build.num_partitions = DEVICES
        build.use_spmd_partitioning = True
        build.use_shardy_partitioner = "xla.sdy." in text or "sdy.mesh" in text
        order = np.arange(DEVICES).reshape(1, DEVICES)
        build.device_assignment = xla_client.DeviceAssignment.create(order)
        module = ir.Module.parse(text, jax_mlir.make_ir_context())
        main: Any = next(op for op in module.body.operations if op.operation.name == "func.func")
        made = client.compile_and_load(module, xla_client.DeviceList(self._devices), options)
        self._executable = made
        self._inputs, self._outputs = (
            [GSPMDSharding(self._devices, each) for each in shardings]
            for shardings in (made.get_parameter_shardings(), made.get_output_shardings())
        )
        self._types = [_dtype(each) for each in main.type.inputs]
        self._shapes = [tuple(ir.RankedTensorType(each).shape) for each in main.type.results]
        key = "arg_attrs"
        arguments = ir.ArrayAttr(main.attributes[key]) if key in main.attributes else ()
        self.states = sum("mlir_fp8.state" in ir.DictAttr(each) for each in arguments)
        self.hlo: str = made.hlo_modules()[0].to_string()

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        import jax

        given = [
            jax.device_put(np.asarray(array, type_), sharding)
            for array, sharding, type_ in zip(arrays, self._inputs, self._types, strict=True)
        ]
        parts = self._executable.execute_sharded(given).disassemble_into_single_device_arrays()
        results: list[np.ndarray] = []
        for part, sharding, shape in zip(parts, self._outputs, self._shapes, strict=True):
            whole = np.zeros(shape, np.float64)
            for device, index in sharding.devices_indices_map(shape).items():
                held = np.asarray(part[self._devices.index(device)])
                whole[index] = held.astype(np.float64)
            results.append(whole)
        return results


def _dtype(type_: Any) -> Any:
    import ml_dtypes
    from jaxlib.mlir import ir

    element = str(ir.RankedTensorType(type_).element_type)
    named = {"bf16": "bfloat16", "f32": "float32", "f8E4M3FN": "float8_e4m3fn"}.get(
        element, element
    )
    return getattr(ml_dtypes, named, None) or np.dtype(named)


if __name__ == "__main__":
    {"trace": _trace, "run": _run, "train": _train}[sys.argv[1]](Path(sys.argv[2]))
