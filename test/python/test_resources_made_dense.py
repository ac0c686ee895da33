"""`dense_resource` constants become dense in every tool, those without elements too."""

import numpy as np
import pytest

import mlir_fp8


def constant(type_: str, digits: str) -> str:
    return (
        f"func.func @main() -> {type_} {{\n"
        f"  %0 = stablehlo.constant dense_resource<r> : {type_}\n"
        f"  return %0 : {type_}\n}}\n"
        f'{{-# dialect_resources: {{ builtin: {{ r: "0x04000000{digits}" }} }} #-}}'
    )


@pytest.mark.parametrize("element", ["f8E3M4", "f32"])
def test_no_elements(element: str) -> None:
    module = mlir_fp8.load(constant(f"tensor<0x{element}>", "").encode())
    (result,) = mlir_fp8.compile(module)()
    assert result.shape == (0,)
    artifact = mlir_fp8.serialize(module, "0.9.0", emulate=True)
    raised = mlir_fp8.deserialize(artifact, raise_emulation=True)
    assert f"dense<> : tensor<0x{element}>" in str(raised)


def test_compiled() -> None:
    (result,) = mlir_fp8.compile(constant("tensor<2xf32>", "0000803f00000040").encode())()
    assert result.tolist() == [1, 2]
    (codes,) = mlir_fp8.compile(constant("tensor<2xf8E3M4>", "3040").encode())()
    assert codes.view(np.uint8).tolist() == [0x30, 0x40]


@pytest.mark.parametrize("emulate", [False, True])
def test_complex(emulate: bool) -> None:
    text = constant("tensor<2xcomplex<f32>>", "0000803f000000400000404000008040")
    module = mlir_fp8.load(text.encode())
    assert mlir_fp8.minimum_version(module) == "0.9.0"
    read = mlir_fp8.deserialize(mlir_fp8.serialize(module, "0.9.0", emulate=emulate))
    assert "dense<[(1.000000e+00,2.000000e+00), (3.000000e+00,4.000000e+00)]>" in str(read)
    assert "dense_resource<r>" in str(module)


def test_damaged_complex() -> None:
    module = mlir_fp8.load(constant("tensor<2xcomplex<f32>>", "0000803f").encode())
    for version in ("0.9.0", "current"):
        with pytest.raises(mlir_fp8.Fp8Error, match="has 4 bytes of data, its type needs 16"):
            mlir_fp8.serialize(module, version)
