"""Run cases by one judge, in as few modules as it takes, and count what is wrong."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np
from op_cases import OpCase, order, tensor
from rounding_table import table  # pyright: ignore[reportMissingImports]

import mlir_fp8
from mlir_fp8.compiling.entry import entry_signature
from mlir_fp8.dialects.float_formats import FloatFormat
from mlir_fp8.judging import judges

_LETTERS = "abcp"
_SAMPLE = 1 << 16
# What chlo-legalize-to-stablehlo refuses on small floats.
_NOT_LEGALIZED = frozenset({"bessel_i1e", "erf", "erfc"})


def operands(fmt: FloatFormat, arity: int, step: int = 1) -> list[np.ndarray]:
    """Codes for ops of so many operands: each code, each `step`-th pair, or a sample of triples.

    Triples come with an i1, as a fourth.
    """
    codes = table(fmt).all_codes
    if arity == 1:
        return [codes]
    if arity == 2:
        pairs = np.arange(len(codes) ** 2)[::step]
        return [codes[pairs // len(codes)], codes[pairs % len(codes)]]
    random = np.random.default_rng(fmt.bits)
    sample = random.integers(0, len(codes), (3, _SAMPLE // step)).astype(np.uint8)
    return [*sample, random.integers(0, 2, _SAMPLE // step).astype(np.bool_)]


def run(
    judge: str, fmt: FloatFormat, cases: Sequence[OpCase], codes: Sequence[np.ndarray]
) -> list[np.ndarray | str]:
    """The codes (or bools) that each case gives, or why the judge refuses it, in one line."""
    known = [case for case in cases if judge != "interpreter" or not case.is_chlo]
    if len(known) < len(cases):
        results = iter(run(judge, fmt, known, codes) if known else [])
        return [next(results) if case in known else "the interpreter has no CHLO" for case in cases]
    if judge != "xla":
        return _run(judge, fmt, cases, codes)
    missing = _missing_in_xla(fmt)
    if missing is not None:
        return [missing] * len(cases)
    # Alone, so that all others go in one module.
    together = [case for case in cases if case.name not in _NOT_LEGALIZED]
    results = iter(_run(judge, fmt, together, codes) if together else [])
    return [
        *(
            next(results) if case in together else _run(judge, fmt, [case], codes)[0]
            for case in cases
        )
    ]


@cache
def _missing_in_xla(fmt: FloatFormat) -> str | None:
    """Why XLA refuses the type itself, if it does."""
    type_ = tensor(fmt, 2)
    module = mlir_fp8.load(f"func.func @main(%a: {type_}) -> {type_} {{ return %a : {type_} }}")
    try:
        judges.run_by("xla", module, [np.zeros(2, fmt.dtype)], "main", entry_signature(module)[1])
    except mlir_fp8.Fp8Error as error:
        return str(error).splitlines()[0]
    return None


def _run(
    judge: str, fmt: FloatFormat, cases: Sequence[OpCase], codes: Sequence[np.ndarray]
) -> list[np.ndarray | str]:
    arrays = [each if each.dtype == np.bool_ else each.view(fmt.dtype) for each in codes]
    text = module_text(fmt, cases, len(codes[0]), len(codes))
    try:
        module = mlir_fp8.load(text)
        _, results = entry_signature(module)
        got = judges.run_by(judge, module, arrays, "main", results)
    except mlir_fp8.Fp8Error as error:
        if len(cases) == 1:
            return [str(error).splitlines()[0]]
        half = len(cases) // 2
        return [*_run(judge, fmt, cases[:half], codes), *_run(judge, fmt, cases[half:], codes)]
    return [each if each.dtype == np.bool_ else each.view(np.uint8) for each in got]


def module_text(fmt: FloatFormat, cases: Sequence[OpCase], size: int, count: int) -> str:
    """One function with a result per case, on `count` operands of `size` elements."""
    types = [tensor("i1" if letter == "p" else fmt, size) for letter in _LETTERS[:count]]
    arguments = ", ".join(f"%{x}: {t}" for x, t in zip(_LETTERS, types, strict=False))
    results = ", ".join(tensor("i1" if case.is_predicate else fmt, size) for case in cases)
    body = "\n".join(case.text(f"%r{i}", fmt, size) for i, case in enumerate(cases))
    names = ", ".join(f"%r{i}" for i in range(len(cases)))
    return (
        f"func.func @main({arguments}) -> ({results}) {{\n{body}\nreturn {names} : {results}\n}}\n"
    )


@dataclass(frozen=True)
class Count:
    """How the results of a case compare with the exact ones."""

    cases: int
    wrong: int
    max_ulp: int
    """The largest distance of a wrong number, in codes; 0 where only a zero's sign is wrong."""
    nan: int
    """Wrong results of which one, and the exact one, is NaN and the other is not."""
    no_code: int
    """NaN where the format has none: a zero of any sign is right, and counted here."""
    first: dict[str, Any] | None
    """Codes of the first wrong result, of what it should be, and of its operands."""

    def as_json(self) -> dict[str, Any]:
        """What is not zero, and always how many cases there were and how many were wrong."""
        needed = ("cases", "wrong")
        return {key: value for key, value in asdict(self).items() if value or key in needed}


def count(
    case: OpCase,
    fmt: FloatFormat,
    codes: Sequence[np.ndarray],
    got: np.ndarray,
    exact: tuple[np.ndarray, np.ndarray],
) -> Count:
    """Compare `got` with what `case.exact` says of `codes`."""
    want, no_code = exact
    alike = got == want
    numbers = both = np.zeros(len(got), np.bool_)
    if not case.is_predicate:
        nan_got, nan_want = (np.isnan(table(fmt).decode(each)) for each in (got, want))
        both = nan_got & nan_want
        alike |= no_code & (got & fmt.magnitude_mask == 0)
        if not case.keeps_bits:
            alike |= both
        numbers = ~(nan_got | nan_want)
    wrong = ~alike
    distances = 0 if case.is_predicate else np.abs(order(fmt, got) - order(fmt, want))
    return Count(
        cases=len(got),
        wrong=int(wrong.sum()),
        max_ulp=int(np.where(wrong & numbers, distances, 0).max()),
        nan=0 if case.is_predicate else int((wrong & ~numbers & ~both).sum()),
        no_code=int(no_code.sum()),
        first=_first(codes, got, want, wrong),
    )


def _first(
    codes: Sequence[np.ndarray], got: np.ndarray, want: np.ndarray, wrong: np.ndarray
) -> dict[str, Any] | None:
    if not wrong.any():
        return None
    i = int(np.argmax(wrong))
    return {"operands": [int(x[i]) for x in codes], "got": int(got[i]), "exact": int(want[i])}
