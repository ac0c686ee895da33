"""The routines that JAX calls, by their names without the letter of the type.

Arguments are in the order of the reference LAPACK (https://netlib.org/lapack); operands, results
and options are those of jaxlib's custom calls. Where sizes are zero leading dimensions are 1, so
that no routine finds an argument wrong: some would end the process for it.
"""

from collections.abc import Callable

from mlir_fp8.lowering.lapack.arguments import (
    Argument,
    Character,
    Integer,
    Null,
    One,
    Operand,
    Result,
    Routine,
    Scratch,
    Tensor,
    Workspace,
    WorkspaceSize,
)
from mlir_fp8.lowering.lapack.problem import Problem

_INFO = Tensor("I")
_UNTOLD = Scratch("I", 1)
"""An `info` that the custom call does not give."""
_WORK: list[Argument] = [Workspace(), WorkspaceSize()]


def _lead(rows: int) -> Integer:
    return Integer(max(1, rows))


def _refuse_large(p: Problem, size: int) -> None:
    """Workspaces of `8 * size**2` elements and fewer have sizes that are 32-bit integers."""
    if size >= 1 << 14:
        raise p.error(f"has {size} rows or columns: its workspace has 32-bit sizes, up to 16383")


def _getrf(p: Problem) -> Routine:
    m, n = p.sizes(0)
    matrix = Tensor("T", (m, n))
    return Routine(
        [matrix],
        [matrix, Tensor("I", (min(m, n),)), _INFO],
        [Integer(m), Integer(n), Operand(0), _lead(m), Result(1), Result(2)],
        in_place={0: 0},
        info=2,
    )


def _potrf(p: Problem) -> Routine:
    n = p.square(0)
    matrix = Tensor("T", (n, n))
    uplo = Character(p.letter_of("uplo", "UL"))
    return Routine(
        [matrix],
        [matrix, _INFO],
        [uplo, Integer(n), Operand(0), _lead(n), Result(1)],
        in_place={0: 0},
        info=1,
    )


def _geqrf(p: Problem) -> Routine:
    m, n = p.sizes(0)
    matrix = Tensor("T", (m, n))
    return Routine(
        [matrix],
        [matrix, Tensor("T", (min(m, n),))],
        [Integer(m), Integer(n), Operand(0), _lead(m), Result(1), *_WORK, _UNTOLD],
        in_place={0: 0},
    )


def _geqp3(p: Problem) -> Routine:
    m, n = p.sizes(0)
    matrix, pivots = Tensor("T", (m, n)), Tensor("I", (n,))
    real: list[Argument] = [Scratch("R", 2 * n)] if p.is_complex else []
    return Routine(
        [matrix, pivots],
        [matrix, pivots, Tensor("T", (min(m, n),))],
        [Integer(m), Integer(n), Operand(0), _lead(m), Operand(1), Result(2)]
        + [*_WORK, *real, _UNTOLD],
        in_place={0: 0, 1: 1},
    )


def _orgqr(p: Problem) -> Routine:
    m, n = p.sizes(0)
    (k,) = p.sizes(1, rank=1)
    if not m >= n >= k:
        raise p.error(f"has {m} rows, {n} columns and {k} reflectors: each at most the one before")
    matrix = Tensor("T", (m, n))
    return Routine(
        [matrix, Tensor("T", (k,))],
        [matrix],
        [Integer(m), Integer(n), Integer(k), Operand(0), _lead(m), Operand(1), *_WORK, _UNTOLD],
        in_place={0: 0},
    )


def _ormqr(p: Problem) -> Routine:
    rows, columns = p.sizes(0)
    (k,) = p.sizes(1, rank=1)
    m, n = p.sizes(2)
    left = p.flag_of("left")
    if rows != (m if left else n) or not rows >= k or not columns >= k:
        raise p.error(f"has {k} reflectors in {rows}x{columns}, which do not fit {m}x{n}")
    transposed = "C" if p.is_complex else "T"
    side = Character(ord("L" if left else "R"))
    trans = Character(ord(transposed if p.flag_of("transpose") else "N"))
    matrix = Tensor("T", (m, n))
    return Routine(
        [Tensor("T", (rows, columns)), Tensor("T", (k,)), matrix],
        [matrix],
        [side, trans, Integer(m), Integer(n), Integer(k), Operand(0), _lead(rows)]
        + [Operand(1), Operand(2), _lead(m), *_WORK, _UNTOLD],
        in_place={0: 2},
    )


def _singular_values(
    p: Problem, mode: list[Argument], real: list[Argument], integers: list[Argument]
) -> Routine:
    m, n = p.sizes(0)
    least = min(m, n)
    matrix = Tensor("T", (m, n))
    thin, full = ((m, least), (least, n)), ((m, m), (n, n))
    mode_letter = chr(p.letter_of("mode", "ASN"))
    # Where no vectors are asked for, either size is declared, and none is computed.
    is_thin = mode_letter == "S" or (
        mode_letter == "N" and (p.result_sizes(2), p.result_sizes(3)) == thin
    )
    left, right = thin if is_thin else full
    return Routine(
        [matrix],
        [matrix, Tensor("R", (least,)), Tensor("T", left), Tensor("T", right), _INFO],
        [*mode, Integer(m), Integer(n), Operand(0), _lead(m), Result(1), Result(2), _lead(m)]
        + [Result(3), _lead(right[0]), *_WORK, *real, *integers, Result(4)],
        in_place={0: 0},
        info=4,
        only_finite="all",
    )


def _gesdd(p: Problem) -> Routine:
    least, most = sorted(p.sizes(0))
    _refuse_large(p, least)
    mode = p.letter_of("mode", "ASN")
    real: list[Argument] = []
    if p.is_complex:
        with_vectors = max(5 * least + 5, 2 * most + 2 * least + 1) * least
        real.append(Scratch("R", 7 * least if mode == ord("N") else with_vectors))
    return _singular_values(p, [Character(mode)], real, [Scratch("I", 8 * least)])


def _gesvd(p: Problem) -> Routine:
    mode = Character(p.letter_of("mode", "ASN"))
    real: list[Argument] = [Scratch("R", 5 * min(p.sizes(0)))] if p.is_complex else []
    return _singular_values(p, [mode, mode], real, [])


def _syevd(p: Problem) -> Routine:
    n = p.square(0)
    _refuse_large(p, n)
    matrix = Tensor("T", (n, n))
    mode = p.letter_of("mode", "NV")
    has_vectors = mode == ord("V")
    real: list[Argument] = []
    if p.is_complex:
        count = 1 + 5 * n + 2 * n * n if has_vectors else max(1, n)
        real = [Scratch("R", count), Integer(count)]
    integers = 3 + 5 * n if has_vectors else 1
    uplo = p.letter_of("uplo", "UL")
    return Routine(
        [matrix],
        [matrix, Tensor("R", (n,)), _INFO],
        [Character(mode), Character(uplo), Integer(n), Operand(0), _lead(n)]
        + [Result(1), *_WORK, *real, Scratch("I", integers), Integer(integers), Result(2)],
        in_place={0: 0},
        info=2,
        only_finite="lower" if uplo == ord("L") else "upper",
    )


def _geev(p: Problem) -> Routine:
    n = p.square(0)
    jobs = [Character(p.letter_of(f"compute_{side}", "NV")) for side in ("left", "right")]
    if p.is_complex:
        values, vectors = [Tensor("T", (n,))], Tensor("T", (n, n))
    else:
        values, vectors = [Tensor("R", (n,))] * 2, Tensor("P", (n, n))
    left = len(values)
    real: list[Argument] = [Scratch("R", 2 * n)] if p.is_complex else []
    return Routine(
        [Tensor("T", (n, n))],
        [*values, vectors, vectors, _INFO],
        [*jobs, Integer(n), Operand(0), _lead(n), *(Result(i) for i in range(left))]
        + [Result(left), _lead(n), Result(left + 1), _lead(n), *_WORK, *real, Result(left + 2)],
        info=left + 2,
        only_finite="all",
    )


def _gees(p: Problem) -> Routine:
    n = p.square(0)
    matrix = Tensor("T", (n, n))
    mode = Character(p.letter_of("mode", "NV"))
    sort = Character(p.letter_of("sort", "N"))
    values = [Tensor("T", (n,))] if p.is_complex else [Tensor("R", (n,))] * 2
    after = 2 + len(values)
    real: list[Argument] = [Scratch("R", n)] if p.is_complex else []
    return Routine(
        [matrix],
        [matrix, matrix, *values, _INFO, _INFO],
        [mode, sort, Null(), Integer(n), Operand(0), _lead(n), Result(after)]
        + [*(Result(i) for i in range(2, after)), Result(1), _lead(n)]
        + [*_WORK, *real, Null(), Result(after + 1)],
        in_place={0: 0},
        info=after + 1,
        only_finite="all",
    )


def _gehrd(p: Problem) -> Routine:
    n = p.square(0)
    low, high = p.number_of("low"), p.number_of("high")
    if not (1 <= low <= high <= n or (n == 0 and (low, high) == (1, 0))):
        raise p.error(f"has low = {low}, high = {high}: they are rows from 1 to {n}, in order")
    matrix = Tensor("T", (n, n))
    return Routine(
        [matrix],
        [matrix, Tensor("T", (max(0, n - 1),)), _INFO],
        [Integer(n), Integer(low), Integer(high), Operand(0), _lead(n), Result(1), *_WORK]
        + [Result(2)],
        in_place={0: 0},
        info=2,
    )


def _sytrd(p: Problem) -> Routine:
    n = p.square(0)
    off = (max(0, n - 1),)
    matrix = Tensor("T", (n, n))
    uplo = Character(p.letter_of("uplo", "UL"))
    return Routine(
        [matrix],
        [matrix, Tensor("R", (n,)), Tensor("R", off), Tensor("T", off), _INFO],
        [uplo, Integer(n), Operand(0), _lead(n), Result(1), Result(2), Result(3), *_WORK]
        + [Result(4)],
        in_place={0: 0},
        info=4,
    )


def _gtsv(p: Problem) -> Routine:
    n, count = p.sizes(3)
    diagonals, right = [Tensor("T", (n,))] * 3, Tensor("T", (n, count))
    return Routine(
        [*diagonals, right],
        [*diagonals, right, _INFO],
        # The lower diagonal is given with an element more, at its start.
        [Integer(n), Integer(count), Operand(0, skipped=1), Operand(1), Operand(2), Operand(3)]
        + [_lead(n), Result(4)],
        in_place={0: 0, 1: 1, 2: 2, 3: 3},
        info=4,
    )


def _trsm(p: Problem) -> Routine:
    k = p.square(0)
    m, n = p.sizes(1)
    side = p.letter_of("side", "LR")
    if k != (m if side == ord("L") else n):
        raise p.error(f"has a triangle of {k} rows, which does not fit {m}x{n}")
    letters = [("uplo", "UL"), ("trans_x", "NTC"), ("diag", "UN")]
    how = [Character(side), *(Character(p.letter_of(name, known)) for name, known in letters)]
    right = Tensor("T", (m, n))
    return Routine(
        [Tensor("T", (k, k)), right],
        [right],
        [*how, Integer(m), Integer(n), One(), Operand(0), _lead(k), Operand(1), _lead(m)],
        in_place={0: 1},
    )


_REAL: dict[str, Callable[[Problem], Routine]] = {
    "geev": _geev,
    "gees": _gees,
    "gehrd": _gehrd,
    "geqp3": _geqp3,
    "geqrf": _geqrf,
    "gesdd": _gesdd,
    "gesvd": _gesvd,
    "getrf": _getrf,
    "gtsv": _gtsv,
    "orgqr": _orgqr,
    "ormqr": _ormqr,
    "potrf": _potrf,
    "syevd": _syevd,
    "sytrd": _sytrd,
    "trsm": _trsm,
}
_COMPLEX_NAMES = {"orgqr": "ungqr", "ormqr": "unmqr", "syevd": "heevd", "sytrd": "hetrd"}


def routine_of(problem: Problem) -> Routine:
    """The routine that the custom call asks for; `Fp8Error` where there is none, or it misfits."""
    known = _REAL
    if problem.is_complex:
        known = {_COMPLEX_NAMES.get(name, name): entry for name, entry in _REAL.items()}
    if problem.routine not in known:
        listed = ", ".join(sorted(known))
        raise problem.error(f"is not one of the routines that are known for its type: {listed}")
    return known[problem.routine](problem)
