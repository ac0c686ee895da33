"""Calls of LAPACK: what does not fit is refused, and where the routines are found, or are not."""

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from lapack_programs import call_of, cholesky, lu

import mlir_fp8
from mlir_fp8.aot.library import make_library
from mlir_fp8.compiling import execution
from mlir_fp8.compiling.compile_options import CompileOptions
from mlir_fp8.compiling.native import lapack

pytest.importorskip("scipy")


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (lu(pivots="3"), r"has results of \(.*3xi32.*\), where it takes \(.*2xi32"),
        (lu().replace("lapack_d", "lapack_s"), "has operands of .*f64.*, where it takes .*f32"),
        (call_of("dpotrf", ["2x3xf64"], ["2x3xf64", "i32"], "uplo = 76 : ui8"),
         "has operand 0 of 2 rows and 3 columns"),
        (cholesky(uplo="X"), "has uplo = 88: only the codes of U, L are known"),
        (cholesky().replace("uplo =", "other ="), "has no option uplo"),
        (call_of("dgees", ["2x2xf64"], ["2x2xf64"], "mode = 86 : ui8, sort = 83 : ui8"),
         "has sort = 83"),
        (call_of("dgesdd", ["2x2xf64"], ["2x2xf64"], "mode = 79 : ui8"), "has mode = 79"),
        (call_of("dgehrd", ["2x2xf64"], ["2x2xf64"], "low = 0 : i32, high = 2 : i32"),
         "has low = 0, high = 2: they are rows from 1 to 2"),
        (call_of("dorgqr", ["2x3xf64", "2xf64"], ["2x3xf64"]), "2 rows, 3 columns and 2 refl"),
        (call_of("dtrsm", ["3x3xf64", "2x2xf64"], ["2x2xf64"], "side = 76 : ui8"),
         "has a triangle of 3 rows, which does not fit 2x2"),
        (call_of("zorgqr", ["2x2xcomplex<f64>"], ["2x2xcomplex<f64>"]),
         "is not one of the routines that are known for its type: .*ungqr"),
        (lu().replace("_ffi", ""), "export the program with a newer JAX"),
        (lu().replace("lapack_dgetrf_ffi", "blas_dtrsm"), "export the program with a newer JAX"),
        (lu(sizes="20000x20000", pivots="20000").replace("dgetrf", "dsyevd")
         .replace("config = {", "config = {mode = 86 : ui8, uplo = 76 : ui8"),
         "32-bit sizes, up to 16383"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(program: str, reason: str) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=rf":2:\d+: 'stablehlo\.custom_call' .*{reason}"):
        mlir_fp8.compile(program)


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(name: str) -> object:
        raise ImportError(name)

    for cached in (lapack._address, lapack._capsules):
        cached.cache_clear()
    monkeypatch.setattr(importlib, "import_module", fails)
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        lapack.require(f"{lapack.LAPACK}dgetrf")
    assert str(caught.value) == (
        "that is scipy's, which is not installed: pip install 'mlir-fp8[lapack]'"
    )
    monkeypatch.undo()
    reason = mlir_fp8.Fp8Error("gone")
    monkeypatch.setattr(lapack, "addresses", _raise(reason))
    with pytest.raises(
        mlir_fp8.Fp8Error, match=r":2:\d+: 'stablehlo\.custom_call' calls dgetrf of LAPACK: gone"
    ):
        mlir_fp8.compile(lu())


def _raise(error: Exception) -> object:
    def fails(*_: object) -> None:
        raise error

    return fails


def test_what_is_never_reached_needs_no_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lapack, "addresses", _raise(mlir_fp8.Fp8Error("gone")))
    unused = lu().replace("@main", "private @unused")
    identity = "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"
    assert mlir_fp8.compile(f"{unused}\n{identity}")(np.float32(3))[0] == 3


def test_code_from_the_disk_finds_the_routines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "lu.mlir"
    file.write_text(lu())
    script = (
        "import sys, numpy, mlir_fp8; from mlir_fp8.compiling import compilation;"
        f"c = mlir_fp8.compile({str(file)!r}); print(c(numpy.array([[0., 2], [4, 6]]))[0].tolist(),"
        "'mlir_fp8.compiling.execution' in sys.modules)"
    )
    monkeypatch.setenv("MLIR_FP8_CACHE", "on")
    monkeypatch.setenv("MLIR_FP8_CACHE_DIR", str(tmp_path / "cache"))
    said = [
        subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert [each.stdout for each in said] == [
        "[[4.0, 6.0], [0.0, 2.0]] True\n",
        "[[4.0, 6.0], [0.0, 2.0]] False\n",
    ]
    (entry,) = (tmp_path / "cache").glob("*.code")
    assert b"fp8_lapack_dgetrf" in entry.read_bytes()


def test_the_engine_finds_the_routines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "is_linkable", lambda objects: False)
    for threads in (1, 2):
        got = mlir_fp8.compile(lu(), threads=threads)(np.array([[0.0, 2], [4, 6]]))
        assert got[0].tolist() == [[4, 6], [0, 2]]


def test_a_library_for_c_is_refused() -> None:
    module = mlir_fp8.load(lu())
    with pytest.raises(
        mlir_fp8.Fp8Error,
        match=r":2:\d+: 'stablehlo\.custom_call' calls dgetrf of LAPACK: no library brings",
    ):
        make_library(module, "m", CompileOptions())
