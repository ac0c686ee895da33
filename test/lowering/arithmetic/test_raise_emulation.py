"""Emulated modules that someone changed: refused where the marks no longer fit, never guessed."""

import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.passes.pass_pipeline import run_pipeline

PROGRAM = """
func.func @main(%a: tensor<4xf8E4M3>, %f: tensor<4xf32>) -> (tensor<4xf8E4M3>, tensor<4xf32>) {
  %0 = stablehlo.convert %f : (tensor<4xf32>) -> tensor<4xf8E4M3>
  %1 = stablehlo.concatenate %a, %0, dim = 0
    : (tensor<4xf8E4M3>, tensor<4xf8E4M3>) -> tensor<8xf8E4M3>
  %2 = stablehlo.slice %1 [2:6] : (tensor<8xf8E4M3>) -> tensor<4xf8E4M3>
  %3 = stablehlo.convert %2 : (tensor<4xf8E4M3>) -> tensor<4xf32>
  return %2, %3 : tensor<4xf8E4M3>, tensor<4xf32>
}"""
ADVICE = "the module was changed since it was emulated; do not raise it"

ARGUMENT = '%arg0: tensor<4xui8> {mlir_fp8.emulated = "f8E4M3"}'
CONCATENATE = '%1 = stablehlo.concatenate %arg0, %0, dim = 0 {mlir_fp8.emulated = ["f8E4M3"]}'
ENCODER = '(tensor<4xui8> {mlir_fp8.emulated = "f8E4M3"}) attributes'


def emulated(text: str) -> str:
    module = ir.Module.parse(text, make_context())
    run_pipeline(module, ["stablehlo-emulate-small-floats"])
    return str(module)


def raised(text: str) -> str:
    module = ir.Module.parse(text, make_context())
    run_pipeline(module, ["stablehlo-raise-emulation"])
    return str(module)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        # A mark that is gone, on an argument and on an op.
        (ARGUMENT, "%arg0: tensor<4xui8>", "'stablehlo.concatenate'"),
        (CONCATENATE, "%1 = stablehlo.concatenate %arg0, %0, dim = 0", "'stablehlo.concatenate'"),
        # Marks that contradict each other.
        (ARGUMENT, ARGUMENT.replace("E4M3", "E3M4"), "'stablehlo.concatenate'"),
        (ENCODER, ENCODER.replace("E4M3", "E3M4"), "does not compute the stablehlo.convert"),
        # A function that computes something else.
        ("dense<2147483647>", "dense<2147483646>", "does not compute the stablehlo.convert"),
        # Marks that are none.
        (ARGUMENT, ARGUMENT.replace('"f8E4M3"', '"f8E4M3,_"'), "marks more than tensor<4xf8E4M3>"),
        (ARGUMENT, ARGUMENT.replace('"f8E4M3"', '"f7"'), "marks ui8 as f7"),
        (ARGUMENT, ARGUMENT.replace('"f8E4M3"', "3"), "has 3 : i64 for a mark"),
        (CONCATENATE, CONCATENATE.replace('["f8E4M3"]', '["_", "_"]'), "2 marks for 1 values"),
        (CONCATENATE, CONCATENATE.replace('["f8E4M3"]', '"f8E4M3"'), "for a list of marks"),
        ('"stablehlo.convert"', '"stablehlo.add"', "stands for stablehlo.add"),
        (' attributes {mlir_fp8.emulates = "stablehlo.convert"}', "", "does not say what"),
        # Arithmetic on codes, which is not arithmetic on what they stand for.
        (
            "%3 = call @mlir_fp8.convert.f8E4M3.f32.4(%2) :",
            "%3 = stablehlo.convert %2 :",
            "'stablehlo.convert' has no form on codes of f8E4M3",
        ),
    ],
)
def test_changed_modules_are_refused(old: str, new: str, reason: str) -> None:
    text = emulated(PROGRAM)
    assert old in text
    assert_refused(text.replace(old, new, 1), reason)


def assert_refused(text: str, reason: str) -> None:
    with pytest.raises(mlir_fp8.Fp8Error) as error:
        raised(text)
    message = str(error.value)
    assert reason in message
    assert message.endswith(ADVICE)
    assert "\n" not in message


def test_only_ui8_is_restored() -> None:
    argument = '%a: tensor<4xi8> {mlir_fp8.emulated = "f8E4M3"}'
    assert_refused(f"func.func @main({argument}) {{ return }}", "marks i8 as f8E4M3")


def test_other_modules_stay() -> None:
    text = str(ir.Module.parse(PROGRAM, make_context()))
    assert raised(text) == text


def test_what_was_added_to_an_emulated_module_stays() -> None:
    """Unmarked ui8 are numbers, also where they come from codes by a bitcast."""
    text = emulated(PROGRAM).replace(
        "return %2, %3",
        "%b = stablehlo.bitcast_convert %2 : (tensor<4xui8>) -> tensor<4xui8>\n"
        "%sum = stablehlo.add %b, %b : tensor<4xui8>\nreturn %2, %3",
    )
    assert "stablehlo.bitcast_convert %2 : (tensor<4xf8E4M3>) -> tensor<4xui8>" in raised(text)


def test_nested_modules() -> None:
    inner = f"module @a {{ {PROGRAM} }}\nmodule @b {{ {PROGRAM} }}"
    text = str(ir.Module.parse(inner, make_context()))
    assert "emulated" in emulated(inner)
    assert raised(emulated(inner)) == text


@pytest.mark.parametrize("name", ["accumulate-in-f32", "float-normalization"])
def test_formats_limit_the_passes(name: str) -> None:
    text = """
    func.func @main(%a: tensor<4x4xf8E4M3>, %b: tensor<4x4xbf16>) -> tensor<4x4xf8E4M3> {
      %0 = OP %a, %a : tensor<4x4xf8E4M3>
      %1 = OP %b, %b : tensor<4x4xbf16>
      return %0 : tensor<4x4xf8E4M3>
    }"""
    op = "stablehlo.multiply" if name == "float-normalization" else "stablehlo.dot"
    if op == "stablehlo.dot":
        for element in ("f8E4M3", "bf16"):
            t = f"tensor<4x4x{element}>"
            text = text.replace(f"%b : {t}", f"%b : ({t}, {t}) -> {t}")
            text = text.replace(f"%a : {t}", f"%a : ({t}, {t}) -> {t}")
    module = ir.Module.parse(text.replace("OP", op), make_context())
    run_pipeline(module, [f"{name}{{formats=f8E4M3,f8E5M2}}"])
    assert "f32" in str(module)
    assert "(tensor<4x4xbf16>) -> tensor<4x4xf32>" not in str(module)
    with pytest.raises(mlir_fp8.Fp8Error, match="'f8' in option 'formats' is not one of f8E5M2, "):
        run_pipeline(module, [f"{name}{{formats=f8}}"])
