"""Which values a report has, and the f32 program that it compares them with."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.compiling.entry import entry_signature
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.reporting import distance
from mlir_fp8.reporting.program import instrumented
from mlir_fp8.tools._run_random import random_arrays

MODEL = Path(__file__).parent.parent / "models" / "mlp_delayed_scaling.mlirbc"
F8 = "f8E4M3FN"
# Each with F8 for its narrow type; what is returned is the last value.
PROGRAMS = {
    "elementwise": """func.func @main(%a: tensor<8xF8>, %b: tensor<8xF8>) -> tensor<8xF8> {
      %c = stablehlo.constant dense<1.5> : tensor<8xF8>
      %0 = stablehlo.multiply %a, %b : tensor<8xF8>
      %1 = stablehlo.add %0, %c : tensor<8xF8>
      %2 = chlo.tan %1 : tensor<8xF8> -> tensor<8xF8>
      return %2 : tensor<8xF8>
    }""",
    "dot": """func.func @main(%a: tensor<4x8xF8>, %b: tensor<8x2xF8>) -> tensor<4x2xF8> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<4x8xF8>, tensor<8x2xF8>) -> tensor<4x2xF8>
      %1 = stablehlo.negate %0 : tensor<4x2xF8>
      return %1 : tensor<4x2xF8>
    }""",
    "reduce": """func.func @main(%a: tensor<64xF8>) -> tensor<F8> {
      %z = stablehlo.constant dense<0.0> : tensor<F8>
      %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0]
        : (tensor<64xF8>, tensor<F8>) -> tensor<F8>
      return %0 : tensor<F8>
    }""",
    "while": """func.func @main(%a: tensor<8xF8>) -> tensor<8xF8> {
      %n = stablehlo.constant dense<0> : tensor<i32>
      %0:2 = stablehlo.while(%i = %n, %x = %a) : tensor<i32>, tensor<8xF8>
      cond {
        %limit = stablehlo.constant dense<3> : tensor<i32>
        %1 = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %half = stablehlo.constant dense<0.75> : tensor<8xF8>
        %2 = stablehlo.add %i, %one : tensor<i32>
        %3 = stablehlo.multiply %x, %half : tensor<8xF8>
        stablehlo.return %2, %3 : tensor<i32>, tensor<8xF8>
      }
      return %0#1 : tensor<8xF8>
    }""",
    "moved": """func.func @main(%a: tensor<8xF8>, %b: tensor<8xF8>) -> tensor<16xF8> {
      %0 = stablehlo.compare GT, %a, %b : (tensor<8xF8>, tensor<8xF8>) -> tensor<8xi1>
      %1 = stablehlo.select %0, %a, %b : tensor<8xi1>, tensor<8xF8>
      %2 = "stablehlo.sort"(%1) ({
        ^bb0(%x: tensor<F8>, %y: tensor<F8>):
          %3 = stablehlo.compare LT, %x, %y : (tensor<F8>, tensor<F8>) -> tensor<i1>
          stablehlo.return %3 : tensor<i1>
      }) {dimension = 0 : i64} : (tensor<8xF8>) -> tensor<8xF8>
      %4 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<8xF8>, tensor<8xF8>) -> tensor<16xF8>
      return %4 : tensor<16xF8>
    }""",
    "calls": """func.func @main(%a: tensor<8xF8>) -> tensor<8xF8> {
      %0 = call @twice(%a) : (tensor<8xF8>) -> tensor<8xF8>
      return %0 : tensor<8xF8>
    }
    func.func private @twice(%a: tensor<8xF8>) -> tensor<8xF8> {
      %0 = call @once(%a) : (tensor<8xF8>) -> tensor<8xF8>
      %1 = call @once(%0) : (tensor<8xF8>) -> tensor<8xF8>
      return %1 : tensor<8xF8>
    }
    func.func private @once(%a: tensor<8xF8>) -> tensor<8xF8> {
      %0 = stablehlo.sine %a : tensor<8xF8>
      return %0 : tensor<8xF8>
    }""",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("element", [F8, "bf16"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_both_programs_compute_what_compile_does(program: str, element: str) -> None:
    narrow = mlir_fp8.load(PROGRAMS[program].replace("F8", element))
    wide = mlir_fp8.load(PROGRAMS[program].replace("F8", "f32"))
    takes, _ = entry_signature(narrow)
    arrays = random_arrays(takes, 0)
    found = instrumented(narrow, "main", "narrow")
    last = len(found.values) - 1
    (strict,) = found.strict.run([last], arrays, saturate=False)
    (twin,) = found.twin.run([last], arrays, saturate=False)
    (expected,) = mlir_fp8.compile(narrow)(*arrays)
    in_f32 = [array.astype(np.float32) if array.dtype.itemsize < 4 else array for array in arrays]
    (reference,) = mlir_fp8.compile(wide)(*in_f32)
    assert strict.dtype == expected.dtype and strict.tobytes() == expected.tobytes()
    assert twin.dtype == np.float32 and twin.tobytes() == reference.tobytes()


def test_names_are_paths_of_calls() -> None:
    found = instrumented(mlir_fp8.load(PROGRAMS["calls"].replace("F8", F8)), "main", "text")
    assert [each.names for each in found.values] == [
        ("%arg0",),
        ("%0@twice/%0", "%0@twice/%0@once/%0"),
        ("%0", "%0@twice/%1", "%0@twice/%1@once/%0"),
    ]
    assert [each.op for each in found.values] == ["argument", "stablehlo.sine", "stablehlo.sine"]


def test_every_float_value_of_a_model_is_in_it() -> None:
    module = mlir_fp8.load(MODEL)
    takes, _ = entry_signature(module)
    found = mlir_fp8.report(module, *random_arrays(takes, 0))
    with module.context:
        main = module.body.operations[0].operation
        state = ir.AsmState(main)
        block = main.regions[0].blocks[0]
        names = {
            value.get_name(state)
            for op in (block, *block.operations)
            for value in (op.arguments if op is block else op.results)
            if isinstance(ir.ShapedType(value.type).element_type, ir.FloatType)
        }
    assert names <= {name for each in found.values for name in each.value.names}
    run_pipeline(module, ["inline{default-pipeline=}", "symbol-dce"])
    with module.context:
        block = module.body.operations[0].operation.regions[0].blocks[0]
        types = [value.type for op in block.operations for value in op.results]
        types += [argument.type for argument in block.arguments]
    floats = [each for each in types if isinstance(ir.ShapedType(each).element_type, ir.FloatType)]
    assert len(found.values) == len(floats)
    reasons = {each.reason: each.values for each in found.left_out}
    assert reasons["i1 is not a float"] == 1
    assert any("regions of stablehlo.reduce" in reason for reason in reasons)


def test_batches_give_the_same_report(monkeypatch: pytest.MonkeyPatch) -> None:
    module = mlir_fp8.load(PROGRAMS["elementwise"].replace("F8", F8))
    arrays = random_arrays([TensorSpec((8,), F8)] * 2, 1)
    whole = mlir_fp8.report(module, *arrays).to_json()
    monkeypatch.setattr("mlir_fp8.reporting.report._BATCH_BYTES", 1)
    assert mlir_fp8.report(module, *arrays).to_json() == whole


def test_sqnr_is_to_the_program_in_f32() -> None:
    text = f"""func.func @main(%a: tensor<99xf32>) -> tensor<99xf32> {{
      %0 = stablehlo.convert %a : (tensor<99xf32>) -> tensor<99x{F8}>
      %1 = stablehlo.convert %0 : (tensor<99x{F8}>) -> tensor<99xf32>
      %2 = stablehlo.multiply %1, %1 : tensor<99xf32>
      return %2 : tensor<99xf32>
    }}"""
    array = np.random.default_rng(0).standard_normal(99).astype(np.float32)
    found = mlir_fp8.report(text, array)
    narrow = array.astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
    reference, got = ((each * each).astype(np.float64) for each in (array, narrow))
    expected = 10 * np.log10((reference**2).sum() / ((got - reference) ** 2).sum())
    assert found.values[-1].sqnr.db == pytest.approx(expected, rel=1e-9)
    assert found.values[0].sqnr.kind == distance.EQUAL
    assert found.worst_first()[0] is found.values[-1]


def test_roundings_that_are_no_converts_are_identities() -> None:
    text = """func.func @main(%a: tensor<9x9xf32>) -> tensor<9x9xf32> {
      %0 = stablehlo.reduce_precision %a, format = e4m3 : tensor<9x9xf32>
      %1 = stablehlo.dot_general %0, %a, contracting_dims = [1] x [0],
        algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16,
        accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,
        num_primitive_operations = 1, allow_imprecise_accumulation = false>
        : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xf32>
      return %1 : tensor<9x9xf32>
    }"""
    array = np.random.default_rng(0).standard_normal((9, 9)).astype(np.float32)
    found = instrumented(mlir_fp8.load(text), "main", "text")
    rounded, product = found.twin.run([1, 2], [array], saturate=False)
    assert rounded.tobytes() == array.tobytes()
    dot = text.replace("%0, %a", "%a, %a").replace("= bf16", "= f32")
    (expected,) = mlir_fp8.compile(dot)(array)
    assert product.tobytes() == expected.tobytes()


def test_codes_stay_what_they_are() -> None:
    text = f"""func.func @main(%a: tensor<4xf32>) -> tensor<4x{F8}> {{
      %0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4x{F8}>
      %1 = stablehlo.bitcast_convert %0 : (tensor<4x{F8}>) -> tensor<4xi8>
      %2 = stablehlo.bitcast_convert %1 : (tensor<4xi8>) -> tensor<4x{F8}>
      return %2 : tensor<4x{F8}>
    }}"""
    found = mlir_fp8.report(text, np.array([1.01, 2.01, 3.01, 4.01], np.float32))
    assert found.values[1].sqnr.kind == distance.FINITE
    assert found.values[2].sqnr.kind == distance.EQUAL
    assert [note.partition(":")[0] for note in found.notes] == ["%1", "%2"]


def test_fp8_convert_is_a_rounding() -> None:
    text = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf8E4M3FN> {
      %0 = "fp8.convert"(%a) {rounding = "toward_zero", saturate}
        : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
      return %0 : tensor<4xf8E4M3FN>
    }"""
    array = np.array([1.1, 2.0**-10, 1000.0, -3.0], np.float32)
    found = mlir_fp8.report(text, array).values[-1]
    assert found.rounding is not None
    assert found.rounding.before.amax == 1000
    losses = found.rounding.losses
    assert (losses.overflow, losses.underflow, losses.no_code) == (1, 1, 0)
    assert found.sqnr == found.rounding.sqnr
    assert found.codes.saturated == 1


def test_random_numbers_are_the_same_in_both_programs() -> None:
    text = """func.func @main() -> tensor<9xbf16> {
      %a = stablehlo.constant dense<0.0> : tensor<bf16>
      %b = stablehlo.constant dense<1.0> : tensor<bf16>
      %n = stablehlo.constant dense<9> : tensor<1xi64>
      %0 = stablehlo.rng %a, %b, %n, distribution = UNIFORM
        : (tensor<bf16>, tensor<bf16>, tensor<1xi64>) -> tensor<9xbf16>
      return %0 : tensor<9xbf16>
    }"""
    found = mlir_fp8.report(text)
    assert found.values[-1].sqnr.kind == distance.EQUAL
    assert found.values[-1].after.zero < 9
    assert "stablehlo.rng stays on a narrow float" in found.notes[0]


def test_composites_are_calls() -> None:
    text = """func.func @main(%a: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
      %0 = stablehlo.composite "my.sine" %a {decomposition = @sine}
        : (tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
      return %0 : tensor<4xf8E5M2>
    }
    func.func private @sine(%a: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
      %0 = stablehlo.sine %a : tensor<4xf8E5M2>
      return %0 : tensor<4xf8E5M2>
    }"""
    found = mlir_fp8.report(text, np.arange(4).astype(ml_dtypes.float8_e5m2))
    assert [each.value.op for each in found.values] == ["argument", "stablehlo.sine"]
    assert found.values[1].value.names == ("%0", "%0@sine/%0")


def test_other_dialects_have_no_program_in_f32() -> None:
    text = """func.func @main(%a: tensor<4xbf16>) -> tensor<4xbf16> {
      %c = arith.constant dense<1.0> : tensor<4xbf16>
      %0 = stablehlo.add %a, %c : tensor<4xbf16>
      return %0 : tensor<4xbf16>
    }"""
    array = np.ones(4, ml_dtypes.bfloat16)
    assert len(mlir_fp8.report(text, array).values) == 3
    with pytest.raises(mlir_fp8.Fp8Error, match=r"'arith\.addf' on bf16 cannot be made one on f32"):
        mlir_fp8.report(text.replace("stablehlo.add", "arith.addf"), array)


def test_entry_that_others_call_and_no_values() -> None:
    text = """func.func @other(%a: tensor<2xbf16>) -> tensor<2xbf16> {
      %0 = call @main(%a) : (tensor<2xbf16>) -> tensor<2xbf16>
      return %0 : tensor<2xbf16>
    }
    func.func @main(%a: tensor<2xbf16>) -> tensor<2xbf16> {
      return %a : tensor<2xbf16>
    }
    func.func @none() { return }"""
    arrays = [np.ones(2, ml_dtypes.bfloat16)]
    assert len(mlir_fp8.report(text, *arrays).values) == 1
    assert len(mlir_fp8.report(text, *arrays, entry="other").values) == 1
    nothing = mlir_fp8.report(text, entry="none")
    assert json.loads(nothing.to_json())["values"] == []
    assert "<tbody>\n</tbody>" in nothing.to_html()


CUSTOM_CALL = """func.func @main(%a: tensor<2xf32>) -> tensor<2xi32> {
  %0 = stablehlo.custom_call @unknown(%a) : (tensor<2xf32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}"""


@pytest.mark.parametrize("entry", ["main", "missing"])
def test_refuses_as_compile_does(entry: str) -> None:
    array = np.zeros(2, np.float32)
    with pytest.raises(mlir_fp8.Fp8Error) as refusal:
        mlir_fp8.compile(CUSTOM_CALL, entry=entry)
    with pytest.raises(mlir_fp8.Fp8Error) as error:
        mlir_fp8.report(CUSTOM_CALL, array, entry=entry)
    assert str(error.value) == str(refusal.value)


def test_arrays_of_another_type_are_refused() -> None:
    text = "func.func @main(%a: tensor<2xf32>) { return }"
    with pytest.raises(mlir_fp8.Fp8Error, match="argument 0 is tensor<2xf64>, declared"):
        mlir_fp8.report(text, np.zeros(2))
    with pytest.raises(mlir_fp8.Fp8Error, match="takes 1 arguments, 0 were given"):
        mlir_fp8.report(text)
