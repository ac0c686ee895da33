"""Custom calls: registered from Python, built in, unknown, and wrongly expanded."""

import re
from collections.abc import Iterator

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.lowering.frontend import stablehlo_expand_custom_calls as custom_calls

IDENTITY = "func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }"


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(custom_calls, "_REGISTRY", dict(custom_calls._REGISTRY))
    yield


def _program(target: str, result: str = "tensor<3xf32>") -> str:
    return f"""func.func @main(%x: tensor<3xf32>) -> {result} {{
      %0 = stablehlo.custom_call @{target}(%x) : (tensor<3xf32>) -> {result}
      return %0 : {result}
    }}"""


def test_the_last_registration_counts() -> None:
    mlir_fp8.register_custom_call("mine", lambda op: "not even text")
    mlir_fp8.register_custom_call("mine", lambda op: IDENTITY)
    given = np.array([1, -0.0, np.nan], np.float32)
    (got,) = mlir_fp8.compile(_program("mine"))(given)
    assert got.tobytes() == given.tobytes()


@pytest.mark.parametrize("target", ["Sharding", "annotate_device_placement", "LayoutConstraint"])
def test_annotations_are_identities(target: str) -> None:
    (got,) = mlir_fp8.compile(_program(target))(np.array([1, 2, 3], np.float32))
    np.testing.assert_array_equal(got, [1, 2, 3])


def test_an_annotation_that_changes_the_shape_is_refused() -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match="is among several processes"):
        mlir_fp8.compile(_program("SPMDFullToShardShape", "tensor<1xf32>"))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("(%x, %x) : (tensor<3xf32>, tensor<3xf32>)", "gives tensor<3xf32> of tensor<3xf32>, t"),
        ("() : ()", "gives tensor<3xf32> of nothing: 'Sharding' keeps number and element types"),
        ("(%i) : (tensor<3xi32>)", "gives tensor<3xf32> of tensor<3xi32>: 'Sharding' keeps"),
    ],
)
def test_an_annotation_of_other_operands_is_refused(call: str, words: str) -> None:
    program = f"""func.func @main(%x: tensor<3xf32>, %i: tensor<3xi32>) -> tensor<3xf32> {{
      %0 = stablehlo.custom_call @Sharding{call} -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }}"""
    with pytest.raises(mlir_fp8.Fp8Error, match=re.escape(f"'stablehlo.custom_call' {words}")):
        mlir_fp8.compile(program)


FUNCTIONS = {
    "acos": [1.0471976, 1.8234766],
    "acosh": [np.nan, np.nan],
    "asin": [0.5235988, -0.2526803],
    "asinh": [0.4812118, -0.2474665],
    "atanh": [0.5493061, -0.2554128],
    "cosh": [1.1276260, 1.0314131],
    "erf": [0.5204999, -0.2763264],
    "sinh": [0.5210953, -0.2526123],
    "tan": [0.5463025, -0.2553419],
}


@pytest.mark.parametrize("attributes", ["", "{mhlo.version = 1 : i64}", "{mhlo.attributes = {}}"])
def test_a_function_of_hlo_needs_no_attributes(attributes: str) -> None:
    calls = "".join(
        f"%{name} = stablehlo.custom_call @mhlo.{name}(%x) {attributes}"
        " : (tensor<2xf32>) -> tensor<2xf32>\n"
        for name in FUNCTIONS
    )
    names = ", ".join(f"%{name}" for name in FUNCTIONS)
    types = ", ".join("tensor<2xf32>" for _ in FUNCTIONS)
    program = f"""func.func @main(%x: tensor<2xf32>) -> ({types}) {{
      {calls} return {names} : {types}
    }}"""
    given = np.array([0.5, -0.25], np.float32)
    for got, expected in zip(mlir_fp8.compile(program)(given), FUNCTIONS.values(), strict=True):
        np.testing.assert_allclose(got, expected, rtol=4e-7)


def _top_k(attributes: str, k: int = 2) -> str:
    types = f"tensor<{k}xf32>, tensor<{k}xi32>"
    return f"""func.func @main(%x: tensor<3xf32>) -> ({types}) {{
      %0:2 = stablehlo.custom_call @mhlo.topk(%x) {attributes} : (tensor<3xf32>) -> ({types})
      return %0#0, %0#1 : {types}
    }}"""


@pytest.mark.parametrize("attributes", ["", "{mhlo.attributes = {largest = true}}"])
def test_top_k_has_as_many_as_its_results(attributes: str) -> None:
    values, indices = mlir_fp8.compile(_top_k(attributes))(np.array([1, 3, 2], np.float32))
    assert (values.tolist(), indices.tolist()) == ([3, 2], [1, 2])


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (_top_k("{mhlo.attributes = {largest = false}}"), "for the smallest elements"),
        (_top_k("{mhlo.attributes = {largest = 1}}"), "with largest = 1 : i64, which is true or"),
        (_top_k('{mhlo.attributes = {k = "2"}}'), "without a whole number k"),
        (_top_k("{mhlo.attributes = {k = 1 : i64}}"), "with k = 1, which gives no such results"),
        (_top_k("", k=4), "with k = 4, which gives no such results"),
        (_top_k('{mhlo.attributes = ""}'), "with mhlo.attributes that are no dictionary"),
        (_program("mhlo.erf", "tensor<4xf32>"), "one tensor of its operand's type"),
        (_program("mhlo.tan", "tensor<3xf16>"), "one tensor of its operand's type"),
        (_program("mhlo.topk"), "on other than one tensor, for values and indices"),
        (_program("mhlo.erf").replace("f32", "i32"), "on i32, which is defined on floats"),
        (_program("mhlo.erf").replace("f32", "complex<f32>"), "which is defined on real numbers"),
    ],
)
def test_a_call_that_is_no_function_of_hlo_says_why(program: str, reason: str) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=rf"calls 'mhlo\.\w+'.*{re.escape(reason)}"):
        mlir_fp8.compile(program)


def test_an_unknown_target_is_named() -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=r"2:12: 'stablehlo\.custom_call' calls 'nobody'"):
        mlir_fp8.compile(_program("nobody"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nonsense", "is not valid"),
        (IDENTITY.replace("return %x", "return %y"), "is not valid"),
        (IDENTITY.replace("3x", "4x"), "does not fit the call"),
        (IDENTITY.replace("(%x: tensor<3xf32>)", "(%x: tensor<3xf32>, %y: tensor<f32>)"),
         "does not fit the call"),
        ("", "does not fit the call"),
        (IDENTITY + IDENTITY.replace("@f", "@g"), "does not fit the call"),
        ("func.func private @f(%x: tensor<3xf32>) -> tensor<3xf32>", "does not fit the call"),
    ],
)  # fmt: skip
def test_a_wrong_expansion_is_named(text: str, reason: str) -> None:
    mlir_fp8.register_custom_call("mine", lambda op: text)
    with pytest.raises(mlir_fp8.Fp8Error, match=f"calls 'mine', whose expansion {reason}"):
        mlir_fp8.compile(_program("mine"))


def test_what_cannot_be_registered_is_refused() -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match="give the name"):
        mlir_fp8.register_custom_call("", lambda op: IDENTITY)
    with pytest.raises(mlir_fp8.Fp8Error, match="is a str, not a function"):
        mlir_fp8.register_custom_call("mine", IDENTITY)  # pyright: ignore[reportArgumentType]
