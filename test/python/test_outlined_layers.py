"""Layers that are compiled once: the same bits, no copies, code that does not grow with them."""

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import pipelines
from mlir_fp8.aot.library import make_library
from mlir_fp8.compiling import execution
from mlir_fp8.compiling.compile_options import CompileOptions
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.tools import translate

LAYER = """
  %m{i} = stablehlo.reduce(%x{i} init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<32x64xT>, tensor<T>) -> tensor<32xT>
  %n{i} = stablehlo.broadcast_in_dim %m{i}, dims = [0] : (tensor<32xT>) -> tensor<32x64xT>
  %o{i} = stablehlo.multiply %n{i}, %part : tensor<32x64xT>
  %c{i} = stablehlo.subtract %x{i}, %o{i} : tensor<32x64xT>
  %t{i} = stablehlo.transpose %c{i}, dims = [1, 0] : (tensor<32x64xT>) -> tensor<64x32xT>
  %s{i} = stablehlo.dot_general %c{i}, %t{i}, contracting_dims = [1] x [0]
    : (tensor<32x64xT>, tensor<64x32xT>) -> tensor<32x32xT>
  %w{i} = stablehlo.cosine %s{i} : tensor<32x32xT>
  %y{i} = stablehlo.abs %w{i} : tensor<32x32xT>
  %e{i} = stablehlo.exponential %y{i} : tensor<32x32xT>
  %d{i} = stablehlo.reduce(%e{i} init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<32x32xT>, tensor<T>) -> tensor<32xT>
  %f{i} = stablehlo.broadcast_in_dim %d{i}, dims = [0] : (tensor<32xT>) -> tensor<32x32xT>
  %p{i} = stablehlo.divide %e{i}, %f{i} : tensor<32x32xT>
  %a{i} = stablehlo.dot_general %p{i}, %c{i}, contracting_dims = [1] x [0]
    : (tensor<32x32xT>, tensor<32x64xT>) -> tensor<32x64xT>
  {weights}
  %h{i} = stablehlo.dot_general %a{i}, %v{i}, contracting_dims = [1] x [0]
    : (tensor<32x64xT>, tensor<64x128xT>) -> tensor<32x128xT>
  %b{i} = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<128xT>) -> tensor<32x128xT>
  %g{i} = stablehlo.add %h{i}, %b{i} : tensor<32x128xT>
  %k{i} = stablehlo.tanh %g{i} : tensor<32x128xT>
  %l{i} = stablehlo.dot_general %k{i}, %u{i}, contracting_dims = [1] x [0]
    : (tensor<32x128xT>, tensor<128x64xT>) -> tensor<32x64xT>
  {update}
  %x{j} = stablehlo.add %l{i}, %x{i} : tensor<32x64xT>
"""
STACKED = """
  %vs{i} = stablehlo.slice %vs [{i}:{j}, 0:64, 0:128] : (tensor<NX64x128xT>) -> tensor<1x64x128xT>
  %v{i} = stablehlo.reshape %vs{i} : (tensor<1x64x128xT>) -> tensor<64x128xT>
  %us{i} = stablehlo.slice %us [{i}:{j}, 0:128, 0:64] : (tensor<NX128x64xT>) -> tensor<1x128x64xT>
  %u{i} = stablehlo.reshape %us{i} : (tensor<1x128x64xT>) -> tensor<128x64xT>
"""
UPDATE = """
  %place{i} = stablehlo.constant dense<{i}> : tensor<i32>
  %row{i} = stablehlo.reshape %a{i} : (tensor<32x64xT>) -> tensor<1x32x64xT>
  %cache{j} = stablehlo.dynamic_update_slice %cache{i}, %row{i}, %place{i}, %nought, %nought
    : (tensor<NX32x64xT>, tensor<1x32x64xT>, tensor<i32>, tensor<i32>, tensor<i32>)
    -> tensor<NX32x64xT>
"""


def _model(layers: int, element: str = "f32", *, is_stacked: bool = False) -> str:
    """So many layers, with weights of their own, or stacked and with a cache."""
    own = (f"%v{i}: tensor<64x128xT>, %u{i}: tensor<128x64xT>" for i in range(layers))
    stacked = ("%vs: tensor<NX64x128xT>", "%us: tensor<NX128x64xT>", "%cache0: tensor<NX32x64xT>")
    weights, update = (STACKED, UPDATE) if is_stacked else ("", "")
    layer = LAYER.replace("{weights}", weights).replace("{update}", update)
    body = "".join(
        layer.replace("{i}", str(number)).replace("{j}", str(number + 1))
        for number in range(layers)
    )
    cache, type_ = (f", %cache{layers}", ", tensor<NX32x64xT>") if is_stacked else ("", "")
    weights = ", ".join(stacked if is_stacked else own)
    text = f"""
func.func @main(%x0: tensor<32x64xT>, %bias: tensor<128xT>, {weights})
    -> (tensor<32x64xT>{type_}) {{
  %zero = stablehlo.constant dense<0.0> : tensor<T>
  %part = stablehlo.constant dense<0.015625> : tensor<32x64xT>
  %nought = stablehlo.constant dense<0> : tensor<i32>
  {body}
  return %x{layers}{cache} : tensor<32x64xT>{type_}
}}"""
    text = text.replace("NX", f"{layers}x")
    return text.replace("xT>", f"x{element}>").replace("<T>", f"<{element}>")


def _arrays(program: mlir_fp8.CompiledModule) -> list[np.ndarray]:
    generator = np.random.default_rng(0)
    return [
        np.ones((), spec.dtype)
        if not spec.shape
        else (generator.standard_normal(spec.shape) * 0.1).astype(spec.dtype)
        for spec in program.arguments
    ]


def _lowered(source: str | bytes, last: str, **options: Any) -> str:
    """`source` as the road has it after the last pass that begins so."""
    road = [*pipelines.to_linalg(**options), *pipelines.to_llvm()]
    place = max(place for place, name in enumerate(road) if name.startswith(last))
    module = mlir_fp8.load(source)
    run_pipeline(module, road[: place + 1])
    return str(module)


def _assert_same_bits(
    source: str | bytes, calls: int, threads: int | None = None, **options: Any
) -> None:
    lowered = _lowered(source, "stablehlo-legalize-to-linalg", **options)
    assert len(re.findall(r"call @layer_\d", lowered)) == calls
    with_layers, without = (
        mlir_fp8.compile(source, cache=False, outline_layers=is_on, threads=threads, **options)
        for is_on in (True, False)
    )
    arrays = _arrays(without)
    kept = [array.copy() for array in arrays]
    for ours, theirs in zip(with_layers(*arrays), without(*arrays), strict=True):
        assert ours.tobytes() == theirs.tobytes()
        assert np.isfinite(ours.astype(np.float32)).all()
    for array, before in zip(arrays, kept, strict=True):
        assert array.tobytes() == before.tobytes()


@pytest.mark.parametrize("element", ["f32", "bf16"])
@pytest.mark.parametrize("is_stacked", [False, True])
def test_results_are_the_same_bits(element: str, *, is_stacked: bool) -> None:
    _assert_same_bits(_model(3, element, is_stacked=is_stacked), 3, threads=2)


def test_results_are_those_of_numpy() -> None:
    program = mlir_fp8.compile(_model(3), cache=False)
    arrays = _arrays(program)
    x, bias, *weights = (array.astype(np.float64) for array in arrays)
    for v, u in zip(weights[::2], weights[1::2], strict=True):
        c = x - x.sum(1, keepdims=True) / 64
        e = np.exp(np.abs(np.cos(c @ c.T)))
        x = np.tanh(e / e.sum(1, keepdims=True) @ c @ v + bias) @ u + x
    np.testing.assert_allclose(program(*arrays)[0], x, rtol=1e-4, atol=1e-6)


def test_excess_precision_reaches_across_layers() -> None:
    """What a layer rounds last, and the next one converts, stays f32: the last one differs."""
    _assert_same_bits(_model(3, "bf16"), 2, allow_excess_precision=True)


@pytest.mark.parametrize("recipe", ["current", "delayed"])
def test_quantized_layers(recipe: str) -> None:
    made = mlir_fp8.quantize(_model(3), recipe)
    _assert_same_bits(mlir_fp8.serialize(made.module), 5)


@pytest.mark.parametrize("per", ["tensor", "channel"])
def test_layers_with_static_scales_of_their_own(per: str) -> None:
    scales = {
        f"dot{number}.{side}": np.float32(0.01 * (number + 1))
        for number in range(12)
        for side in ("lhs", "rhs")
    }
    made: Any = mlir_fp8.StaticScaling(scales)
    if per == "channel":
        calibration = mlir_fp8.Calibration(_model(3), per="channel")
        arrays = _arrays(mlir_fp8.compile(_model(3)))
        made = mlir_fp8.StaticScaling(calibration.run([arrays]))
    module = mlir_fp8.quantize(_model(3), made).module
    text = mlir_fp8.serialize(module)
    lowered = _lowered(text, "stablehlo-legalize-to-linalg")
    assert len(re.findall(r"func.func private @layer_\d", lowered)) == 1
    _assert_same_bits(text, len(re.findall(r"call @layer_\d", lowered)))


def test_stochastic_rounding_has_bits_of_its_own_in_each_layer() -> None:
    text = _model(2)
    for i in range(2):
        text = text.replace(
            f"%k{i} = stablehlo.tanh %g{i} : tensor<32x128xf32>",
            f"%q{i} = stablehlo.convert %g{i} : (tensor<32x128xf32>) -> tensor<32x128xf8E4M3FN>\n"
            f"%k{i} = stablehlo.convert %q{i} : (tensor<32x128xf8E4M3FN>) -> tensor<32x128xf32>",
        )
    _assert_same_bits(text, 2, rounding="stochastic", seed=3)
    _assert_same_bits(text, 2)


def _functions(layers: int) -> list[str]:
    options = CompileOptions(threads=1)
    module, *_ = execution.lower_to_llvm(mlir_fp8.load(_model(layers)), options)
    return re.findall(r"llvm.func (?:internal )?@(\w+)", str(module))


def test_the_code_does_not_grow_with_the_layers() -> None:
    assert _functions(2) == _functions(9)
    assert "layer_0" in _functions(9)


def test_no_buffer_is_copied_at_a_border() -> None:
    """The cache is updated in place, after one copy of the caller's; weights are read in place."""
    text = _lowered(_model(3, is_stacked=True), "buffer-results-to-out-params")
    main, layer = text.split("func.func private @layer_0")
    assert len(re.findall("call @layer_0", main)) == 3
    assert re.findall(r"memref\.copy.* to (\S+)", main) == ["memref<3x32x64xf32>"]
    assert "memref<64x128xf32>" not in re.sub(r"memref<64x128xf32, strided\S+", "", layer)
    assert "-> ()" not in layer  # no calls
    assert re.findall(r"alloc\(\).* : (memref<3x\S+)", layer) == []


def test_the_memory_of_a_layer_is_its_caller_s() -> None:
    text = _lowered(_model(3), "plan-static-memory")
    main, layer = text.split("func.func private @layer_0")
    layer = layer.split("func.func private")[0]
    assert len(re.findall(r"memref\.alloc\(", main.split("func.func @main")[1])) == 1
    assert not [size for size in re.findall(r"alloc\(\).*memref<(\S+)x", layer) if len(size) > 5]


@pytest.mark.parametrize("threads", [1, 2])
def test_libraries_have_them_once(tmp_path: Path, threads: int) -> None:
    file, output = tmp_path / "model.mlir", tmp_path / "model.so"
    file.write_text(_model(3))
    made = make_library(mlir_fp8.load(file), "model", CompileOptions(threads=threads))
    assert len(re.findall(r"^define .*@layer_0\(", made.ir_text, re.MULTILINE)) == 1
    assert len(re.findall(r"call void @layer_0\(", made.ir_text)) == 3
    command = ["--emit=shared-lib", str(file), "-o", str(output), f"--threads={threads}"]
    assert translate.main(command) == 0
    program = mlir_fp8.compile(file, cache=False, outline_layers=False)
    arrays = _arrays(program)
    result = np.empty((32, 64), np.float32)
    pointers = (ctypes.c_void_p(array.ctypes.data) for array in (*arrays, result))
    ctypes.CDLL(str(output)).model_main(*pointers)
    assert result.tobytes() == program(*arrays)[0].tobytes()


def test_code_is_found_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLIR_FP8_CACHE", "on")
    monkeypatch.setenv("MLIR_FP8_CACHE_DIR", str(tmp_path))
    text = _model(2)
    program = mlir_fp8.compile(text)
    wanted = program(*_arrays(program))[0].tobytes()
    monkeypatch.setattr(execution, "compile_module", None)
    assert mlir_fp8.compile(text)(*_arrays(program))[0].tobytes() == wanted
    with pytest.raises(mlir_fp8.Fp8Error):  # other code
        mlir_fp8.compile(text, outline_layers=False)
