"""A float format that the installed ml_dtypes lacks: modules compile, arrays of it are refused."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

_WITHOUT = """
import ml_dtypes, numpy
del ml_dtypes.float8_e3m4, numpy.sctypeDict["float8_e3m4"]
import mlir_fp8
def module(argument):
    return mlir_fp8.load(f'''
      func.func @main(%x: tensor<3x{argument}>) -> tensor<3xf32> {{
        %0 = stablehlo.convert %x : (tensor<3x{argument}>) -> tensor<3xf8E3M4>
        %1 = stablehlo.multiply %0, %0 : tensor<3xf8E3M4>
        %2 = stablehlo.convert %1 : (tensor<3xf8E3M4>) -> tensor<3xf32>
        return %2 : tensor<3xf32>
      }}''')
numbers = numpy.array([1.0, 1.09375, 3.0], numpy.float32)
"""
_REFUSAL = r"ml_dtypes \d\S+ has no float8_e3m4, which arrays of f8E3M4 need: install one that has"


def _run(program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _WITHOUT + program]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_modules_compile_that_have_it_inside() -> None:
    # 1.09375 lies between 1.0625 and 1.125, a tie, and goes to the even code, 1.125; its square is
    # 1.265625, between 1.25 and 1.3125.
    run = _run("print(mlir_fp8.compile(module('f32'))(numbers)[0].tolist())")
    assert run.stdout == "[1.0, 1.25, 9.0]\n", run.stderr
    assert run.returncode == 0


def test_other_formats_are_cast() -> None:
    run = _run("print(mlir_fp8.cast(numbers, 'f8E5M2').tolist())")
    assert run.stdout == "[1.0, 1.0, 3.0]\n", run.stderr


@pytest.mark.parametrize(
    "use",
    [
        "mlir_fp8.compile(module('f8E3M4'))",
        "mlir_fp8.interpret(module('f8E3M4'), numbers)",
        "mlir_fp8.cast(numbers, 'f8E3M4')",
        "mlir_fp8.cast(numbers, 'f8E3M4', as_='torch')",
        "numpy.savez('x.npz', **{'x@f8E3M4': numpy.zeros(3, 'u1')}); mlir_fp8.load_arrays('x.npz')",
    ],
)
def test_arrays_of_it_are_refused_in_one_line(
    use: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "torch" in use:
        pytest.importorskip("torch.nn", reason="pip install 'mlir-fp8[torch]'")
    monkeypatch.chdir(tmp_path)
    program = f"try: {use}\nexcept mlir_fp8.Fp8Error as error: print(type(error).__name__, error)"
    run = _run(program)
    assert re.match(rf"Fp8Error .*{_REFUSAL}", run.stdout), run.stdout + run.stderr
    assert run.stdout.count("\n") == 1
