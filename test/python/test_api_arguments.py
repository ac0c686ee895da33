"""Arguments of the public functions that are of the wrong kind: named, in one line."""

from typing import Any

import numpy as np
import pytest

import mlir_fp8

MODULE = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }"


@pytest.mark.parametrize("source", [7, True, None, 1.5, ["a"]])
def test_load_refuses_what_is_no_source(source: Any) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=r"source is .*: give the path of a file"):
        mlir_fp8.load(source)


def test_load_takes_text_on_one_line() -> None:
    assert "func.func @main" in str(mlir_fp8.load(MODULE))


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


def test_serialize_names_the_wrong_argument() -> None:
    wrong: Any = None
    with pytest.raises(mlir_fp8.Fp8Error, match="module is NoneType"):
        mlir_fp8.serialize(wrong)
    with pytest.raises(mlir_fp8.Fp8Error, match="target is NoneType"):
        mlir_fp8.serialize(mlir_fp8.load(MODULE), wrong)


def test_a_name_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=r"'func.func' has a name that is not UTF-8"):
        mlir_fp8.compile('func.func @"\\FFmain"() { return }')


def test_a_masked_array_is_refused() -> None:
    program = mlir_fp8.compile(MODULE)
    with pytest.raises(mlir_fp8.Fp8Error, match="argument 0 is masked"):
        program(np.ma.masked_array(np.zeros(2, np.float32), [True, False]))
