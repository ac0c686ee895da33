"""The reference interpreter in a child process, and the checks of StableHLO's own tests."""

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import TensorSpec, element_dtype
from mlir_fp8.base.context import make_context
from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS
from mlir_fp8.interpreter.check_syntax import check_ops_to_custom_calls
from mlir_fp8.interpreter.checks import ulp_distance
from mlir_fp8.interpreter.run import register_interpreter_dialect

E4M3FN = ml_dtypes.float8_e4m3fn


def body(lines: str, arguments: str = "", result: str = "") -> str:
    """A main function of these lines; `result` is `%value : type`."""
    value, _, type_ = result.partition(" : ")
    arrow = f" -> {type_}" if type_ else ""
    end = f"return {value} : {type_}" if type_ else "return"
    return f"func.func @main({arguments}){arrow} {{\n{lines}\n  {end}\n}}\n"


def run(text: str, *arrays: object, **options: object) -> tuple[np.ndarray, ...]:
    module = mlir_fp8.load(check_ops_to_custom_calls(text))
    before = str(module)
    try:
        return mlir_fp8.interpret(module, *arrays, **options)  # type: ignore[arg-type]
    finally:
        assert str(module) == before


def failure(text: str, *arrays: object, **options: object) -> str:
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        run(text, *arrays, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.sampled(11)
@pytest.mark.parametrize(
    "element", [*FORMATS, "i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64",
                "complex<f32>", "complex<f64>"]
)  # fmt: skip
def test_arrays_pass_with_their_bits(element: str) -> None:
    dtype = element_dtype(element)
    generator = np.random.default_rng(0)
    if element in FORMATS:
        fmt = FORMATS[element]
        codes = generator.integers(0, 1 << fmt.bits, 300, np.uint64)
        array = codes.astype(f"uint{fmt.storage_bits}").view(dtype)
    else:
        array = generator.integers(0, 2, 300).astype(dtype)
    for each in (array.reshape(3, 100), array[:0].reshape(0, 2), array[:1].reshape(())):
        type_ = TensorSpec(each.shape, element)
        (result,) = run(body("", f"%a: {type_}", f"%a : {type_}"), each)
        assert result.dtype == dtype
        assert result.shape == each.shape
        assert result.tobytes() == each.tobytes()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("element", SMALL_FLOATS)
def test_addition_rounds_to_the_declared_type(element: str) -> None:
    dtype = FORMATS[element].dtype
    array = np.array([0.5, 1.0, 2.0, 4.0]).astype(dtype)
    type_ = f"tensor<4x{element}>"
    line = f"  %0 = stablehlo.add %a, %a : {type_}"
    (result,) = run(body(line, f"%a: {type_}", f"%0 : {type_}"), array)
    assert result.astype(float).tolist() == [1.0, 2.0, 4.0, 6.0 if element == "f4E2M1FN" else
                                             7.5 if element == "f6E2M3FN" else 8.0]  # fmt: skip


def test_python_scalars_and_two_results() -> None:
    text = body("  %0 = stablehlo.negate %a : tensor<bf16>", "%a: tensor<bf16>")
    text = text.replace(") {", ") -> (tensor<bf16>, tensor<bf16>) {")
    text = text.replace("return", "return %a, %0 : tensor<bf16>, tensor<bf16>")
    assert [float(each) for each in run(text, 2.5)] == [2.5, -2.5]


def test_a_dynamic_argument_takes_its_array_s_shape() -> None:
    line = "  %0 = stablehlo.add %a, %a : tensor<?x2xf32>"
    text = body(line, "%a: tensor<?x2xf32>", "%0 : tensor<?x2xf32>")
    (result,) = run(text, np.ones((3, 2), np.float32))
    assert result.tolist() == [[2.0, 2.0]] * 3
    assert failure(text, np.ones((3, 3), np.float32)) == (
        "argument 0 is tensor<3x3xf32>, declared tensor<?x2xf32>"
    )


def test_integers_below_a_byte() -> None:
    text = body("  %0 = stablehlo.constant dense<[1, -2]> : tensor<2xi4>", "", "%0 : tensor<2xi4>")
    (got,) = mlir_fp8.interpret(mlir_fp8.load(text))
    assert got.dtype == ml_dtypes.int4
    assert got.tolist() == [1, -2]


def test_wrong_arguments() -> None:
    text = body("", "%a: tensor<2xf8E4M3FN>", "%a : tensor<2xf8E4M3FN>")
    assert failure(text) == "'main' takes 1 arguments, 0 were given"
    assert failure(text, [1, 2]) == "argument 0 is a list, not an array of tensor<2xf8E4M3FN>"
    wrong = np.zeros(2, np.float32)
    assert failure(text, wrong) == "argument 0 is tensor<2xf32>, declared tensor<2xf8E4M3FN>"
    assert failure(text, np.zeros(2, E4M3FN), entry="f") == (
        "no function 'f': the module's functions are 'main'"
    )


def test_entries_by_name() -> None:
    constant = "() -> tensor<i32> {{\n  %0 = stablehlo.constant dense<{}> : tensor<i32>\n"
    end = "  return %0 : tensor<i32>\n}\n"
    calls = "func.func @calls() -> tensor<i32> {\n  %0 = call @main() : () -> tensor<i32>\n"
    text = f"func.func @main{constant.format(1)}{end}func.func @b{constant.format(2)}{end}"
    text += calls + end
    assert [int(run(text, entry=name)[0]) for name in ("main", "b", "calls")] == [1, 2, 1]


RNG = "stablehlo.rng %a, %a, %c, distribution = UNIFORM"
TYPES = "(tensor<f32>, tensor<f32>, tensor<0xi64>) -> tensor<f32>"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("  %0 = stablehlo.custom_call @f(%a) : (tensor<f32>) -> tensor<f32>",
         "-:2:8: 'custom_call @f' cannot be interpreted: the interpreter does not know it; "
         "write it as ops"),
        (f"  %c = stablehlo.constant dense<> : tensor<0xi64>\n  %0 = {RNG} : {TYPES}",
         "-:3:8: 'stablehlo.rng' cannot be interpreted: operation stablehlo.rng is unsupported "
         "at the moment; compile the module instead"),
        ("  %0 = chlo.erf %a : tensor<f32> -> tensor<f32>",
         "-:2:8: 'chlo.erf' cannot be interpreted: the interpreter does not know it; "
         "legalize it first (--chlo-legalize-to-stablehlo, small floats by "
         "--float-normalization before)"),
    ],
)  # fmt: skip
def test_the_op_of_a_crash_is_named(lines: str, message: str) -> None:
    text = body(lines, "%a: tensor<f32>", "%0 : tensor<f32>")
    assert failure(text, 1.0) == message


def test_the_op_of_a_crash_is_named_inside_calls_and_loops() -> None:
    text = """\
func.func @main(%a: tensor<i32>) -> tensor<i32> {
  %r = stablehlo.while(%i = %a) : tensor<i32>
  cond {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %c = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %n = func.call @f(%i) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %n : tensor<i32>
  }
  return %r : tensor<i32>
}
func.func private @f(%a: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.custom_call @g(%a) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
"""
    assert failure(text, 3).startswith("-:14:8: 'custom_call @g' cannot be interpreted")


def test_a_dynamic_result_is_refused_at_its_op() -> None:
    line = (
        "  %0 = stablehlo.dynamic_reshape %a, %n : (tensor<2xf32>, tensor<1xi32>) -> tensor<?xf32>"
    )
    text = body(line, "%a: tensor<2xf32>, %n: tensor<1xi32>", "%0 : tensor<?xf32>")
    assert failure(text, np.zeros(2, np.float32), np.array([2], np.int32)) == (
        "-:2:8: 'stablehlo.dynamic_reshape' gives a tensor<?xf32>: "
        "the interpreter shows tensors of static shape only"
    )


def test_time_runs_out() -> None:
    text = """\
func.func @main() {
  %one = stablehlo.constant dense<1> : tensor<i64>
  %r = stablehlo.while(%i = %one) : tensor<i64>
  cond {
    %c = stablehlo.compare EQ, %i, %i : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    stablehlo.return %i : tensor<i64>
  }
  return
}
"""
    message = "the interpreter did not finish in 0.5 s: give it more time"
    assert failure(text, seconds=0.5) == message


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "element",
    [
        *("f8E4M3FN", "bf16", "complex<f64>"),
        *(
            pytest.param(each, marks=pytest.mark.exhaustive)
            for each in ("f8E5M2", "f4E2M1FN", "f32")
        ),
    ],
)
@pytest.mark.parametrize("as_call", [False, True])
def test_checks_pass_and_fail(element: str, *, as_call: bool) -> None:
    type_ = f"tensor<2x{element}>"
    one, other = ("(1.0, 0.0)", "(1.0, 2.0)") if element.startswith("complex") else ("1.0", "2.0")
    values = f"""\
  %a = stablehlo.constant dense<[{one}, {one}]> : {type_}
  %b = stablehlo.constant dense<[{one}, {other}]> : {type_}
"""
    for check in ("check.expect_eq", "check.expect_almost_eq", "check.expect_close"):
        call = f'"stablehlo.custom_call"(%a, %X) {{call_target_name = "{check}"}} '
        call = f"{call}: ({type_}, {type_}) -> ()"
        types = f"{type_}, {type_}" if check == "check.expect_close" else type_
        line = call if as_call else f"{check} %a, %X : {types}"
        assert run(body(values + "  " + line.replace("%X", "%a"))) == ()
        if check == "check.expect_close" and FORMATS.get(element, FORMATS["f32"]).bits < 8:
            continue  # 1.0 and 2.0 are two steps apart
        message = failure(body(values + "  " + line.replace("%X", "%b")))
        assert message.startswith(f"-:4:3: '{check}' element values don't match")
        assert message.endswith("at index [1]")


def test_checks_against_constants_and_tolerances() -> None:
    value = "  %a = stablehlo.constant dense<5.0> : tensor<f64>\n"
    for good in (
        "check.expect_eq_const %a, dense<5.0> : tensor<f64>",
        "check.expect_almost_eq_const %a, dense<5.0001> : tensor<f64>",
        "check.expect_almost_eq_const %a, dense<5.1> : tensor<f64> {tolerance = 0.11 : f64}",
        "check.expect_almost_eq %a, %a, tolerance = 0.1 : tensor<f64>",
        "check.expect_close %a, %a, max_ulp_difference = 3 : tensor<f64>, tensor<f64>",
        "// check.expect_eq_const %a, dense<6.0> : tensor<f64>",
    ):
        assert run(body(f"{value}  {good}")) == ()
    for bad in (
        "check.expect_eq_const %a, dense<5.000000001>\n    : tensor<f64>",
        "check.expect_almost_eq_const %a, dense<5.001> : tensor<f64>",
        "check.expect_close %a, %a, min_ulp_difference = 1 : tensor<f64>, tensor<f64>",
    ):
        assert failure(body(f"{value}  {bad}")).startswith("-:3:3: 'check.expect_")


def test_check_eq_gives_a_flag() -> None:
    lines = """\
  %a = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.custom_call @check.eq(%a, %a) : (tensor<f32>, tensor<f32>) -> tensor<i1>"""
    (flag,) = run(body(lines, "", "%0 : tensor<i1>"))
    assert bool(flag)


def test_zeros_are_equal_and_nan_is_not() -> None:
    zeros = body(
        "  check.expect_eq %a, %b : tensor<f8E5M2>", "%a: tensor<f8E5M2>, %b: tensor<f8E5M2>"
    )
    assert run(zeros, 0.0, -0.0) == ()
    assert "nan (actual) vs nan (expected)" in failure(zeros, float("nan"), float("nan"))
    assert run(zeros.replace("_eq", "_almost_eq"), float("nan"), float("nan")) == ()


def test_the_first_check_that_fails_speaks_even_before_a_crash() -> None:
    lines = """\
  check.expect_eq_const %a, dense<1> : tensor<i32>
  check.expect_eq_const %a, dense<2> : tensor<i32>
  stablehlo.custom_call @f(%a) {has_side_effect = true} : (tensor<i32>) -> ()"""
    text = body(lines, "%a: tensor<i32>")
    assert failure(text, 1) == (
        "-:3:3: 'check.expect_eq_const' element values don't match: "
        "1 (actual) vs 2 (expected) at index []"
    )


def test_ulp_distance_of_float8() -> None:
    left = np.array([0.0, 1.0, -1.0, float("nan"), 448.0, 1.0]).astype(E4M3FN)
    right = np.array([-0.0, 1.125, 1.0, float("nan"), float("nan"), 1.0]).astype(E4M3FN)
    far = 2**64 - 1
    assert ulp_distance(left, right, "f8E4M3FN").tolist() == [0, 1, 2 * 0x38, 0, far, 0]


def test_resources_are_constants() -> None:
    text = body("  %0 = stablehlo.constant dense_resource<r> : tensor<2xf32>", "",
                "%0 : tensor<2xf32>")  # fmt: skip
    text += '{-# dialect_resources: { builtin: { r: "0x04000000000000400000803F" } } #-}\n'
    assert run(text)[0].tolist() == [2.0, 1.0]


def test_quantized_types_inside() -> None:
    quantized = "tensor<2x!quant.uniform<i8:f32, 0.5>>"
    lines = f"""\
  %0 = stablehlo.uniform_quantize %a : (tensor<2xf32>) -> {quantized}
  %1 = stablehlo.add %0, %0 : {quantized}
  %2 = stablehlo.uniform_dequantize %1 : ({quantized}) -> tensor<2xf32>"""
    text = body(lines, "%a: tensor<2xf32>", "%2 : tensor<2xf32>")
    assert run(text, np.array([1.0, 2.5], np.float32))[0].tolist() == [2.0, 5.0]


def test_programs_in_parallel() -> None:
    text = """\
func.func @main() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %1 = stablehlo.constant dense<[5, 6]> : tensor<2xi64>
  %2:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@sum], [@sum]]}
    : (tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>)
  check.expect_eq_const %2#0, dense<[6, 8]> : tensor<2xi64>
  check.expect_eq_const %2#1, dense<[6, 9]> : tensor<2xi64>
  return
}
func.func private @sum(%a : tensor<2xi64>) -> tensor<2xi64> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<i64>, %y: tensor<i64>):
    %s = stablehlo.add %x, %y : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) : (tensor<2xi64>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
"""
    context = make_context()
    register_interpreter_dialect(context)
    module = mlir_fp8.load(check_ops_to_custom_calls(text), context=context)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^-:7:3: .*8 \(actual\) vs 9 \(expected\)"):
        mlir_fp8.interpret(module)
