"""Elementwise ops on every integer type: all values of 2 and 4 bits, special ones of more."""

import itertools

import numpy as np
import pytest
from integer_reference import (
    BINARY,
    COMPARISONS,
    ELEMENTS,
    UNARY,
    Integers,
    kind_letter,
)

import mlir_fp8


def _program(element: str, count: int, body: list[str], results: list[str], inputs: int) -> str:
    arguments = ", ".join(f"%a{i}: tensor<{count}x{element}>" for i in range(inputs))
    names = ", ".join(f"%r{i}" for i in range(len(results)))
    types = ", ".join(results)
    lines = "\n".join(f"  %r{i} = {line}" for i, line in enumerate(body))
    return f"func.func @main({arguments}) -> ({types}) {{\n{lines}\n  return {names} : {types}\n}}"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("element", ELEMENTS)
def test_elementwise(element: str) -> None:
    kind = Integers(element)
    letter = kind_letter(kind)
    pairs = list(itertools.product(kind.values(), repeat=2))
    t, p = f"tensor<{len(pairs)}x{element}>", f"tensor<{len(pairs)}xi1>"
    unary = [name for name, (kinds, _) in UNARY.items() if letter in kinds]
    binary = [name for name, (kinds, _) in BINARY.items() if letter in kinds]
    body = [f"stablehlo.{name} %a0 : {t}" for name in unary]
    body += [f"stablehlo.{name} %a0, %a1 : {t}" for name in binary]
    body += [f"stablehlo.compare {name}, %a0, %a1 : ({t}, {t}) -> {p}" for name in COMPARISONS]
    results = [t] * (len(unary) + len(binary)) + [p] * len(COMPARISONS)
    compiled = mlir_fp8.compile(_program(element, len(pairs), body, results, 2))
    left, right = ([pair[i] for pair in pairs] for i in (0, 1))
    got = compiled(kind.array(left), kind.array(right))
    names = [*unary, *binary, *COMPARISONS]
    for name, array in zip(names, got, strict=True):
        if name in COMPARISONS:
            want = [COMPARISONS[name](a, b) for a, b in pairs]
            np.testing.assert_array_equal(array, want, err_msg=name)
            continue
        numbers = kind.numbers(array)
        for (a, b), number in zip(pairs, numbers, strict=True):
            want = UNARY[name][1](kind, a) if name in UNARY else BINARY[name][1](kind, a, b)
            assert number == want, f"{name} {a}, {b}"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("element", ELEMENTS)
def test_convert(element: str) -> None:
    """To every other integer type modulo its range, to i1 by being other than 0."""
    kind = Integers(element)
    values = kind.values()
    t = f"tensor<{len(values)}x{element}>"
    results = [f"tensor<{len(values)}x{other}>" for other in ELEMENTS]
    body = [f"stablehlo.convert %a0 : ({t}) -> {result}" for result in results]
    compiled = mlir_fp8.compile(_program(element, len(values), body, results, 1))
    for other, array in zip(map(Integers, ELEMENTS), compiled(kind.array(values)), strict=True):
        want = [int(v != 0) if other.bits == 1 else other.wrap(v) for v in values]
        assert other.numbers(array) == want, other.element


@pytest.mark.sampled(4)
@pytest.mark.parametrize("element", [e for e in ELEMENTS if e != "i1"])
def test_clamp_and_select(element: str) -> None:
    kind = Integers(element)
    values = kind.values()[:: max(1, len(kind.values()) // 12)]
    triples = list(itertools.product(values, repeat=3))
    t, p = f"tensor<{len(triples)}x{element}>", f"tensor<{len(triples)}xi1>"
    body = [
        f"stablehlo.clamp %a0, %a1, %a2 : {t}",
        f"stablehlo.compare LT, %a0, %a1 : ({t}, {t}) -> {p}",
        f"stablehlo.select %r1, %a1, %a2 : {p}, {t}",
        f"stablehlo.iota dim = 0 : {t}",
    ]
    compiled = mlir_fp8.compile(_program(element, len(triples), body, [t, p, t, t], 3))
    columns = [[triple[i] for triple in triples] for i in range(3)]
    clamped, _, selected, counted = compiled(*map(kind.array, columns))
    assert kind.numbers(clamped) == [min(max(low, x), high) for low, x, high in triples]
    assert kind.numbers(selected) == [x if low < x else high for low, x, high in triples]
    assert kind.numbers(counted) == [kind.wrap(i) for i in range(len(triples))]
