"""Calls of LAPACK: values by hand, layouts, what `info` says, sizes of zero, what is refused."""

import importlib
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.aot.library import make_library
from mlir_fp8.compiling import execution
from mlir_fp8.compiling.compile_options import CompileOptions
from mlir_fp8.compiling.native import lapack

pytest.importorskip("scipy")
COLUMNS, ROWS = "dense<[0, 1]> : tensor<2xindex>", "dense<[1, 0]> : tensor<2xindex>"


def _program(
    target: str,
    operands: Sequence[str],
    results: Sequence[str],
    options: str = "",
    layouts: tuple[Sequence[str], Sequence[str]] | None = None,
) -> str:
    """A call of `target` on arguments of the types `operands`; JAX's layouts, or `layouts`."""
    names = ", ".join(f"%a{i}" for i in range(len(operands)))
    arguments = ", ".join(f"%a{i}: tensor<{type_}>" for i, type_ in enumerate(operands))
    takes = ", ".join(f"tensor<{type_}>" for type_ in operands)
    gives = ", ".join(f"tensor<{type_}>" for type_ in results)
    given = layouts or (list(map(_layout, operands)), list(map(_layout, results)))
    sides = ", ".join(
        f"{side}_layouts = [{', '.join(each)}]"
        for side, each in zip(("operand", "result"), given, strict=True)
    )
    returned = ", ".join(f"%0#{i}" for i in range(len(results))) if len(results) > 1 else "%0"
    count = f":{len(results)}" if len(results) > 1 else ""
    return f"""func.func @main({arguments}) -> ({gives}) {{
      %0{count} = stablehlo.custom_call @lapack_{target}_ffi({names})
        {{mhlo.backend_config = {{{options}}}, {sides}}} : ({takes}) -> ({gives})
      return {returned} : {gives}
    }}"""


def _layout(type_: str) -> str:
    """Matrices column by column, the rest row by row."""
    rank = len(re.findall(r"\d+x", type_))
    dims = list(range(rank))[::-1]
    if rank > 1:
        dims[:2] = dims[1], dims[0]
    return f"dense<{dims if rank else '[]'}> : tensor<{rank}xindex>".replace("<[]>", "<>")


def _run(program: str, *arguments: np.ndarray) -> tuple[np.ndarray, ...]:
    return mlir_fp8.compile(program)(*arguments)


def _lu(dtype: str = "f64", sizes: str = "2x2", pivots: str = "2", **more: object) -> str:
    letter = {"f32": "s", "f64": "d"}[dtype]
    batch = sizes.count("x") - 1
    info = "x".join([*sizes.split("x")[:batch], "i32"])
    return _program(
        f"{letter}getrf", [f"{sizes}x{dtype}"], [f"{sizes}x{dtype}", f"{pivots}xi32", info],
        **more,  # pyright: ignore[reportArgumentType]
    )  # fmt: skip


def test_lu_by_hand() -> None:
    factors, pivots, info = _run(_lu(), np.array([[0.0, 2], [4, 6]]))
    assert factors.tolist() == [[4, 6], [0, 2]]
    assert (pivots.tolist(), int(info)) == ([2, 2], 0)


def test_rows_in_memory_are_the_columns_of_another_matrix() -> None:
    layouts = ([ROWS], [ROWS, "dense<0> : tensor<1xindex>", "dense<> : tensor<0xindex>"])
    factors, pivots, info = _run(_lu(layouts=layouts), np.array([[0.0, 2], [4, 6]]))
    # Of [[0, 4], [2, 6]], whose second row is the first pivot: [[2, 6], [0, 4]], read as rows.
    assert factors.tolist() == [[2, 0], [6, 4]]
    assert (pivots.tolist(), int(info)) == ([2, 2], 0)


def test_layouts_may_differ_and_be_left_out() -> None:
    layouts = ([COLUMNS], [ROWS, "dense<0> : tensor<1xindex>", "dense<> : tensor<0xindex>"])
    factors, _, _ = _run(_lu(layouts=layouts), np.array([[0.0, 2], [4, 6]]))
    assert factors.tolist() == [[4, 0], [6, 2]]
    without = _lu(layouts=([ROWS], [ROWS, "x", "y"]))
    start, end = without.index(", operand_layouts"), without.index("} :")
    factors, _, _ = _run(without[:start] + without[end:], np.array([[0.0, 2], [4, 6]]))
    assert factors.tolist() == [[2, 0], [6, 4]]


def test_the_typed_form_of_options() -> None:
    typed = _lu().replace("mhlo.backend_config", "api_version = 4 : i32, backend_config")
    assert _run(typed, np.array([[0.0, 2], [4, 6]]))[0].tolist() == [[4, 6], [0, 2]]


def test_info_tells_which_matrix_of_a_batch_is_singular() -> None:
    program = _program("sgetrf", ["3x2x2xf32"], ["3x2x2xf32", "3x2xi32", "3xi32"], layouts=(
        ["dense<[1, 2, 0]> : tensor<3xindex>"],
        ["dense<[1, 2, 0]> : tensor<3xindex>", ROWS, "dense<0> : tensor<1xindex>"],
    ))  # fmt: skip
    given = np.array([[[1, 1], [1, 1]], [[0, 0], [0, 1]], [[2, 1], [1, 2]]], np.float32)
    assert _run(program, given)[2].tolist() == [2, 1, 0]


def _cholesky(size: int = 2, uplo: str = "L") -> str:
    return _program(
        "dpotrf", [f"{size}x{size}xf64"], [f"{size}x{size}xf64", "i32"], f"uplo = {ord(uplo)} : ui8"
    )


@pytest.mark.parametrize("uplo", ["L", "U"])
def test_cholesky_reads_and_writes_one_triangle(uplo: str) -> None:
    given = np.array([[4.0, np.nan], [2, 5]])
    factor, info = _run(_cholesky(uplo=uplo), given if uplo == "L" else given.T)
    wanted = np.array([[2.0, np.nan], [1, 2]])
    np.testing.assert_array_equal(factor, wanted if uplo == "L" else wanted.T)
    assert int(info) == 0


def test_what_is_not_positive_definite() -> None:
    assert int(_run(_cholesky(), np.array([[1.0, 2], [2, 1]]))[1]) == 2
    assert int(_run(_cholesky(1), np.array([[0.0]]))[1]) == 1


def test_arguments_are_not_written_to() -> None:
    given = np.array([[4.0, 7], [2, 5]])
    given.flags.writeable = False
    _run(_cholesky(), given)
    assert given.tolist() == [[4, 7], [2, 5]]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "program",
    [
        _cholesky(0),
        _lu(sizes="0x0", pivots="0"),
        _lu(sizes="3x0", pivots="0"),
        _lu(sizes="0x3", pivots="0"),
        _lu("f32", sizes="0x4", pivots="0"),
        _program("dgeqrf", ["0x3xf64"], ["0x3xf64", "0xf64"]),
        _program("dorgqr", ["2x0xf64", "0xf64"], ["2x0xf64"]),
        _program("dgeqp3", ["2x0xf64", "0xi32"], ["2x0xf64", "0xi32", "0xf64"]),
        _program("dsyevd", ["0x0xf64"], ["0x0xf64", "0xf64", "i32"],
                 "mode = 86 : ui8, uplo = 76 : ui8"),
        _program("zheevd", ["0x0xcomplex<f64>"], ["0x0xcomplex<f64>", "0xf64", "i32"],
                 "mode = 86 : ui8, uplo = 76 : ui8"),
        _program("dgesdd", ["0x2xf64"], ["0x2xf64", "0xf64", "0x0xf64", "0x2xf64", "i32"],
                 "mode = 83 : ui8"),
        _program("dgesvd", ["2x0xf64"], ["2x0xf64", "0xf64", "2x0xf64", "0x0xf64", "i32"],
                 "mode = 83 : ui8"),
        _program("dgees", ["0x0xf64"], ["0x0xf64", "0x0xf64", "0xf64", "0xf64", "i32", "i32"],
                 "mode = 86 : ui8, sort = 78 : ui8"),
        _program("dgehrd", ["1x1xf64"], ["1x1xf64", "0xf64", "i32"],
                 "low = 1 : i32, high = 1 : i32"),
        _program("dgehrd", ["0x0xf64"], ["0x0xf64", "0xf64", "i32"],
                 "low = 1 : i32, high = 0 : i32"),
        _program("dsytrd", ["1x1xf64"], ["1x1xf64", "1xf64", "0xf64", "0xf64", "i32"],
                 "uplo = 76 : ui8"),
        _program("dtrsm", ["2x2xf64", "2x0xf64"], ["2x0xf64"],
                 "side = 76 : ui8, uplo = 76 : ui8, trans_x = 78 : ui8, diag = 78 : ui8"),
        _program("dgtsv", ["0xf64", "0xf64", "0xf64", "0x2xf64"],
                 ["0xf64", "0xf64", "0xf64", "0x2xf64", "i32"]),
        _program("dormqr", ["2x0xf64", "0xf64", "2x3xf64"], ["2x3xf64"],
                 "left = true, transpose = false"),
    ],
)  # fmt: skip
def test_no_routine_finds_an_argument_wrong(
    program: str, capfd: pytest.CaptureFixture[str]
) -> None:
    compiled = mlir_fp8.compile(program)
    results = compiled(*(np.zeros(spec.shape, spec.dtype) for spec in compiled.arguments))
    for result in results:
        if result.dtype == np.int32 and not result.shape:
            assert int(result) == 0
    assert capfd.readouterr() == ("", "")


def test_no_matrices_at_all() -> None:
    program = _lu(sizes="0x2x2", pivots="0x2").replace("tensor<i32>", "tensor<0xi32>")
    assert [each.shape for each in _run(_batched(program), np.zeros((0, 2, 2)))] == [
        (0, 2, 2), (0, 2), (0,)
    ]  # fmt: skip


def _batched(program: str) -> str:
    """Without layouts, which do not matter where there is nothing."""
    start, end = program.index(", operand_layouts"), program.index("} :")
    return program[:start] + program[end:]


_EIGH = _program(
    "dsyevd", ["2x2xf64"], ["2x2xf64", "2xf64", "i32"], "mode = 86 : ui8, uplo = 76 : ui8"
)


def test_eigenvectors_of_a_symmetric_matrix() -> None:
    vectors, values, info = _run(_EIGH, np.array([[2.0, np.nan], [1, 2]]))
    np.testing.assert_allclose(values, [1, 3], rtol=1e-15)
    matrix = np.array([[2.0, 1], [1, 2]])
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-15)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(2), atol=1e-15)
    assert int(info) == 0


def test_eigenvectors_of_a_rotation_are_complex() -> None:
    program = _program(
        "dgeev",
        ["3x3xf64"],
        ["3xf64", "3xf64", "3x3xcomplex<f64>", "3x3xcomplex<f64>", "i32"],
        "compute_left = 78 : ui8, compute_right = 86 : ui8",
    )
    matrix = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 5]])
    real, imaginary, left, right, info = _run(program, matrix)
    np.testing.assert_allclose(real, [0, 0, 5], atol=1e-15)
    np.testing.assert_allclose(imaginary, [1, -1, 0], atol=1e-15)
    np.testing.assert_allclose(matrix @ right, right * (real + 1j * imaginary), atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(right, axis=0), 1)
    assert not left.any()  # nobody asked for them
    assert int(info) == 0


@pytest.mark.sampled(7)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("size", [2, 40])
@pytest.mark.parametrize(
    ("routine", "results", "options"),
    [
        ("dsyevd", "NxN N -", "mode = 86 : ui8, uplo = 76 : ui8"),
        ("dgesdd", "NxN N NxN NxN -", "mode = 65 : ui8"),
        ("dgesvd", "NxN N NxN NxN -", "mode = 78 : ui8"),
        ("dgees", "NxN NxN N N - -", "mode = 86 : ui8, sort = 78 : ui8"),
        ("dgeev", "N N C C -", "compute_left = 86 : ui8, compute_right = 86 : ui8"),
    ],
)
def test_infinity_and_nan_reach_no_routine_that_scales(
    bad: float,
    size: int,
    routine: str,
    results: str,
    options: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Some end the process, or print, when they find the norm of their matrix to be NaN."""
    spelled = {"-": "i32", "C": f"{size}x{size}xcomplex<f64>"}
    types = [spelled.get(each, each.replace("N", str(size)) + "xf64") for each in results.split()]
    matrix = np.eye(size)
    matrix[-1, 0] = bad
    program = _program(routine, [f"{size}x{size}xf64"], types, options)
    assert int(_run(program, matrix)[-1]) == -4
    assert capfd.readouterr() == ("", "")


def test_singular_values_rebuild_the_matrix() -> None:
    program = _program(
        "zgesdd",
        ["3x2xcomplex<f64>"],
        ["3x2xcomplex<f64>", "2xf64", "3x2xcomplex<f64>", "2x2xcomplex<f64>", "i32"],
        "mode = 83 : ui8",
    )
    matrix = np.array([[3, 1j], [0, 4], [1 - 1j, 0]])
    _, values, left, right, info = _run(program, matrix)
    np.testing.assert_allclose(left * values @ right, matrix, atol=1e-15)
    np.testing.assert_allclose(values**2, np.linalg.eigvalsh(matrix.conj().T @ matrix)[::-1])
    assert int(info) == 0


def test_a_triangle_with_a_unit_diagonal() -> None:
    program = _program(
        "ctrsm", ["2x2xcomplex<f32>", "2x1xcomplex<f32>"], ["2x1xcomplex<f32>"],
        "side = 76 : ui8, uplo = 76 : ui8, trans_x = 67 : ui8, diag = 85 : ui8",
    )  # fmt: skip
    triangle = np.array([[9, 9], [2j, 9]], np.complex64)
    # The adjoint is [[1, -2j], [0, 1]].
    (got,) = _run(program, triangle, np.array([[1], [3]], np.complex64))
    assert got.tolist() == [[1 + 6j], [3]]


def test_a_tridiagonal_system() -> None:
    program = _program(
        "dgtsv",
        ["3xf64", "3xf64", "3xf64", "3x1xf64"],
        ["3xf64", "3xf64", "3xf64", "3x1xf64", "i32"],
    )
    below, diagonal, above = np.array([7.0, 1, 1]), np.full(3, 2.0), np.array([1.0, 1, 7])
    *_, solved, info = _run(program, below, diagonal, above, np.array([[4.0], [8], [8]]))
    np.testing.assert_allclose(solved, [[1], [2], [3]], rtol=1e-15)
    assert int(info) == 0


def test_a_tensor_that_is_called_on_twice_and_updated() -> None:
    (first, updated, second) = _run(
        """func.func @main(%x: tensor<2x2xf64>) -> (tensor<2xi32>, tensor<2x2xf64>, tensor<2xi32>) {
          %s = stablehlo.add %x, %x : tensor<2x2xf64>
          %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%s) {mhlo.backend_config = {}}
            : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xi32>, tensor<i32>)
          %nine = stablehlo.constant dense<9.0> : tensor<1x1xf64>
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %u = stablehlo.dynamic_update_slice %s, %nine, %zero, %zero
            : (tensor<2x2xf64>, tensor<1x1xf64>, tensor<i32>, tensor<i32>) -> tensor<2x2xf64>
          %1:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%s) {mhlo.backend_config = {}}
            : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xi32>, tensor<i32>)
          return %0#1, %u, %1#1 : tensor<2xi32>, tensor<2x2xf64>, tensor<2xi32>
        }""",
        np.array([[1.0, 2], [3, 4]]),
    )
    assert updated.tolist() == [[9, 4], [6, 8]]
    assert first.tolist() == second.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (_lu(pivots="3"), r"has results of \(.*3xi32.*\), where it takes \(.*2xi32"),
        (_lu().replace("lapack_d", "lapack_s"), "has operands of .*f64.*, where it takes .*f32"),
        (_program("dpotrf", ["2x3xf64"], ["2x3xf64", "i32"], "uplo = 76 : ui8"),
         "has operand 0 of 2 rows and 3 columns"),
        (_cholesky(uplo="X"), "has uplo = 88: only the codes of U, L are known"),
        (_cholesky().replace("uplo =", "other ="), "has no option uplo"),
        (_program("dgees", ["2x2xf64"], ["2x2xf64"], "mode = 86 : ui8, sort = 83 : ui8"),
         "has sort = 83"),
        (_program("dgesdd", ["2x2xf64"], ["2x2xf64"], "mode = 79 : ui8"), "has mode = 79"),
        (_program("dgehrd", ["2x2xf64"], ["2x2xf64"], "low = 0 : i32, high = 2 : i32"),
         "has low = 0, high = 2: they are rows from 1 to 2"),
        (_program("dorgqr", ["2x3xf64", "2xf64"], ["2x3xf64"]), "2 rows, 3 columns and 2 refl"),
        (_program("dtrsm", ["3x3xf64", "2x2xf64"], ["2x2xf64"], "side = 76 : ui8"),
         "has a triangle of 3 rows, which does not fit 2x2"),
        (_program("zorgqr", ["2x2xcomplex<f64>"], ["2x2xcomplex<f64>"]),
         "is not one of the routines that are known for its type: .*ungqr"),
        (_lu().replace("_ffi", ""), "export the program with a newer JAX"),
        (_lu().replace("lapack_dgetrf_ffi", "blas_dtrsm"), "export the program with a newer JAX"),
        (_lu(sizes="20000x20000", pivots="20000").replace("dgetrf", "dsyevd")
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
        mlir_fp8.compile(_lu())


def _raise(error: Exception) -> object:
    def fails(*_: object) -> None:
        raise error

    return fails


def test_what_is_never_reached_needs_no_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lapack, "addresses", _raise(mlir_fp8.Fp8Error("gone")))
    unused = _lu().replace("@main", "private @unused")
    identity = "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"
    assert mlir_fp8.compile(f"{unused}\n{identity}")(np.float32(3))[0] == 3


def test_code_from_the_disk_finds_the_routines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "lu.mlir"
    file.write_text(_lu())
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
        got = mlir_fp8.compile(_lu(), threads=threads)(np.array([[0.0, 2], [4, 6]]))
        assert got[0].tolist() == [[4, 6], [0, 2]]


def test_a_library_for_c_is_refused() -> None:
    module = mlir_fp8.load(_lu())
    with pytest.raises(
        mlir_fp8.Fp8Error,
        match=r":2:\d+: 'stablehlo\.custom_call' calls dgetrf of LAPACK: no library brings",
    ):
        make_library(module, "m", CompileOptions())
