"""Numbers in text that a float type has no code for are refused; every number that it has is read.

MLIR's parser would take another number for them without a word.
"""

import math
import time
from pathlib import Path

import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS, FloatFormat
from mlir_fp8.dialects.float_reference import decode, encode
from mlir_fp8.reading.float_literals import refuse_lost_literals
from mlir_fp8.reading.hlo_constants import refuse_lost_numbers
from mlir_fp8.tools.translate import main as translate

LACKING = [fmt for fmt in SMALL_FLOATS.values() if not fmt.has_infinity]
BEFORE = "func.func @main() {\n  "
AFTER = "\n  return\n}\n"


def load_constant(text: str) -> ir.Module:
    return mlir_fp8.load(f"{BEFORE}{text}{AFTER}")


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("number", "element", "reason"),
    [
        ("0.0", "f8E8M0FNU", "which has no zero: its smallest value is 0x00, 2^-127, NaN is 0xFF"),
        ("-0.0", "f8E8M0FNU", "which has no zero"),
        ("-2.0", "f8E8M0FNU", "which has no sign: its largest value is"),
        ("1.0e+39", "f8E8M0FNU", "which has no infinity: its largest value is 1.70141e"),
        ("465.0", "f8E4M3FN", "which has no infinity: its largest value is 448, NaN is 0x7F"),
        ("-248.0", "f8E4M3FNUZ", "which has no infinity: its largest value is 240, NaN is 0x80"),
        ("7.75", "f6E2M3FN", "which has no infinity: its largest value is 7.5, it has no NaN"),
        ("-1.0e9", "f4E2M1FN", "which has no infinity: its largest value is 6, it has no NaN"),
        ("nan", "f4E2M1FN", "which has no NaN"),
        ("inf", "f8E4M3FN", "which has no infinity: its largest value is 448, NaN is 0x7F"),
        ("-inf", "f6E3M2FN", "which has no infinity"),
        ("nan", "f8E4M3FN", "is not what MLIR calls it: write NaN of f8E4M3FN as 0x7F"),
        ("-inf", "bf16", "is not what MLIR calls it: write infinity of bf16 as 0xFF80"),
    ],
)
def test_what_has_no_code_is_refused(number: str, element: str, reason: str) -> None:
    forms = [
        f"%0 = stablehlo.constant dense<{number}> : tensor<2x{element}>",
        f"%0 = stablehlo.constant dense<[1.0, {number}]> : tensor<2x{element}>",
        f'%0 = "stablehlo.constant"() <{{value = dense<{number}> : tensor<{element}>}}> :',
        f"%0 = arith.constant {number} : {element}",
        f"%0 = arith.constant dense<{number}> : vector<2x{element}>",
        f"call @f() {{a = {number} : {element}}} : () -> ()",
    ]
    for form in forms:
        with pytest.raises(Fp8Error) as caught:
            load_constant(form)
        message = str(caught.value)
        assert message.startswith(f"<text>:2:{form.index(number) + 3}: {number} "), form
        assert reason in message
        assert element in message


@pytest.mark.parametrize(
    "text",
    [
        "!t = tensor<2xf8E8M0FNU>\nfunc.func @f() {\n%0 = arith.constant dense<0.0> : !t",
        "!e = f8E8M0FNU\n!t = tensor<2x!e>\n#c = dense<[1.0, 0.0]> : !t\nfunc.func private @f()",
        'memref.global "private" constant @c : memref<2xf8E8M0FNU> = dense<[1.0, 0.0]>\n',
        "#c = sparse<[[0]], [0.0]> : tensor<2xf8E8M0FNU>\nfunc.func private @f()",
        "#c = dense<(1.0, 0.0)> : tensor<2xcomplex<f8E8M0FNU>>\nfunc.func private @f()",
        "#c = dense<[[1.0],\n [0.0]]> : tensor<2x1xf8E8M0FNU>\nfunc.func private @f()",
        "%0 = mhlo.constant dense<0.0> : tensor<f8E8M0FNU>\n",
        "#c = array<f8E8M0FNU: 1.0, 0.0>\nfunc.func private @f()",
        "#c = dense <0.0>\n:\ttensor <2x f8E8M0FNU>\nfunc.func private @f()",
        "#c = dense<(1.0, 0.0)> : tensor<complex <f8E8M0FNU>>\nfunc.func private @f()",
        "!t = complex<f8E8M0FNU>\n#c = dense<(1.0, 0.0)> : tensor<2x!t>\nfunc.func private @f()",
        "#i = 1 : i8 !t = // the type\nf8E8M0FNU\n#c = 0.0 : !t\nfunc.func private @f()",
        "#c = 0.0 // : f32\n: f8E8M0FNU\nfunc.func private @f()",
        '#c = dense<[1.0, // x > "y\n 0.0]> : tensor<2xf8E8M0FNU>\nfunc.func private @f()',
        "memref.global @c\n: memref<2xf8E8M0FNU, strided<[1]>>\n= dense<0.0>\nmodule {}",
        "#c = #vhlo.float_v1<0.0 : !vhlo.f8E8M0FNU_v1>\nfunc.func private @f()",
    ],
)
def test_wherever_it_stands(text: str) -> None:
    with pytest.raises(Fp8Error, match=r"<text>:\d+:\d+: 0\.0 has no code in f8E8M0FNU"):
        mlir_fp8.load(text)


@pytest.mark.parametrize("form", ["dense<{}> : tensor<f8E8M0FNU>", "{} : f8E8M0FNU"])
@pytest.mark.parametrize("number", ["- 4.0", "-\n4.0", f"{'0' * 99}.{'0' * 99}", "// 1.0\n0.0"])
def test_spelled_at_length(form: str, number: str) -> None:
    with pytest.raises(Fp8Error, match=r"<text>:\d:\d+: (-4|0*)\.0+ has no code in f8E8M0FNU"):
        mlir_fp8.load(f"#c = {form.format(number)}\nfunc.func private @f()")


def test_blank_lines_cost_nothing() -> None:
    start = time.process_time()
    assert is_refused("\n" * 500_000 + "#c = 0.0 : f8E8M0FNU")
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    "text",
    [
        "%0 = stablehlo.constant dense<0x00> : tensor<2xf8E8M0FNU> // dense<0.0> : f8E8M0FNU",
        '%0 = arith.constant {a = "dense<0.0> : tensor<2xf8E8M0FNU>"} 1.0 : f8E8M0FNU',
        '%0 = stablehlo.constant dense<"0x00FF"> : tensor<2xf8E8M0FNU>',
        "%0 = stablehlo.constant dense<0x7F> : tensor<2xf8E4M3FN>",
        "%0 = stablehlo.constant dense<464.0> : tensor<2xf8E4M3FN>",
        "%0 = stablehlo.constant dense<-0.0> : tensor<2xf8E4M3FNUZ>",
        "%0 = stablehlo.constant dense<6.9> : tensor<2xf4E2M1FN>",
        "%0 = stablehlo.constant dense<1.0e-30> : tensor<2xf4E2M1FN>",
        "%0 = stablehlo.constant dense<1.0e9> : tensor<2xf8E5M2>",
        "%0 = stablehlo.constant dense<0.0> : tensor<2xf32>",
        "%0 = arith.constant -2.0 : f64",
        "%inf = arith.constant 1.0 : f8E4M3FN",
        "%0 = arith.constant 0.5 // dense<nan> : tensor<2xf8E4M3FN>\n : f8E4M3FN",
        '%0 = arith.constant 0.5 : f8E4M3FN loc("1.0e9 : f8E4M3FN \\"nan : f8E4M3FN")',
    ],
)
def test_what_is_right_is_read(text: str) -> None:
    load_constant(text)


@pytest.mark.parametrize("fmt", SMALL_FLOATS.values(), ids=SMALL_FLOATS)
def test_what_mlir_prints_is_read_again(fmt: FloatFormat) -> None:
    codes = ", ".join(f"0x{code:02X}" for code in range(1 << fmt.bits))
    text = f"%0 = stablehlo.constant dense<[{codes}]> : tensor<{1 << fmt.bits}x{fmt.name}>"
    module = load_constant(text)
    assert str(mlir_fp8.load(str(module))) == str(module)


@pytest.mark.parametrize("fmt", LACKING, ids=lambda fmt: fmt.name)
def test_refused_are_the_numbers_that_rounding_loses(fmt: FloatFormat) -> None:
    """Around the largest value: those that round to NaN, or where there is none, beyond it."""
    largest = float(fmt.max)
    for step in range(-40, 41):
        value = largest * (1 + step / 128)
        wide = FORMATS["f64"]
        assert decode(wide, encode(wide, value)) == value
        if fmt.has_nan:
            result = decode(fmt, encode(fmt, value))
            lost = isinstance(result, float) and math.isnan(result)
        else:
            # Half a step beyond the largest value, whose significand is odd.
            lost = value >= largest * (1 + 1 / (2 * ((2 << fmt.mantissa_bits) - 1)))
        assert is_refused(f"#c = dense<{value:.20e}> : tensor<1x{fmt.name}>") == lost, value


def is_refused(text: str) -> bool:
    try:
        refuse_lost_literals(text, "text")
    except Fp8Error:
        return True
    return False


def test_arguments_of_the_interpreter(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "id.mlir"
    file.write_text("func.func @main(%a: tensor<f8E8M0FNU>) { return }")
    arguments = "--args=[dense<0.0> : tensor<f8E8M0FNU>]"
    assert translate(["--interpret", str(file), arguments]) == 1
    captured = capsys.readouterr()
    assert "--args:1:8: error: 0.0 has no code in f8E8M0FNU" in captured.err
    assert captured.err.count("\n") == 1 and not captured.out


def test_codes_survive_where_text_would_not() -> None:
    """2^-127 in an artifact is no lost zero."""
    module = load_constant("%0 = stablehlo.constant dense<0x00> : tensor<2xf8E8M0FNU>")
    again = mlir_fp8.deserialize(mlir_fp8.serialize(module, "1.8.0"), context=make_context())
    assert "dense<5.877470e-39>" in str(again)


@pytest.mark.parametrize(
    ("number", "element"),
    [
        ("nan", "f4e2m1fn"),
        ("inf", "f8e4m3fn"),
        ("-inf", "f8e8m0fnu"),
        ("0", "f8e8m0fnu"),
        ("7", "f4e2m1fn"),
        ("1e9", "f8e4m3fnuz"),
    ],
)
@pytest.mark.parametrize(
    "constant",
    [
        "{}[1,2]{{1,0}} constant({{ /*i0=0*/ {{1, {}}} }})",
        "{}[] constant({})",
        "{} [] constant ( {} )",
        "{}[2] /*of (two*/ constant({{1,{}}})",
        "{}[2]{{0}} constant({{1, // )\n{}}})",
    ],
)
def test_hlo_text(number: str, element: str, constant: str) -> None:
    """XLA reads another number for some of these, and refuses the others without the type's own."""
    text = hlo(constant.format(element, number))
    with pytest.raises(Fp8Error) as caught:
        mlir_fp8.load(text)
    before = text[: text.rindex(number)]
    place = f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
    assert str(caught.value).startswith(f"<text>:{place}: {number} ")
    assert element.upper()[1:] in str(caught.value)


def hlo(constant: str) -> str:
    return f"HloModule m\nENTRY main {{\n  ROOT c = {constant}\n}}\n"


@pytest.mark.parametrize(
    "constant",
    [
        "f8e4m3fn[] constant(nan)",
        "f8e5m2[2] constant({1, inf})",
        "f4e2m1fn[] constant(0)",
        "f8e8m0fnu[] constant(1e30)",
        "f8e4m3fn[] constant(/*1e9*/ 1) // f8e4m3fn[] constant(1e9)",
        'f4e2m1fn[] constant(1), metadata={op_name="f4e2m1fn[] constant(7)"}',
    ],
)
def test_hlo_text_that_is_right(constant: str) -> None:
    assert "stablehlo.constant" in str(mlir_fp8.load(hlo(constant)))


@pytest.mark.parametrize("repeated", ["/*", '"', "f8e4m3fn[", "f8e4m3fn[1] constant(", "s{"])
def test_hlo_text_that_never_closes(repeated: str) -> None:
    start = time.process_time()
    refuse_lost_numbers(repeated * 100_000, "text")
    assert time.process_time() - start < 10
