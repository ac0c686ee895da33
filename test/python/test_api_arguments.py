"""Arguments of the public functions that are of the wrong kind: named, in one line."""

import pickle
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

import mlir_fp8

MODULE = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }"


@pytest.mark.parametrize("source", [7, True, None, 1.5, ["a"]])
def test_load_refuses_what_is_no_source(source: Any) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=r"source is .*: give the path of a file"):
        mlir_fp8.load(source)


def test_load_takes_text_on_one_line() -> None:
    assert "func.func @main" in str(mlir_fp8.load(MODULE))


def test_text_that_looks_like_a_name_is_not_shown_in_full() -> None:
    with pytest.raises(mlir_fp8.Fp8Error) as error:
        mlir_fp8.load("stablehlo.add " * 400)
    beginning = (
        "cannot read 'stablehlo.add stablehlo.add stablehlo.ad...', a name of 5600 characters"
    )
    reason = "(text of a module has braces): File name too long"
    assert str(error.value) == f"{beginning} {reason}"


def test_load_refuses_lone_surrogates() -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match="surrogates"):
        mlir_fp8.load("a\udc80\n")


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_of_every_kind(kind: Any) -> None:
    artifact = mlir_fp8.serialize(mlir_fp8.load(MODULE))
    assert str(mlir_fp8.load(kind(artifact))) == str(mlir_fp8.deserialize(kind(artifact)))


@pytest.mark.parametrize("data", [None, "text", 3])
def test_deserialize_refuses_what_is_not_bytes(data: Any) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=r"artifact is .*, not bytes"):
        mlir_fp8.deserialize(data)


@pytest.mark.parametrize("wrong", [None, 3, "text"])
@pytest.mark.parametrize("function", [mlir_fp8.serialize, mlir_fp8.minimum_version])
def test_what_is_no_module_is_refused(function: Any, wrong: Any) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=r"module is a .*: give what mlir_fp8.load returns"):
        function(wrong)


def test_an_op_that_is_no_module_is_refused() -> None:
    module = mlir_fp8.load(MODULE)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"'func.func' is not a module"):
        mlir_fp8.serialize(module.body.operations[0].operation)


def test_an_invalid_module_is_not_written() -> None:
    module = mlir_fp8.load(MODULE)
    function = module.body.operations[0].operation
    with module.context:
        wrong = ir.Type.parse("(tensor<3xf32>) -> tensor<2xf32>")
        function.attributes["function_type"] = ir.TypeAttr.get(wrong)
    with pytest.raises(mlir_fp8.Fp8Error, match="must match the type"):
        mlir_fp8.serialize(module)


@pytest.mark.parametrize("target", ["01.9.0", "1.09.0", "1.9.00", ""])
def test_a_target_is_spelled_in_one_way(target: str) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=f"target '{target}' is not a version"):
        mlir_fp8.serialize(mlir_fp8.load(MODULE), target)


def test_an_artifact_older_than_all_is_refused() -> None:
    artifact = mlir_fp8.serialize(mlir_fp8.load(MODULE), "0.9.0")
    patched = artifact.replace(b"StableHLO_v0.9.0", b"StableHLO_v0.8.0", 1)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"written for StableHLO 0.8.0, older than 0.9.0"):
        mlir_fp8.deserialize(patched)


def test_errors_with_data_survive_pickling() -> None:
    too_new = "func.func @main(%a: tensor<2xf8E3M4>) { return }"
    with pytest.raises(mlir_fp8.NewerFeaturesError) as caught:
        mlir_fp8.serialize(mlir_fp8.load(too_new), "1.0.0")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.minimum) == (str(caught.value), "1.7.0")
    future = mlir_fp8.FutureArtifactError("x", "9.9.9", "1.19.0", "why")
    assert str(pickle.loads(pickle.dumps(future))) == str(future)


def test_serialize_names_the_wrong_target() -> None:
    wrong: Any = None
    with pytest.raises(mlir_fp8.Fp8Error, match="target is NoneType"):
        mlir_fp8.serialize(mlir_fp8.load(MODULE), wrong)


def test_a_name_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=r"'func.func' has a name that is not UTF-8"):
        mlir_fp8.compile('func.func @"\\FFmain"() { return }')


def test_a_masked_array_is_refused() -> None:
    program = mlir_fp8.compile(MODULE)
    with pytest.raises(mlir_fp8.Fp8Error, match="argument 0 is masked"):
        program(np.ma.masked_array(np.zeros(2, np.float32), [True, False]))
