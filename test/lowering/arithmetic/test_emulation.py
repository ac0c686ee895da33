"""Small floats emulated for consumers that do not know them: same bits, and the way back."""

import numpy as np
import pytest
from emulated_programs import (
    COUNT,
    WIDE,
    arithmetic,
    arithmetic_inputs,
    control_flow,
    conversions,
    hard_numbers,
)
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.base.isolation import call_isolated
from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS
from mlir_fp8.passes.pass_pipeline import run_pipeline

OLDEST = "0.9.0"
EMULATED = [name for name, fmt in SMALL_FLOATS.items() if fmt.stablehlo_version != OLDEST]


def compiled_three_ways(text: str) -> list[mlir_fp8.CompiledModule]:
    """As written; through an artifact of the oldest version as ui8; and raised from that."""
    module = ir.Module.parse(text, make_context())
    artifact = mlir_fp8.serialize(module, OLDEST, emulate=True)
    return [
        mlir_fp8.compile(module),
        mlir_fp8.compile(mlir_fp8.deserialize(artifact)),
        mlir_fp8.compile(mlir_fp8.deserialize(artifact, raise_emulation=True)),
    ]


def assert_same_bits(text: str, arrays: list[np.ndarray]) -> None:
    """`arrays` hold codes as uint8."""
    original, emulated, raised = compiled_three_ways(text)
    assert raised.arguments == original.arguments
    assert raised.results == original.results
    want = original(*as_declared(original, arrays))
    for program in (emulated, raised):
        got = program(*as_declared(program, arrays))
        for index, (one, other) in enumerate(zip(want, got, strict=True)):
            np.testing.assert_array_equal(bits(one), bits(other), f"result {index}")


def as_declared(program: mlir_fp8.CompiledModule, arrays: list[np.ndarray]) -> list[np.ndarray]:
    specs = zip(program.arguments, arrays, strict=True)
    return [a.view(spec.dtype) if a.dtype == np.uint8 else a for spec, a in specs]


def bits(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1).view(np.uint8)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", EMULATED)
def test_conversions(name: str) -> None:
    fmt = FORMATS[name]
    numbers = hard_numbers(fmt)
    codes = np.arange(COUNT, dtype=np.uint8) & ((1 << fmt.bits) - 1)
    with np.errstate(over="ignore"):
        arrays = [codes, *(numbers.astype(FORMATS[wide].dtype) for wide in WIDE)]
    assert_same_bits(conversions(fmt), arrays)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", EMULATED)
def test_arithmetic_and_movement(name: str) -> None:
    fmt = FORMATS[name]
    assert_same_bits(arithmetic(fmt), arithmetic_inputs(fmt))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["f8E4M3", "f8E5M2FNUZ", "f8E8M0FNU", "f6E2M3FN", "f4E2M1FN"])
def test_control_flow(name: str) -> None:
    module = ir.Module.parse(control_flow(FORMATS[name]), make_context())
    artifact = mlir_fp8.serialize(module, OLDEST, emulate=True)
    want = interpreted(module)
    assert interpreted(mlir_fp8.deserialize(artifact)) == want
    assert interpreted(mlir_fp8.deserialize(artifact, raise_emulation=True)) == want


def interpreted(module: ir.Module) -> bytes:
    """The results, as the StableHLO interpreter prints them."""

    def work() -> bytes:
        return "\n".join(map(str, _stablehlo.eval_module(module, []))).encode()

    return call_isolated(work, seconds=60)


def test_only_what_the_target_lacks() -> None:
    codes = f"tensor<{COUNT}xf8E4M3>", f"tensor<{COUNT}xf4E2M1FN>"
    module = ir.Module.parse(
        f"""func.func @main(%a: {codes[0]}) -> {codes[1]} {{
          %0 = stablehlo.add %a, %a : {codes[0]}
          %1 = stablehlo.convert %0 : ({codes[0]}) -> {codes[1]}
          return %1 : {codes[1]}
        }}""",
        make_context(),
    )
    text = str(mlir_fp8.deserialize(mlir_fp8.serialize(module, "1.7.0", emulate=True)))
    assert f"stablehlo.add %arg0, %arg0 : {codes[0]}" in text
    assert "mlir_fp8.convert.f32.f4E2M1FN" in text
    assert "mlir_fp8.convert.f8E4M3" not in text
    unchanged = mlir_fp8.serialize(module, "1.8.0", emulate=True)
    assert unchanged == mlir_fp8.serialize(module, "1.8.0")


def test_the_module_itself_stays() -> None:
    module = ir.Module.parse(arithmetic(FORMATS["f6E3M2FN"]), make_context())
    before = str(module)
    mlir_fp8.serialize(module, OLDEST, emulate=True)
    assert str(module) == before


def test_dynamic_shapes() -> None:
    """Refined by the consumer, as JAX's shape-polymorphic exports are."""
    text = """func.func @main(%a: tensor<?x4xf8E3M4>, %x: tensor<?x4xf64>)
        -> (tensor<?x4xf32>, tensor<?x4xf8E3M4>) {
      %0 = stablehlo.convert %a : (tensor<?x4xf8E3M4>) -> tensor<?x4xf32>
      %1 = stablehlo.convert %x : (tensor<?x4xf64>) -> tensor<?x4xf8E3M4>
      return %0, %1 : tensor<?x4xf32>, tensor<?x4xf8E3M4>
    }"""
    module = ir.Module.parse(text, make_context())
    module = mlir_fp8.deserialize(mlir_fp8.serialize(module, OLDEST, emulate=True))
    refine = "types=tensor<64x4xui8>,tensor<64x4xf64>"
    run_pipeline(module, [f"stablehlo-refine-arguments{{{refine}}}", "stablehlo-refine-shapes"])
    run_pipeline(module, ["func.func(stablehlo-canonicalize-dynamism)"])
    emulated = mlir_fp8.compile(module)
    original = mlir_fp8.compile(text.replace("?x4", "64x4"))
    arrays = [
        np.arange(COUNT, dtype=np.uint8).reshape(64, 4),
        np.random.default_rng(0).standard_normal((64, 4)) * 4,
    ]
    want = original(*as_declared(original, arrays))
    got = emulated(*as_declared(emulated, arrays))
    assert [bits(each).tolist() for each in got] == [bits(each).tolist() for each in want]
