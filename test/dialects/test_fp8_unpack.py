"""`fp8.unpack`: every code of f6 and f4 out of bytes without gaps, by each engine, or refused."""

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import Fp8Error
from mlir_fp8.dialects.float_formats import FORMATS

SHORT = ("f4E2M1FN", "f6E2M3FN", "f6E3M2FN")


def module(element: str, shape: tuple[int, int], *, held: bool) -> str:
    """Rows of bytes unpacked: of an argument, or of what is computed."""
    rows, count = shape
    packed = f"tensor<{rows}x{count * FORMATS[element].bits // 8}xui8>"
    result = f"tensor<{rows}x{count}x{element}>"
    computed = f"%x = stablehlo.not %a : {packed}\n%p = stablehlo.not %x : {packed}"
    return f"""func.func @main(%{"p" if held else "a"}: {packed}) -> {result} {{
      {"" if held else computed}
      %0 = "fp8.unpack"(%p) : ({packed}) -> {result}
      return %0 : {result}
    }}"""


@pytest.mark.parametrize("element", SHORT)
@pytest.mark.parametrize("held", [True, False])
def test_every_code_in_every_place(element: str, held: bool) -> None:
    bits = FORMATS[element].bits
    codes = np.stack([np.roll(np.arange(1 << bits, dtype=np.uint8), i) for i in range(5)])
    lies = (codes[..., None] >> np.arange(bits, dtype=np.uint8)) & 1
    packed = np.packbits(lies.reshape(5, -1), axis=-1, bitorder="little")
    text = module(element, codes.shape, held=held)
    (compiled,) = mlir_fp8.compile(text)(packed)
    (interpreted,) = mlir_fp8.interpret(mlir_fp8.load(text), packed)
    np.testing.assert_array_equal(compiled.view(np.uint8), codes)
    np.testing.assert_array_equal(interpreted.view(np.uint8), codes)


def test_artifacts_hold_it_as_a_composite() -> None:
    text = module("f6E2M3FN", (2, 8), held=True)
    data = mlir_fp8.serialize(mlir_fp8.load(text))
    back = mlir_fp8.load(data)
    assert "fp8.unpack" in str(back)
    packed = np.arange(12, dtype=np.uint8).reshape(2, 6)
    of_text, of_artifact = (mlir_fp8.compile(each)(packed)[0] for each in (text, back))
    np.testing.assert_array_equal(of_text.view(np.uint8), of_artifact.view(np.uint8))


@pytest.mark.parametrize(
    ("packed", "result", "reason"),
    [
        ("tensor<3x4xui8>", "tensor<3x7xf4E2M1FN>", "are no whole bytes"),
        ("tensor<3x6xui8>", "tensor<3x6xf6E2M3FN>", "are no whole bytes"),
        ("tensor<3x5xui8>", "tensor<3x8xf4E2M1FN>", "that is 3x4 of ui8"),
        ("tensor<3x4xi8>", "tensor<3x8xf4E2M1FN>", "takes ui8"),
        ("tensor<3x8xui8>", "tensor<3x8xf8E4M3FN>", "gives one of"),
        ("tensor<ui8>", "tensor<f4E2M1FN>", "rank 1 or more"),
    ],
)
def test_refused_in_a_line(packed: str, result: str, reason: str) -> None:
    text = f"""func.func @main(%p: {packed}) -> {result} {{
      %0 = "fp8.unpack"(%p) : ({packed}) -> {result}
      return %0 : {result}
    }}"""
    with pytest.raises(Fp8Error, match=reason) as refusal:
        mlir_fp8.load(text)
    assert "\n" not in str(refusal.value)
