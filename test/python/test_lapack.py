"""Calls of LAPACK: values by hand, layouts, what `info` says, sizes of zero."""

import numpy as np
import pytest
from lapack_programs import call_of, cholesky, lu

import mlir_fp8

pytest.importorskip("scipy")
COLUMNS, ROWS = "dense<[0, 1]> : tensor<2xindex>", "dense<[1, 0]> : tensor<2xindex>"


def _run(program: str, *arguments: np.ndarray) -> tuple[np.ndarray, ...]:
    return mlir_fp8.compile(program)(*arguments)


def test_lu_by_hand() -> None:
    factors, pivots, info = _run(lu(), np.array([[0.0, 2], [4, 6]]))
    assert factors.tolist() == [[4, 6], [0, 2]]
    assert (pivots.tolist(), int(info)) == ([2, 2], 0)


def test_rows_in_memory_are_the_columns_of_another_matrix() -> None:
    layouts = ([ROWS], [ROWS, "dense<0> : tensor<1xindex>", "dense<> : tensor<0xindex>"])
    factors, pivots, info = _run(lu(layouts=layouts), np.array([[0.0, 2], [4, 6]]))
    # Of [[0, 4], [2, 6]], whose second row is the first pivot: [[2, 6], [0, 4]], read as rows.
    assert factors.tolist() == [[2, 0], [6, 4]]
    assert (pivots.tolist(), int(info)) == ([2, 2], 0)


def test_layouts_may_differ_and_be_left_out() -> None:
    layouts = ([COLUMNS], [ROWS, "dense<0> : tensor<1xindex>", "dense<> : tensor<0xindex>"])
    factors, _, _ = _run(lu(layouts=layouts), np.array([[0.0, 2], [4, 6]]))
    assert factors.tolist() == [[4, 0], [6, 2]]
    without = lu(layouts=([ROWS], [ROWS, "x", "y"]))
    start, end = without.index(", operand_layouts"), without.index("} :")
    factors, _, _ = _run(without[:start] + without[end:], np.array([[0.0, 2], [4, 6]]))
    assert factors.tolist() == [[2, 0], [6, 4]]


def test_the_typed_form_of_options() -> None:
    typed = lu().replace("mhlo.backend_config", "api_version = 4 : i32, backend_config")
    assert _run(typed, np.array([[0.0, 2], [4, 6]]))[0].tolist() == [[4, 6], [0, 2]]


def test_info_tells_which_matrix_of_a_batch_is_singular() -> None:
    program = call_of("sgetrf", ["3x2x2xf32"], ["3x2x2xf32", "3x2xi32", "3xi32"], layouts=(
        ["dense<[1, 2, 0]> : tensor<3xindex>"],
        ["dense<[1, 2, 0]> : tensor<3xindex>", ROWS, "dense<0> : tensor<1xindex>"],
    ))  # fmt: skip
    given = np.array([[[1, 1], [1, 1]], [[0, 0], [0, 1]], [[2, 1], [1, 2]]], np.float32)
    assert _run(program, given)[2].tolist() == [2, 1, 0]


@pytest.mark.parametrize("uplo", ["L", "U"])
def test_cholesky_reads_and_writes_one_triangle(uplo: str) -> None:
    given = np.array([[4.0, np.nan], [2, 5]])
    factor, info = _run(cholesky(uplo=uplo), given if uplo == "L" else given.T)
    wanted = np.array([[2.0, np.nan], [1, 2]])
    np.testing.assert_array_equal(factor, wanted if uplo == "L" else wanted.T)
    assert int(info) == 0


def test_what_is_not_positive_definite() -> None:
    assert int(_run(cholesky(), np.array([[1.0, 2], [2, 1]]))[1]) == 2
    assert int(_run(cholesky(1), np.array([[0.0]]))[1]) == 1


def test_arguments_are_not_written_to() -> None:
    given = np.array([[4.0, 7], [2, 5]])
    given.flags.writeable = False
    _run(cholesky(), given)
    assert given.tolist() == [[4, 7], [2, 5]]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "program",
    [
        cholesky(0),
        lu(sizes="0x0", pivots="0"),
        lu(sizes="3x0", pivots="0"),
        lu(sizes="0x3", pivots="0"),
        lu("f32", sizes="0x4", pivots="0"),
        call_of("dgeqrf", ["0x3xf64"], ["0x3xf64", "0xf64"]),
        call_of("dorgqr", ["2x0xf64", "0xf64"], ["2x0xf64"]),
        call_of("dgeqp3", ["2x0xf64", "0xi32"], ["2x0xf64", "0xi32", "0xf64"]),
        call_of("dsyevd", ["0x0xf64"], ["0x0xf64", "0xf64", "i32"],
                 "mode = 86 : ui8, uplo = 76 : ui8"),
        call_of("zheevd", ["0x0xcomplex<f64>"], ["0x0xcomplex<f64>", "0xf64", "i32"],
                 "mode = 86 : ui8, uplo = 76 : ui8"),
        call_of("dgesdd", ["0x2xf64"], ["0x2xf64", "0xf64", "0x0xf64", "0x2xf64", "i32"],
                 "mode = 83 : ui8"),
        call_of("dgesvd", ["2x0xf64"], ["2x0xf64", "0xf64", "2x0xf64", "0x0xf64", "i32"],
                 "mode = 83 : ui8"),
        call_of("dgees", ["0x0xf64"], ["0x0xf64", "0x0xf64", "0xf64", "0xf64", "i32", "i32"],
                 "mode = 86 : ui8, sort = 78 : ui8"),
        call_of("dgehrd", ["1x1xf64"], ["1x1xf64", "0xf64", "i32"],
                 "low = 1 : i32, high = 1 : i32"),
        call_of("dgehrd", ["0x0xf64"], ["0x0xf64", "0xf64", "i32"],
                 "low = 1 : i32, high = 0 : i32"),
        call_of("dsytrd", ["1x1xf64"], ["1x1xf64", "1xf64", "0xf64", "0xf64", "i32"],
                 "uplo = 76 : ui8"),
        call_of("dtrsm", ["2x2xf64", "2x0xf64"], ["2x0xf64"],
                 "side = 76 : ui8, uplo = 76 : ui8, trans_x = 78 : ui8, diag = 78 : ui8"),
        call_of("dgtsv", ["0xf64", "0xf64", "0xf64", "0x2xf64"],
                 ["0xf64", "0xf64", "0xf64", "0x2xf64", "i32"]),
        call_of("dormqr", ["2x0xf64", "0xf64", "2x3xf64"], ["2x3xf64"],
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
    program = lu(sizes="0x2x2", pivots="0x2").replace("tensor<i32>", "tensor<0xi32>")
    assert [each.shape for each in _run(_batched(program), np.zeros((0, 2, 2)))] == [
        (0, 2, 2), (0, 2), (0,)
    ]  # fmt: skip


def _batched(program: str) -> str:
    """Without layouts, which do not matter where there is nothing."""
    start, end = program.index(", operand_layouts"), program.index("} :")
    return program[:start] + program[end:]


_EIGH = call_of(
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
    program = call_of(
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
    program = call_of(routine, [f"{size}x{size}xf64"], types, options)
    assert int(_run(program, matrix)[-1]) == -4
    assert capfd.readouterr() == ("", "")


def test_singular_values_rebuild_the_matrix() -> None:
    program = call_of(
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
    program = call_of(
        "ctrsm", ["2x2xcomplex<f32>", "2x1xcomplex<f32>"], ["2x1xcomplex<f32>"],
        "side = 76 : ui8, uplo = 76 : ui8, trans_x = 67 : ui8, diag = 85 : ui8",
    )  # fmt: skip
    triangle = np.array([[9, 9], [2j, 9]], np.complex64)
    # The adjoint is [[1, -2j], [0, 1]].
    (got,) = _run(program, triangle, np.array([[1], [3]], np.complex64))
    assert got.tolist() == [[1 + 6j], [3]]


def test_a_tridiagonal_system() -> None:
    program = call_of(
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
