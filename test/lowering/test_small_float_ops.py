"""Compiled arith ops on small floats, on all pairs of codes: exact results, rounded once."""

from functools import cache

import numpy as np
import pytest
from float_cases import assert_codes
from rounding_table import table

import mlir_fp8
from mlir_fp8.dialects.float_formats import SMALL_FLOATS, FloatFormat

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy on inf and NaN

small = pytest.mark.parametrize("fmt", SMALL_FLOATS.values(), ids=SMALL_FLOATS)
PREDICATES = [
    "false",
    "oeq",
    "ogt",
    "oge",
    "olt",
    "ole",
    "one",
    "ord",
    "ueq",
    "ugt",
    "uge",
    "ult",
    "ule",
    "une",
    "uno",
    "true",
]


def both_zero(function: np.ufunc, zero: float) -> "np.ufunc":
    """`function`, but of two zeros of different sign `zero`."""
    return lambda x, y: np.where(
        (x == 0) & (y == 0) & (np.signbit(x) != np.signbit(y)), zero, function(x, y)
    )


ARITHMETIC = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "remf": np.fmod,
    "maximumf": both_zero(np.maximum, 0.0),
    "minimumf": both_zero(np.minimum, -0.0),
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
}


def elementwise(
    arguments: list[str], body: list[str], results: list[str], *, count: int
) -> mlir_fp8.CompiledModule:
    """One loop: `body` computes %r0, %r1, ... of element types `results` from %x0, %x1, ..."""
    tensors = [[f"tensor<{count}x{e}>" for e in elements] for elements in (arguments, results)]
    signature = ", ".join(f"%a{i}: {t}" for i, t in enumerate(tensors[0]))
    empty = "\n".join(f"%o{i} = tensor.empty() : {t}" for i, t in enumerate(tensors[1]))
    block = [f"%x{i}: {e}" for i, e in enumerate(arguments)]
    block += [f"%y{i}: {e}" for i, e in enumerate(results)]
    maps = ", ".join(["affine_map<(d) -> (d)>"] * len(block))

    def listed(name: str, types: list[str]) -> str:
        names = ", ".join(f"%{name}{i}" for i in range(len(types)))
        return f"{names} : {', '.join(types)}"

    names = ", ".join(f"%t#{i}" for i in range(len(results)))
    types = ", ".join(tensors[1])
    lines = "\n".join(body)
    inputs = f"ins({listed('a', tensors[0])})" if arguments else ""
    return mlir_fp8.compile(f"""
    func.func @main({signature}) -> ({types}) {{
      {empty}
      %t:{len(results)} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
          {inputs} outs({listed("o", tensors[1])}) {{
      ^bb0({", ".join(block)}):
        {lines}
        linalg.yield {listed("r", results)}
      }} -> ({types})
      return {names} : {types}
    }}""")


@cache
def all_pairs(fmt: FloatFormat) -> tuple[np.ndarray, np.ndarray]:
    codes = table(fmt).all_codes
    return np.repeat(codes, len(codes)), np.tile(codes, len(codes))


@cache
def run_pairs(fmt: FloatFormat) -> dict[str, np.ndarray]:
    names = [*ARITHMETIC, "copysign", *PREDICATES, "select"]
    body = [f"%r{i} = arith.{op} %x0, %x1 : {fmt.name}" for i, op in enumerate(ARITHMETIC)]
    body += [f"%r{len(body)} = math.copysign %x0, %x1 : {fmt.name}"]
    body += [
        f"%r{len(body) + i} = arith.cmpf {p}, %x0, %x1 : {fmt.name}"
        for i, p in enumerate(PREDICATES)
    ]
    less = len(ARITHMETIC) + 1 + PREDICATES.index("olt")
    body += [f"%r{len(body)} = arith.select %r{less}, %x0, %x1 : {fmt.name}"]
    results = [fmt.name] * (len(ARITHMETIC) + 1) + ["i1"] * len(PREDICATES) + [fmt.name]
    x, y = all_pairs(fmt)
    compiled = elementwise([fmt.name] * 2, body, results, count=len(x))
    return dict(zip(names, compiled(x.view(fmt.dtype), y.view(fmt.dtype)), strict=True))


@small
@pytest.mark.parametrize("op", ARITHMETIC)
def test_arithmetic(fmt: FloatFormat, op: str) -> None:
    x, y = map(table(fmt).decode, all_pairs(fmt))
    want = ARITHMETIC[op](x, y)
    if op.endswith("numf"):
        # Of two zeros either may come out.
        pass
    assert_codes(fmt, run_pairs(fmt)[op], table(fmt).round(want), want)
