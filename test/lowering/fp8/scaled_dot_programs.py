"""Random programs of scaled f8 dots as people write them, all of which one fused op can do."""

import numpy as np
from scaled_dot_text import Program, Value, spell

FAMILIES = (
    ("f8E4M3FN", "f8E5M2"),
    ("f8E4M3FNUZ", "f8E5M2FNUZ"),
    ("f8E4M3", "f8E3M4"),
    ("f8E4M3B11FNUZ",),
    ("f6E2M3FN", "f4E2M1FN", "f8E4M3FN"),
)
WIDE = ("f32", "bf16", "f16")
LARGEST = {
    "f8E4M3FN": 448.0,
    "f8E5M2": 57344.0,
    "f8E4M3FNUZ": 240.0,
    "f8E5M2FNUZ": 57344.0,
    "f8E4M3": 240.0,
    "f8E3M4": 15.5,
    "f8E4M3B11FNUZ": 30.0,
    "f6E2M3FN": 7.5,
    "f4E2M1FN": 6.0,
}


def random_program(seed: int, count: int = 1) -> Program:
    """`count` dots with operands, an epilogue and a quantization, each in one of its forms."""
    program = Program(np.random.default_rng(seed))
    for _ in range(count):
        _random_dot(program)
    return program


def _random_dot(program: Program) -> None:
    family = FAMILIES[program.random.integers(len(FAMILIES))]
    formats = [program.choose(family), program.choose(family)]
    if formats == ["f8E5M2", "f8E5M2"]:
        formats[0] = "f8E4M3FN"
    m, k, n = (int(program.random.choice([1, 2, 4, 6])) for _ in range(3))
    k *= 4
    batch = (2,) if program.chance(0.3) else ()
    element = program.choose(WIDE)
    is_raw = program.chance(0.3)
    lhs = _operand(program, (*batch, m, k), formats[0], element, is_raw)
    rhs = _operand(program, (*batch, k, n), formats[1], element, is_raw)
    result = "f32" if program.chance() else element
    total = _dot(program, lhs, rhs, batch, result)
    if is_raw and result == "f32":
        total = _sum_scales(program, total)
    _epilogue(program, total, formats[0])


def _operand(
    program: Program, shape: tuple[int, ...], fmt: str, element: str, is_raw: bool
) -> Value:
    turned = shape if program.chance() else (*shape[:-2], shape[-1], shape[-2])
    data = program.argument(turned, fmt)
    if not is_raw:
        wide = program.convert(data, element)
        scale, number = _scale(program, turned, element)
        name = "multiply" if program.chance(0.7) else "divide"
        data = program.binary(name, wide, scale, commute=name == "multiply")
        data = _moved(program, data, number is not None)
    elif program.chance():
        data = program.convert(data, element)
    if data.shape != shape:
        order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
        text = f"transpose {data.name}, dims = {order} : ({data.type}) -> "
        data = program.emit(text + spell(shape, data.element), shape, data.element)
    if program.chance(0.2) and data.element in ("bf16", "f16"):
        data = program.convert(data, "f32")
    return data


def _scale(program: Program, shape: tuple[int, ...], element: str) -> tuple[Value, float | None]:
    """A scale spread over `shape`, and its number if it is a constant."""
    kind = program.choose(("single", "single", "one", "constant", "row", "column", "block"))
    if kind == "constant":
        number = float(program.choose(("0.5", "0.75", "3.0", "0.001953125")))
        return program.constant(number, shape, element), number
    own = program.choose(("f32", "bf16", element, element))
    if kind == "single":
        scale = program.convert(program.argument((), own), element)
        return program.broadcast(scale, [], shape), None
    if kind == "one":
        single = program.reshape(program.argument((1,), own), ())
        return program.convert(program.broadcast(single, [], shape), element), None
    if kind in ("row", "column"):
        dim = len(shape) - (2 if kind == "row" else 1)
        vector = program.convert(program.argument((shape[dim],), own), element)
        return program.broadcast(vector, [dim], shape), None
    rows, columns = shape[-2], shape[-1]
    block = 2 if columns % 2 == 0 else 1
    small = (*shape[:-2], rows, columns // block)
    scales = program.convert(program.argument(small, own), element)
    spread = program.broadcast(scales, list(range(len(small))), (*small, block))
    return program.reshape(spread, shape), None


def _moved(program: Program, data: Value, is_constant: bool) -> Value:
    """Moves that leave the shape as it is in the end."""
    shape = data.shape
    if program.chance(0.3):
        data = program.reshape(program.reshape(data, (int(np.prod(shape)),)), shape)
    if program.chance(0.3):
        text = f"reverse {data.name}, dims = [{len(shape) - 1}] : {data.type}"
        data = program.emit(text, shape, data.element)
    if is_constant and program.chance():
        zero = program.constant(0.0, (), data.element)
        rank = len(shape)
        padded = tuple(size + 1 for size in shape)
        text = (
            f"pad {data.name}, {zero.name}, low = {[1] * rank}, high = {[0] * rank}, "
            f"interior = {[0] * rank} : ({data.type}, {zero.type}) -> {spell(padded, data.element)}"
        )
        data = program.emit(text, padded, data.element)
        cuts = ", ".join(f"0:{size}" for size in shape)
        text = f"slice {data.name} [{cuts}] : ({data.type}) -> {spell(shape, data.element)}"
        data = program.emit(text, shape, data.element)
    return data


def _dot(program: Program, lhs: Value, rhs: Value, batch: tuple[int, ...], element: str) -> Value:
    shape = (*batch, lhs.shape[-2], rhs.shape[-1])
    last = len(batch)
    batching = "batching_dims = [0] x [0], " if batch else ""
    precision = ", precision = [HIGHEST, HIGHEST]" if program.chance(0.2) else ""
    text = (
        f"dot_general {lhs.name}, {rhs.name}, {batching}"
        f"contracting_dims = [{last + 1}] x [{last}]{precision}"
        f" : ({lhs.type}, {rhs.type}) -> {spell(shape, element)}"
    )
    return program.emit(text, shape, element)


def _sum_scales(program: Program, total: Value) -> Value:
    rank = len(total.shape)
    for dim in (rank - 2, rank - 1):
        if program.chance(0.6):
            is_single = program.chance()
            size = () if is_single else (total.shape[dim],)
            scale = program.argument(size, "f32")
            spread = program.broadcast(scale, [] if is_single else [dim], total.shape)
            total = program.binary("multiply", total, spread)
    return total


def _epilogue(program: Program, x: Value, fmt: str) -> None:
    if program.chance(0.4):
        x = program.convert(x, "f32" if x.element != "f32" else program.choose(WIDE))
    element, shape = x.element, x.shape
    if program.chance(0.3):
        x = program.binary("multiply", x, program.constant(0.125, shape, element))
    if program.chance(0.3):
        c = program.convert(program.argument(shape, program.choose(WIDE)), element)
        if program.chance():
            c = program.binary("multiply", c, program.constant(0.75, shape, element))
        x = program.binary("add", x, c)
    if program.chance(0.4):
        vector = program.convert(program.argument(shape[-1:], program.choose(WIDE)), element)
        x = program.binary("add", x, program.broadcast(vector, [len(shape) - 1], shape))
    activation = program.choose(("none", "relu", "gelu_tanh", "gelu_erf"))
    if activation == "relu":
        x = program.binary("maximum", x, program.constant(0.0, shape, element))
    if activation == "gelu_tanh":
        x = gelu_tanh(program, x)
    if activation == "gelu_erf":
        x = gelu_erf(program, x)
    if program.chance(0.4):
        program.results.append(_amax(program, x, activation == "relu"))
    program.results.append(_quantized(program, x, fmt) if program.chance(0.7) else x)


def gelu_tanh(program: Program, x: Value) -> Value:
    def times(number: float, value: Value) -> Value:
        return program.binary("multiply", value, program.constant(number, x.shape, x.element))

    cube = program.binary("multiply", x, program.binary("multiply", x, x))
    inner = program.binary("add", x, times(0.044715, cube))
    scaled = times(float(np.sqrt(2 / np.pi)), inner)
    tanh = program.emit(f"tanh {scaled.name} : {x.type}", x.shape, x.element)
    one = program.binary("add", tanh, program.constant(1.0, x.shape, x.element))
    return program.binary("multiply", x, times(0.5, one))


def gelu_erf(program: Program, x: Value) -> Value:
    half = program.binary("multiply", x, program.constant(0.5, x.shape, x.element))
    minus = program.emit(f"negate {x.name} : {x.type}", x.shape, x.element)
    root = program.constant(float(np.sqrt(0.5)), x.shape, x.element)
    inner = program.binary("multiply", minus, root)
    program.count += 1
    erfc = Value(f"%{program.count}", x.shape, x.element)
    program.lines.append(f"{erfc.name} = chlo.erfc {inner.name} : {x.type} -> {x.type}")
    return program.binary("multiply", half, erfc)


def _amax(program: Program, x: Value, is_positive: bool) -> Value:
    if not is_positive or program.chance():
        x = program.emit(f"abs {x.name} : {x.type}", x.shape, x.element)
    if x.element != "f32" and program.chance():
        x = program.convert(x, "f32")
    init = program.choose(
        ("0.0", {"f32": "0xFF800000", "bf16": "0xFF80", "f16": "0xFC00"}[x.element])
    )
    start = program.emit(f"constant dense<{init}> : {spell((), x.element)}", (), x.element)
    dims = list(range(len(x.shape)))
    text = (
        f"reduce({x.name} init: {start.name}) applies stablehlo.maximum across dimensions = {dims}"
        f" : ({x.type}, {start.type}) -> {spell((), x.element)}"
    )
    return program.emit(text, (), x.element)


def _quantized(program: Program, x: Value, fmt: str) -> Value:
    element, shape = x.element, x.shape
    if program.chance(0.7):
        own = program.choose(("f32", element))
        scale = program.convert(program.argument((), own), element)
        name = program.choose(("multiply", "divide"))
        spread = program.broadcast(scale, [], shape)
        x = program.binary(name, x, spread, commute=name == "multiply")
    if program.chance(0.8):
        x = _clamped(program, x, LARGEST[fmt])
    return program.convert(x, fmt)


def _clamped(program: Program, x: Value, largest: float) -> Value:
    form = program.choose(("clamp", "splat", "max-min", "min-max"))
    sizes = () if form == "clamp" else x.shape
    low, high = (_bound(program, each, sizes, x.element) for each in (-largest, largest))
    if form in ("clamp", "splat"):
        text = f"clamp {low.name}, {x.name}, {high.name} : ({low.type}, {x.type}, {high.type})"
        return program.emit(f"{text} -> {x.type}", x.shape, x.element)
    if form == "max-min":
        return program.binary("minimum", program.binary("maximum", x, low), high)
    return program.binary("maximum", program.binary("minimum", x, high), low)


def _bound(program: Program, number: float, shape: tuple[int, ...], element: str) -> Value:
    if number % 1 or program.chance(0.7):
        return program.constant(number, shape, element)
    text = f"constant dense<{int(number)}> : {spell(shape, 'i32')}"  # as jnp.clip(x, -448, 448)
    return program.convert(program.emit(text, shape, "i32"), element)
