"""LU, Cholesky's and QR factorizations, triangles and tridiagonal systems."""

from mlir_fp8.lowering.stablehlo_to_linalg.lapack.arguments import (
    INFO,
    UNTOLD,
    WORK,
    Argument,
    Character,
    Integer,
    One,
    Operand,
    Result,
    Routine,
    Scratch,
    Tensor,
    lead,
)
from mlir_fp8.lowering.stablehlo_to_linalg.lapack.problem import Problem


def getrf(p: Problem) -> Routine:
    m, n = p.sizes(0)
    matrix = Tensor("T", (m, n))
    return Routine(
        [matrix],
        [matrix, Tensor("I", (min(m, n),)), INFO],
        [Integer(m), Integer(n), Operand(0), lead(m), Result(1), Result(2)],
        in_place={0: 0},
        info=2,
    )


def potrf(p: Problem) -> Routine:
    n = p.square(0)
    matrix = Tensor("T", (n, n))
    uplo = Character(p.letter_of("uplo", "UL"))
    return Routine(
        [matrix],
        [matrix, INFO],
        [uplo, Integer(n), Operand(0), lead(n), Result(1)],
        in_place={0: 0},
        info=1,
    )


def geqrf(p: Problem) -> Routine:
    m, n = p.sizes(0)
    matrix = Tensor("T", (m, n))
    return Routine(
        [matrix],
        [matrix, Tensor("T", (min(m, n),))],
        [Integer(m), Integer(n), Operand(0), lead(m), Result(1), *WORK, UNTOLD],
        in_place={0: 0},
    )


def geqp3(p: Problem) -> Routine:
    m, n = p.sizes(0)
    matrix, pivots = Tensor("T", (m, n)), Tensor("I", (n,))
    real: list[Argument] = [Scratch("R", 2 * n)] if p.is_complex else []
    return Routine(
        [matrix, pivots],
        [matrix, pivots, Tensor("T", (min(m, n),))],
        [
            Integer(m),
            Integer(n),
            Operand(0),
            lead(m),
            Operand(1),
            Result(2),
            *WORK,
            *real,
            UNTOLD,
        ],
        in_place={0: 0, 1: 1},
    )


def orgqr(p: Problem) -> Routine:
    m, n = p.sizes(0)
    (k,) = p.sizes(1, rank=1)
    if not m >= n >= k:
        raise p.error(f"has {m} rows, {n} columns and {k} reflectors: each at most the one before")
    matrix = Tensor("T", (m, n))
    return Routine(
        [matrix, Tensor("T", (k,))],
        [matrix],
        [Integer(m), Integer(n), Integer(k), Operand(0), lead(m), Operand(1), *WORK, UNTOLD],
        in_place={0: 0},
    )


def ormqr(p: Problem) -> Routine:
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
        [
            side,
            trans,
            Integer(m),
            Integer(n),
            Integer(k),
            Operand(0),
            lead(rows),
            Operand(1),
            Operand(2),
            lead(m),
            *WORK,
            UNTOLD,
        ],
        in_place={0: 2},
    )


def gtsv(p: Problem) -> Routine:
    n, count = p.sizes(3)
    diagonals, right = [Tensor("T", (n,))] * 3, Tensor("T", (n, count))
    return Routine(
        [*diagonals, right],
        [*diagonals, right, INFO],
        # The lower diagonal is given with an element more, at its start.
        [
            Integer(n),
            Integer(count),
            Operand(0, skipped=1),
            Operand(1),
            Operand(2),
            Operand(3),
            lead(n),
            Result(4),
        ],
        in_place={0: 0, 1: 1, 2: 2, 3: 3},
        info=4,
    )


def trsm(p: Problem) -> Routine:
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
        [*how, Integer(m), Integer(n), One(), Operand(0), lead(k), Operand(1), lead(m)],
        in_place={0: 1},
    )
