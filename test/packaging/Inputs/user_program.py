# pyright: strict
"""A user's program of the whole public API: checked by pyright in strict mode, and run."""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from torch_mlir import ir

import mlir_fp8

ADD = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}"""
WIDE = """
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}"""
CUSTOM = """
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @twice(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}"""
NEWER = "func.func @main(%x: tensor<2xf8E3M4>) { return }"


def read_and_write(path: Path) -> ir.Module:
    module = assert_type(mlir_fp8.load(path), ir.Module)
    artifact = assert_type(mlir_fp8.serialize(module, mlir_fp8.minimum_version(module)), bytes)
    try:
        mlir_fp8.serialize(mlir_fp8.load(NEWER), "1.0.0")
    except mlir_fp8.NewerFeaturesError as error:
        assert_type(error.minimum, str)
        assert [feature.name for feature in error.features] == ["f8E3M4"]
    try:
        return assert_type(mlir_fp8.deserialize(artifact), ir.Module)
    except mlir_fp8.FutureArtifactError as error:
        assert_type(error.version, str)
        raise


def run(module: ir.Module) -> tuple[np.ndarray, np.ndarray]:
    dot = assert_type(mlir_fp8.compile(module, threads=1), mlir_fp8.CompiledModule)
    assert_type(dot.arguments[0].shape, tuple[int, ...])
    random = np.random.default_rng(0)
    a, b = (
        mlir_fp8.cast(random.standard_normal(spec.shape, np.float32), spec.element, saturate=True)
        for spec in dot.arguments
    )
    (result,) = dot(a, b)
    (same,) = mlir_fp8.interpret(module, a, b)
    assert assert_type(result, np.ndarray).dtype == same.dtype
    return a, b


def run_by_xla(module: ir.Module, a: np.ndarray, b: np.ndarray) -> None:
    if find_spec("jax") is None:
        return
    dot = assert_type(mlir_fp8.compile(module, backend="xla", device="cpu"), mlir_fp8.XlaModule)
    (result,) = dot(a, b)
    assert isinstance(result, mlir_fp8.DeviceArray)
    assert assert_type(result.to_numpy(), np.ndarray).dtype == result.dtype


def run_on_several_devices(module: ir.Module) -> None:
    simulated = mlir_fp8.compile(module, simulate_devices=2)
    assert isinstance(simulated, mlir_fp8.SimulatedModule)
    if find_spec("jax") is None:
        return
    sharded = mlir_fp8.compile(module, backend="xla", mesh=1)
    assert isinstance(sharded, mlir_fp8.ShardedModule)


def judge(module: ir.Module, a: np.ndarray, b: np.ndarray) -> None:
    verdict = mlir_fp8.compare(module, a, b, judges=("llvm", "interpreter"))
    assert isinstance(verdict, mlir_fp8.Verdict)
    assert_type([agreement.max_ulp for agreement in verdict.agreements], list[float])
    reduction = mlir_fp8.reduce(module, a, b, judges=("llvm", "interpreter"))
    assert_type(reduction, mlir_fp8.Reduction)
    assert_type(reduction.module, ir.Module)
    report = assert_type(mlir_fp8.report(module, a, b), mlir_fp8.Report)
    assert_type([value.value.spec.element for value in report.worst_first()], list[str])
    assert report.to_html() and report.to_json()


def explain(module: ir.Module) -> None:
    explanation = assert_type(mlir_fp8.explain(module, "xla-gpu"), mlir_fp8.Explanation)
    assert_type(explanation.counts("xla-gpu"), dict[str, int])
    warnings = assert_type(mlir_fp8.lint(module), list[mlir_fp8.LintWarning])
    assert_type([warning.edit for warning in warnings], list[str])


def quantize() -> None:
    recipes = [
        mlir_fp8.DelayedScaling(history=4),
        mlir_fp8.CurrentScaling(margin=1),
        mlir_fp8.BlockScaling(),
        mlir_fp8.MXScaling(),
        mlir_fp8.NVFP4Scaling(),
        mlir_fp8.Int8Scaling(),
    ]
    for recipe in recipes:
        made = assert_type(mlir_fp8.quantize(WIDE, recipe), mlir_fp8.Quantized)
        assert_type(made.state, dict[str, np.ndarray])
        step = mlir_fp8.compile(made.module)
        x, w = np.ones((4, 8), np.float32), np.ones((8, 2), np.float32)
        results, state = made.split(step(x, w, *made.state.values()))
        assert_type(results, tuple[Any, ...])
        assert list(state) == list(made.state)


def serve() -> None:
    x, weights = np.ones((4, 8), np.float32), {"arg1": np.ones((8, 2), np.float32)}
    calibration = mlir_fp8.Calibration(WIDE, weights=["arg1"])
    calibration.run([x], weights)
    static = mlir_fp8.StaticScaling(calibration)
    for recipe in (mlir_fp8.WeightOnly(), static):
        made = mlir_fp8.quantize(WIDE, recipe, weights=["arg1"], wide=[])
        prepared = assert_type(made.prepare(weights), dict[str, Any])
        (result,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, x))
        assert np.allclose(result, 8)
    smoothing: mlir_fp8.Smoothing = mlir_fp8.Smoothing(WIDE, weights=["arg1"], powers_of_two=True)
    factors: dict[str, np.ndarray] = smoothing.run([x], weights).factors
    smoothed = mlir_fp8.quantize(WIDE, "current", weights=["arg1"], wide=[], smoothing=factors)
    assert smoothed.prepare(weights)
    packed = assert_type(mlir_fp8.pack_weights(WIDE, "arg1"), mlir_fp8.Quantized)
    assert packed.prepare(weights)
    trial = mlir_fp8.Trial(WIDE, static, [x], weights, weights=["arg1"], wide=[])
    assert_type(trial.sqnr(["arg1"]), float)
    formats: dict[str, mlir_fp8.StaticScaling | mlir_fp8.WeightOnly] = {
        "static": static,
        "weights": mlir_fp8.WeightOnly(),
    }
    layers = mlir_fp8.FormatTrial(WIDE, formats, [x], weights, weights=["arg1"], wide=[])
    assert_type(layers.measured({"arg1": "static"})[0], float)


def twice(op: ir.Operation) -> str:
    assert_type(op.name, str)
    return """func.func @twice(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = stablehlo.add %x, %x : tensor<3xf32>
      return %0 : tensor<3xf32>
    }"""


def keep_arrays(path: Path) -> None:
    file = path.with_name("arrays.npz")
    mlir_fp8.save_arrays(file, {"x": np.ones(3, np.float32)})
    arrays = assert_type(mlir_fp8.load_arrays(file), dict[str, Any])
    codes = assert_type(mlir_fp8.cast(np.ones(3), "f8E5M2"), np.ndarray)
    assert codes.shape == arrays["x"].shape
    assert issubclass(mlir_fp8.DetachedWarning, UserWarning)


def checkpoints(path: Path) -> None:
    weight = mlir_fp8.F8Weight(
        mlir_fp8.cast(np.ones((8, 2)), "f8E4M3FN"), np.array(0.5, np.float32), (0, 0)
    )
    held = mlir_fp8.Checkpoint("mine", {"w.weight": weight})
    made, arrays = mlir_fp8.apply_checkpoint(WIDE, held, names={"w.weight": "arg1"})
    assert_type(made, mlir_fp8.Quantized)
    assert_type(arrays, dict[str, np.ndarray])
    again = mlir_fp8.checkpoint_of(made, arrays, names={"arg1": "w.weight"}, transpose=["arg1"])
    folder = path.with_name("checkpoint")
    mlir_fp8.save_checkpoint(folder, again, {"hidden_size": 8})
    try:
        assert_type(mlir_fp8.load_checkpoint(folder), mlir_fp8.Checkpoint)
    except mlir_fp8.Fp8Error as error:  # safetensors is an extra
        assert "pip install" in str(error)


def repeat() -> None:
    steps = assert_type(mlir_fp8.repeat_steps(ADD, 3, {0: 0}), ir.Module)
    x = np.ones(3, np.float32)
    (last,) = mlir_fp8.compile(steps, donate=[0])(x)
    assert last is x and x.tolist() == [8, 8, 8]


def main(path: Path) -> None:
    module = read_and_write(path)
    a, b = run(module)
    run_by_xla(module, a, b)
    run_on_several_devices(module)
    judge(module, a, b)
    explain(module)
    quantize()
    serve()
    keep_arrays(path)
    checkpoints(path)
    repeat()
    mlir_fp8.register_custom_call("twice", twice)
    (doubled,) = mlir_fp8.compile(CUSTOM)(np.ones(3, np.float32))
    assert doubled.tolist() == [2, 2, 2]
    try:
        mlir_fp8.load(path.with_name("no such file"))
    except mlir_fp8.Fp8Error as error:
        assert not isinstance(error, mlir_fp8.InternalError)
        assert "no such file" in str(error)
    mlir_fp8.clear_cache()
    print("done")


main(Path(sys.argv[1]))
