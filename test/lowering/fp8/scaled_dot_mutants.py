"""Random programs around f8 dots in which any step may come anywhere, right or wrong."""

from collections.abc import Callable

import numpy as np
from scaled_dot_programs import LARGEST, WIDE, gelu_erf, gelu_tanh
from scaled_dot_text import Program, Value, spell

FORMATS = ("f8E4M3FN", "f8E4M3FN", "f8E4M3FN", "f8E5M2")
FACTORS = ("number", "single", "single", "row", "column")
NUMBERS = ("0.125", "0.3", "-1.0", "0.0", "-0.0", "1.0", "2.0", "448.0")


def random_mutant(seed: int, count: int) -> Program:
    """`count` dots, most of which are not wholly what one fused op does."""
    program = Program(np.random.default_rng(seed))
    for _ in range(count):
        _dot(program)
    return program


def _dot(program: Program) -> None:
    m, k, n = (int(program.random.choice([1, 2, 4])) for _ in range(3))
    lhs = _operand(program, (m, 4 * k))
    rhs = _operand(program, (4 * k, n))
    if lhs.element != rhs.element and program.chance():
        lhs, rhs = program.convert(lhs, "f32"), program.convert(rhs, "f32")
    element = program.choose(("f32", "f32", "bf16", "f8E4M3FN"))
    text = f"dot_general {lhs.name}, {rhs.name}, contracting_dims = [1] x [0]"
    x = program.emit(
        f"{text} : ({lhs.type}, {rhs.type}) -> {spell((m, n), element)}", (m, n), element
    )
    program.results.append(_steps(program, x, int(program.random.integers(0, 7)), kept=0.1))


def _operand(program: Program, shape: tuple[int, int]) -> Value:
    x = program.argument(shape, program.choose(FORMATS))
    if program.chance(0.15):
        return x
    x = program.convert(x, program.choose(WIDE))
    steps: tuple[Callable[[Program, Value], Value], ...] = (_scaled, _scaled, _moved, _recast)
    for _ in range(int(program.random.integers(0, 3))):
        x = steps[program.random.integers(len(steps))](program, x)
    return x


def _steps(program: Program, x: Value, count: int, kept: float) -> Value:
    steps = (
        _scaled,
        _scaled,
        _added,
        _bounded,
        _bounded,
        _recast,
        _activated,
        _measured,
        _quantized,
    )
    for _ in range(count):
        if program.chance(kept):
            program.results.append(x)
        x = steps[program.random.integers(len(steps))](program, x)
    return x


def _factor(program: Program, x: Value) -> Value:
    kind = program.choose(FACTORS if program.chance(0.9) else ("full", "self"))
    own = program.choose((x.element, x.element, "f32"))
    if kind == "number" or kind == "self":
        return (
            x
            if kind == "self"
            else program.constant(float(program.choose(NUMBERS)), x.shape, x.element)
        )
    if kind == "full":
        return program.convert(program.argument(x.shape, own), x.element)
    dims = {"single": [], "row": [0], "column": [1]}[kind]
    small = program.argument(tuple(x.shape[i] for i in dims), own)
    if program.chance():
        return program.broadcast(program.convert(small, x.element), dims, x.shape)
    return program.convert(program.broadcast(small, dims, x.shape), x.element)


def _scaled(program: Program, x: Value) -> Value:
    factor = _factor(program, x)
    return program.binary(program.choose(("multiply", "multiply", "divide")), x, factor)


def _added(program: Program, x: Value) -> Value:
    return program.binary("add", x, _factor(program, x))


def _bounded(program: Program, x: Value) -> Value:
    x = x if x.element in WIDE else program.convert(x, "f32")
    name = program.choose(("maximum", "minimum", "clamp"))
    largest = LARGEST[program.choose(("f8E4M3FN", "f8E5M2"))]
    if name == "clamp":
        low, high = (program.constant(each, x.shape, x.element) for each in (-largest, largest))
        text = f"clamp {low.name}, {x.name}, {high.name} : {x.type}"
        return program.emit(text, x.shape, x.element)
    number = float(program.choose(("0.0", "0.0", "-0.0", "1.0", str(largest), str(-largest))))
    return program.binary(name, x, program.constant(number, x.shape, x.element))


def _recast(program: Program, x: Value) -> Value:
    return program.convert(x, program.choose(WIDE))


def _moved(program: Program, x: Value) -> Value:
    if program.chance():
        return program.reshape(program.reshape(x, (int(np.prod(x.shape)),)), x.shape)
    return program.emit(f"reverse {x.name}, dims = [0] : {x.type}", x.shape, x.element)


def _activated(program: Program, x: Value) -> Value:
    if x.element not in WIDE:
        return x
    return gelu_tanh(program, x) if program.chance() else gelu_erf(program, x)


def _measured(program: Program, x: Value) -> Value:
    """A maximum over some dimensions as one more result, and the same value again."""
    y = program.emit(f"abs {x.name} : {x.type}", x.shape, x.element) if program.chance(0.8) else x
    dims = [0, 1] if program.chance(0.8) else [1]
    start = program.emit(f"constant dense<0.0> : {spell((), x.element)}", (), x.element)
    shape = () if dims == [0, 1] else x.shape[:1]
    text = (
        f"reduce({y.name} init: {start.name}) applies stablehlo.maximum across dimensions = {dims}"
        f" : ({y.type}, {start.type}) -> {spell(shape, x.element)}"
    )
    amax = program.emit(text, shape, x.element)
    program.results.append(amax)
    if shape or program.chance(0.7):
        return x
    return program.binary("divide", x, program.broadcast(amax, [], x.shape), commute=False)


def _quantized(program: Program, x: Value) -> Value:
    fmt = program.choose(FORMATS)
    if program.chance(0.6) and x.element in WIDE:
        low, high = (
            program.constant(each, x.shape, x.element) for each in (-LARGEST[fmt], LARGEST[fmt])
        )
        x = program.emit(f"clamp {low.name}, {x.name}, {high.name} : {x.type}", x.shape, x.element)
    q = program.convert(x, fmt)
    return q if program.chance(0.3) else program.convert(q, program.choose(WIDE))
