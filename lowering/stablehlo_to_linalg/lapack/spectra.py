"""Singular values, eigenvalues, and the forms that they are read from."""

from mlir_fp8.lowering.stablehlo_to_linalg.lapack.arguments import (
    INFO,
    WORK,
    Argument,
    Character,
    Integer,
    Null,
    Operand,
    Result,
    Routine,
    Scratch,
    Tensor,
    lead,
)
from mlir_fp8.lowering.stablehlo_to_linalg.lapack.problem import Problem


def _refuse_large(p: Problem, size: int) -> None:
    """Workspaces of `8 * size**2` elements and fewer have sizes that are 32-bit integers."""
    if size >= 1 << 14:
        raise p.error(f"has {size} rows or columns: its workspace has 32-bit sizes, up to 16383")


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
        [matrix, Tensor("R", (least,)), Tensor("T", left), Tensor("T", right), INFO],
        [
            *mode,
            Integer(m),
            Integer(n),
            Operand(0),
            lead(m),
            Result(1),
            Result(2),
            lead(m),
            Result(3),
            lead(right[0]),
            *WORK,
            *real,
            *integers,
            Result(4),
        ],
        in_place={0: 0},
        info=4,
        only_finite="all",
    )


def gesdd(p: Problem) -> Routine:
    least, most = sorted(p.sizes(0))
    _refuse_large(p, least)
    mode = p.letter_of("mode", "ASN")
    real: list[Argument] = []
    if p.is_complex:
        with_vectors = max(5 * least + 5, 2 * most + 2 * least + 1) * least
        real.append(Scratch("R", 7 * least if mode == ord("N") else with_vectors))
    return _singular_values(p, [Character(mode)], real, [Scratch("I", 8 * least)])


def gesvd(p: Problem) -> Routine:
    mode = Character(p.letter_of("mode", "ASN"))
    real: list[Argument] = [Scratch("R", 5 * min(p.sizes(0)))] if p.is_complex else []
    return _singular_values(p, [mode, mode], real, [])


def syevd(p: Problem) -> Routine:
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
        [matrix, Tensor("R", (n,)), INFO],
        [
            Character(mode),
            Character(uplo),
            Integer(n),
            Operand(0),
            lead(n),
            Result(1),
            *WORK,
            *real,
            Scratch("I", integers),
            Integer(integers),
            Result(2),
        ],
        in_place={0: 0},
        info=2,
        only_finite="lower" if uplo == ord("L") else "upper",
    )


def geev(p: Problem) -> Routine:
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
        [*values, vectors, vectors, INFO],
        [
            *jobs,
            Integer(n),
            Operand(0),
            lead(n),
            *(Result(i) for i in range(left)),
            Result(left),
            lead(n),
            Result(left + 1),
            lead(n),
            *WORK,
            *real,
            Result(left + 2),
        ],
        info=left + 2,
        only_finite="all",
    )


def gees(p: Problem) -> Routine:
    n = p.square(0)
    matrix = Tensor("T", (n, n))
    mode = Character(p.letter_of("mode", "NV"))
    sort = Character(p.letter_of("sort", "N"))
    values = [Tensor("T", (n,))] if p.is_complex else [Tensor("R", (n,))] * 2
    after = 2 + len(values)
    real: list[Argument] = [Scratch("R", n)] if p.is_complex else []
    return Routine(
        [matrix],
        [matrix, matrix, *values, INFO, INFO],
        [
            mode,
            sort,
            Null(),
            Integer(n),
            Operand(0),
            lead(n),
            Result(after),
            *(Result(i) for i in range(2, after)),
            Result(1),
            lead(n),
            *WORK,
            *real,
            Null(),
            Result(after + 1),
        ],
        in_place={0: 0},
        info=after + 1,
        only_finite="all",
    )


def gehrd(p: Problem) -> Routine:
    n = p.square(0)
    low, high = p.number_of("low"), p.number_of("high")
    if not (1 <= low <= high <= n or (n == 0 and (low, high) == (1, 0))):
        raise p.error(f"has low = {low}, high = {high}: they are rows from 1 to {n}, in order")
    matrix = Tensor("T", (n, n))
    return Routine(
        [matrix],
        [matrix, Tensor("T", (max(0, n - 1),)), INFO],
        [
            Integer(n),
            Integer(low),
            Integer(high),
            Operand(0),
            lead(n),
            Result(1),
            *WORK,
            Result(2),
        ],
        in_place={0: 0},
        info=2,
    )


def sytrd(p: Problem) -> Routine:
    n = p.square(0)
    off = (max(0, n - 1),)
    matrix = Tensor("T", (n, n))
    uplo = Character(p.letter_of("uplo", "UL"))
    return Routine(
        [matrix],
        [matrix, Tensor("R", (n,)), Tensor("R", off), Tensor("T", off), INFO],
        [
            uplo,
            Integer(n),
            Operand(0),
            lead(n),
            Result(1),
            Result(2),
            Result(3),
            *WORK,
            Result(4),
        ],
        in_place={0: 0},
        info=4,
    )
