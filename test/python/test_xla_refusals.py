"""What XLA's backend cannot do is refused in one line."""

from typing import Any

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.xla import artifact, devices, failures

jax = pytest.importorskip("jax")

ADD = """\
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
HAS_GPU = any(device.platform != "cpu" for device in jax.devices())


def refusal(**options: Any) -> str:
    with pytest.raises(mlir_fp8.Fp8Error) as error:
        mlir_fp8.compile(ADD, **options)
    assert not isinstance(error.value, mlir_fp8.InternalError)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_options_that_do_not_go_together() -> None:
    assert refusal(backend="gpu") == "backend is 'gpu': give 'llvm' or 'xla'"
    assert "goes with backend='xla'" in refusal(device="gpu")
    assert refusal(backend="xla", device="tpu").startswith("device is 'tpu': give 'cpu', 'gpu'")
    assert refusal(backend="xla", device=0).startswith("device is 0:")
    for option in ({"threads": 1}, {"opt_level": 3}, {"outline_layers": False}):
        assert "is of native code" in refusal(backend="xla", **option)


def test_devices_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(backend="xla", device="cpu:9") == "there is no cpu:9: jax has cpu:0"
    if HAS_GPU:
        return
    monkeypatch.delenv("JAX_PLATFORMS", raising=False)
    assert "this jax has no CUDA: pip install" in refusal(backend="xla", device="gpu")
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    assert "JAX_PLATFORMS=cpu leaves it out" in refusal(backend="xla", device="gpu")


def test_a_driver_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    if HAS_GPU:
        pytest.skip("there is a GPU")
    from jax._src import xla_bridge  # pyright: ignore[reportMissingImports]

    monkeypatch.delenv("JAX_PLATFORMS", raising=False)
    monkeypatch.setattr(devices, "find_spec", lambda _: True)
    monkeypatch.setitem(xla_bridge._backend_errors, "cuda", "driver is insufficient\nfor CUDA")
    assert refusal(backend="xla", device="gpu") == "there is no gpu: driver is insufficient"


def test_jax_that_is_missing_or_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices.metadata, "version", lambda _: "0.4.30")
    assert "jax 0.4.30 is too old: 0.10.2" in refusal(backend="xla")
    monkeypatch.setattr(devices, "find_spec", lambda _: None)
    assert "jax is not installed" in refusal(backend="xla")


def test_artifacts_that_jaxlib_does_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = mlir_fp8.serialize(mlir_fp8.load(ADD), "1.0.0")
    damaged = data[:40] + b"\xff" * 20 + data[60:]
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^x: jaxlib cannot read this artifact: "):
        artifact.read_artifact(damaged, "x")
    monkeypatch.setattr(artifact, "readable_version", lambda: "0.9.0")
    with pytest.raises(mlir_fp8.Fp8Error, match=r"is of StableHLO 1\.0\.0, .* up to 0\.9\.0: take"):
        artifact.read_artifact(data, "x")


def test_modules_for_several_devices() -> None:
    text = f"module attributes {{mhlo.num_partitions = 4 : i32}} {{\n{ADD}}}\n"
    data = mlir_fp8.serialize(mlir_fp8.load(text), "1.0.0")
    with pytest.raises(mlir_fp8.Fp8Error, match="is made for 4 devices, this runs on one"):
        mlir_fp8.compile(data, backend="xla")


def test_arguments() -> None:
    module = mlir_fp8.compile(ADD, backend="xla")
    good = np.ones(2, np.float32)
    masked = np.ma.masked_array(good, [True, False])
    for given, message in (
        ((), "'main' takes 1 arguments, 0 were given"),
        ((good.astype(np.float64),), "argument 0 is tensor<2xf64>, declared tensor<2xf32>"),
        ((jax.numpy.ones(3),), "argument 0 is tensor<3xf32>, declared tensor<2xf32>"),
        ((jax.random.key(0),), r"is of key<fry>.*key_data"),
        ((masked,), "is masked"),
        (([1.0, 2.0],), "is a list, not an array"),
    ):
        with pytest.raises(mlir_fp8.Fp8Error, match=message):
            module(*given)
    with pytest.raises(mlir_fp8.Fp8Error, match="as_ is 'cupy'"):
        module(good, as_="cupy")  # pyright: ignore[reportArgumentType]
    with pytest.raises(mlir_fp8.Fp8Error, match="argument 0 is traced by JAX"):
        jax.jit(module)(jax.numpy.ones(2))


def test_what_xla_raises_is_one_line() -> None:
    full = RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 8 bytes\nmore")
    assert failures.reason_of(full, "gpu:1") == (
        "gpu:1 is out of memory: Out of memory allocating 8 bytes"
    )
    with pytest.raises(mlir_fp8.Fp8Error) as error, failures.one_line("XLA", "cpu"):
        raise ValueError("INTERNAL: INVALID_ARGUMENT: no such thing\nat a.cc")
    assert str(error.value) == "XLA: no such thing"


def test_a_module_that_xla_refuses() -> None:
    module = ADD.replace("stablehlo.add %a, %a : tensor<2xf32>", (
        'stablehlo.custom_call @nowhere(%a) : (tensor<2xf32>) -> tensor<2xf32>'
    ))  # fmt: skip
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^XLA: .*nowhere"):
        mlir_fp8.compile(module, backend="xla")
