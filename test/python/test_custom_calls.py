"""Custom calls: registered from Python, built in, unknown, and wrongly expanded."""

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
