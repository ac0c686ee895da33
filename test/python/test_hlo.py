"""HLO text and protocol buffers."""

import math
import os
from pathlib import Path

import numpy as np
import pytest
from kernel_products import without_tiles
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import restored
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.reading import xla_hlo
from mlir_fp8.reading.hlo import hlo_proto, hlo_text, parse_hlo_proto, parse_hlo_text

MODELS = Path(__file__).parent.parent / "models"
CASTS = """\
HloModule casts, entry_computation_layout={(f8e4m3fn[2,3]{1,0})->f8e5m2[2,3]{1,0}}

ENTRY main {
  p = f8e4m3fn[2,3]{1,0} parameter(0)
  c = f32[2,3]{1,0} convert(p)
  ROOT r = f8e5m2[2,3]{1,0} convert(c)
}
"""
# XLA crashes on constants of these.
WITHOUT_CONSTANTS = {"f6E2M3FN", "f6E3M2FN"}


def constant_module(element: str, codes: np.ndarray) -> ir.Module:
    values = f'dense<"0x{codes.tobytes().hex()}">'
    type_ = f"tensor<{codes.size}x{element}>"
    return mlir_fp8.load(
        f"func.func @main() -> {type_} {{\n  %0 = stablehlo.constant {values} : {type_}\n"
        f"  return %0 : {type_}\n}}\n"
    )


def bits(array: np.ndarray) -> bytes:
    return np.ascontiguousarray(array).tobytes()


@pytest.mark.parametrize(
    "model",
    [
        "mlp_delayed_scaling",
        pytest.param("transformer_forward", marks=pytest.mark.exhaustive),
        pytest.param("transformer_train_step", marks=pytest.mark.exhaustive),
    ],
)
def test_models_give_the_same_values_after_a_round_trip(model: str) -> None:
    module = mlir_fp8.load(MODELS / f"{model}.mlir")
    before = str(module)
    through_text = mlir_fp8.load(hlo_text(module))
    assert str(module) == before
    arguments = [array for _, array in restored(np.load(MODELS / f"{model}.in.npz"))]
    # Ops come in another order, and fuse with others: tiles may then multiply other products.
    with without_tiles():
        expected = mlir_fp8.compile(module)(*arguments)
        results = mlir_fp8.compile(through_text)(*arguments)
    assert [bits(each) for each in results] == [bits(each) for each in expected]


def test_protocol_buffers_go_both_ways() -> None:
    module = mlir_fp8.load(MODELS / "mlp_delayed_scaling.mlir")
    through_text = mlir_fp8.load(hlo_text(module))
    assert str(parse_hlo_proto(hlo_proto(module), "proto")) == str(through_text)


def test_load_tells_hlo_text_by_its_first_word(tmp_path: Path) -> None:
    file = tmp_path / "casts.hlo"
    file.write_text(f"// a comment\n/* another\n*/ {CASTS}")
    for source in (file, CASTS, CASTS.encode()):
        text = str(mlir_fp8.load(source))
        assert "(%arg0: tensor<2x3xf8E4M3FN>) -> tensor<2x3xf8E5M2>" in text


@pytest.mark.sampled(12)
@pytest.mark.parametrize("element", [e for e in FORMATS if e not in WITHOUT_CONSTANTS])
def test_constants_keep_every_code(element: str) -> None:
    fmt = FORMATS[element]
    dtype = f"uint{fmt.storage_bits}"
    if fmt.bits <= 16:
        codes = np.arange(1 << fmt.bits).astype(dtype)
    else:
        codes = np.random.default_rng(0).integers(0, 1 << fmt.bits, 5000, np.uint64).astype(dtype)
        codes[:2] = 0, 1 << (fmt.bits - 1)
    module = constant_module(element, codes)
    text = hlo_text(module)
    assert mlir_fp8.interpret(mlir_fp8.load(text))[0].tobytes() == codes.tobytes()
    # What XLA prints itself, where -0 stands for -0.0.
    plain = text.replace("-0.0,", "-0,").replace("-0.0}", "-0}")
    assert mlir_fp8.interpret(mlir_fp8.load(plain))[0].tobytes() == codes.tobytes()


def test_minus_zero_in_strings_and_names_stays() -> None:
    text = CASTS.replace("convert(p)", 'convert(p), metadata={op_name="a -0 b"}')
    assert "a -0 b" in str(mlir_fp8.load(text).operation.get_asm(enable_debug_info=True))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CASTS.replace("parameter(0)", "parameter(0"),
         "x.hlo:5:3: expects ')' after parameter number"),
        (CASTS.replace("convert(p)", "covert(p)"),
         "x.hlo:5:21: expects opcode but sees: covert, error: Unknown opcode: covert"),
        ("HloModule casts\n", "x.hlo:2:1: expects name"),
        (CASTS.replace("c = f32[2,3]{1,0} convert(p)", "c = f32[99]{0} constant({...})"),
         "x.hlo:5:18: the constant's values were left out when this was printed: "
         "print it with its large constants"),
        (CASTS.replace("f32[2,3]{1,0} convert(p)", "f32[3]{0} add(p, p)"),
         "x.hlo: c: 'stablehlo.add' op requires the same shape for all operands and results"),
    ],
)  # fmt: skip
def test_damaged_text_is_one_line(text: str, message: str) -> None:
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        parse_hlo_text(text.encode(), "x.hlo")
    assert str(caught.value) == message


@pytest.mark.parametrize("data", [b"", b"abc", b"\x0a\x03foo", bytes(range(200)), b"\xff" * 99])
def test_damaged_protocol_buffers_are_one_line(data: bytes) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^x\.pb: [^\n]+$"):
        parse_hlo_proto(data, "x.pb")


def test_a_crash_of_xla_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xla_hlo, "text_of_artifact", lambda *_: os.abort())
    module = constant_module("f32", np.arange(4, dtype=np.uint32))
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^module: XLA's conversion failed: [^\n]+$"):
        hlo_text(module)


@pytest.mark.parametrize("element", sorted(WITHOUT_CONSTANTS))
def test_xla_has_no_constants_of_f6(element: str) -> None:
    module = constant_module(element, np.arange(4, dtype=np.uint8))
    for write in (hlo_text, hlo_proto):
        with pytest.raises(mlir_fp8.Fp8Error) as caught:
            write(module, "x.mlir")
        assert str(caught.value) == (
            f"x.mlir:2:8: 'stablehlo.constant' is of {element}: XLA has no constants of f6 types: "
            "make it an argument"
        )


@pytest.mark.sampled(5)
@pytest.mark.parametrize("type_", ["c64", "c128"])
@pytest.mark.parametrize("pair", ["(nan, 1)", "(-0.0, nan(0x401234))", "(-nan, -0.0)"])
@pytest.mark.parametrize("count", [1, 300])
def test_complex_nan_in_text_is_refused(type_: str, pair: str, count: int) -> None:
    values = ", ".join(["(1, 2)"] * (count - 1) + [pair])
    text = f"HloModule f\n\nENTRY main {{\n  ROOT c = {type_}[{count}] constant({{{values}}})\n}}\n"
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        parse_hlo_text(text.encode(), "x.hlo")
    assert str(caught.value) == (
        "x.hlo: c: a complex constant with a NaN part, of which XLA's parser loses the other part: "
        "read it as a protocol buffer"
    )
    finite = text.replace("nan(0x401234)", "inf").replace("nan", "inf")
    (result,) = mlir_fp8.interpret(mlir_fp8.load(finite))
    assert not np.isnan(result.view(f"float{int(type_[1:]) // 2}")).any()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("bits_", [32, 64])
@pytest.mark.parametrize("count", [1, 2, 300])
def test_complex_nan_is_written_as_a_protocol_buffer_only(bits_: int, count: int) -> None:
    parts = np.ones((300, 2), f"float{bits_}")[:count]
    parts[-1] = np.nan, 3
    type_ = f"tensor<{count}xcomplex<f{bits_}>>"
    values = f'dense<"0x{parts.tobytes().hex()}">'
    module = mlir_fp8.load(
        f"func.func @main() -> {type_} {{\n  %0 = stablehlo.constant {values} : {type_}\n"
        f"  return %0 : {type_}\n}}\n"
    )
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        hlo_text(module, "x.mlir")
    assert str(caught.value) == (
        "x.mlir:2:8: 'stablehlo.constant' is complex with a NaN part, which HLO text does not "
        "keep: write it as a protocol buffer"
    )
    (result,) = mlir_fp8.interpret(parse_hlo_proto(hlo_proto(module), "x.pb"))
    assert result.tobytes() == parts.tobytes()


def test_a_module_without_main_is_an_error() -> None:
    module = mlir_fp8.load("func.func @other() {\n  return\n}\n")
    with pytest.raises(mlir_fp8.Fp8Error, match="requires module with `main` function"):
        hlo_text(module)


def test_functions_that_only_chlo_has() -> None:
    array = np.array([-1.5, -0.25, 0.5, 2.0], np.float32)
    for op in ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "sinh"):
        lines = f"  p = f32[4]{{0}} parameter(0)\n  ROOT r = f32[4]{{0}} {op}(p)\n"
        text = f"HloModule f\n\nENTRY main {{\n{lines}}}\n"
        module = mlir_fp8.load(text)
        assert f"chlo.{op} %arg0" in str(module)
        assert "custom-call" not in hlo_text(module)
        assert op != "erf" or " erf(" in hlo_text(module)
    (result,) = mlir_fp8.compile(mlir_fp8.load(text.replace("sinh", "erf")))(array)
    expected = [math.erf(value) for value in array]
    assert np.allclose(result, expected, rtol=1e-6)


def test_top_k_both_ways() -> None:
    types = "tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)"
    module = mlir_fp8.load(
        "func.func @main(%a: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>) {\n"
        f"  %0:2 = chlo.top_k(%a, k = 2) : {types}\n"
        "  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>\n}\n"
    )
    before = str(module)
    text = hlo_text(module)
    assert str(module) == before
    assert "topk(" in text
    assert "chlo.top_k" in str(mlir_fp8.load(text))
