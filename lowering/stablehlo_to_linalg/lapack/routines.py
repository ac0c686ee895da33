"""The routines that JAX calls, by their names without the letter of the type.

Arguments are in the order of the reference LAPACK (https://netlib.org/lapack); operands, results
and options are those of jaxlib's custom calls. Where sizes are zero leading dimensions are 1, so
that no routine finds an argument wrong: some would abort.
"""

from collections.abc import Callable

from mlir_fp8.lowering.stablehlo_to_linalg.lapack import factorizations, spectra
from mlir_fp8.lowering.stablehlo_to_linalg.lapack.arguments import Routine
from mlir_fp8.lowering.stablehlo_to_linalg.lapack.problem import Problem

_REAL: dict[str, Callable[[Problem], Routine]] = {
    "geev": spectra.geev,
    "gees": spectra.gees,
    "gehrd": spectra.gehrd,
    "geqp3": factorizations.geqp3,
    "geqrf": factorizations.geqrf,
    "gesdd": spectra.gesdd,
    "gesvd": spectra.gesvd,
    "getrf": factorizations.getrf,
    "gtsv": factorizations.gtsv,
    "orgqr": factorizations.orgqr,
    "ormqr": factorizations.ormqr,
    "potrf": factorizations.potrf,
    "syevd": spectra.syevd,
    "sytrd": spectra.sytrd,
    "trsm": factorizations.trsm,
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
