"""Tensors that dots take in any arrangement are quantized once each, and lose nothing by it."""

import math

import ml_dtypes
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import mlir_fp8

# 448 / 32: with it as the largest, the scale of f8E4M3FN is 2^-5; smaller integers are exact, too.
LARGEST = 14
DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16}
KINDS = ("transpose", "reshape", "reverse", "broadcast", "convert", "barrier")


def typed(shape: list[int], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def moved(
    draw: st.DrawFn, value: str, shape: list[int], name: str, element: str
) -> tuple[list[str], str, list[int]]:
    """Lines that rearrange `value` a few times, what they end in, and its shape."""
    lines: list[str] = []
    for number, kind in enumerate(draw(st.lists(st.sampled_from(KINDS), max_size=4))):
        before, new, after = typed(shape, element), f"%{name}{number}", shape
        match kind:
            case "transpose":
                order = draw(st.permutations(range(len(shape))))
                after = [shape[dim] for dim in order]
                op = f"transpose {value}, dims = {order} : ({before})"
            case "reshape":
                first = draw(
                    st.sampled_from([n for n in (1, 2, 3, 4) if math.prod(shape) % n == 0])
                )
                after = [first, math.prod(shape) // first]
                op = f"reshape {value} : ({before})"
            case "broadcast":
                after = [2, *shape]
                dims = list(range(1, len(after)))
                op = f"broadcast_in_dim {value}, dims = {dims} : ({before})"
            case "convert":
                lines.append(
                    f"{new}w = stablehlo.convert {value} : ({before}) -> {typed(shape, 'f64')}"
                )
                op = f"convert {new}w : ({typed(shape, 'f64')})"
            case "reverse":
                op = f"reverse {value}, dims = [0]"
            case _:
                op = f"optimization_barrier {value}"
        result = typed(after, element)
        ending = f" : {result}" if kind in ("reverse", "barrier") else f" -> {result}"
        lines.append(f"{new} = stablehlo.{op}{ending}")
        value, shape = new, after
    return lines, value, shape


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, str]:
    """A function of %x and %y, of two dots of what they are after moves, and its element type."""
    element = draw(st.sampled_from(list(DTYPES)))
    lines: list[str] = []
    results: list[str] = []
    for number in range(2):
        operands: list[tuple[str, list[int]]] = []
        for side, (value, shape) in zip("lr", (("%x", [4, 6]), ("%y", [6, 2])), strict=True):
            more, value, shape = moved(draw, value, shape, f"{side}{number}_", element)
            lines += more
            operands.append((value, shape))
        (lhs, left), (rhs, right) = operands
        pairs = [(i, j) for i in range(len(left)) for j in range(len(right)) if left[i] == right[j]]
        i, j = draw(st.sampled_from(pairs)) if pairs else (None, None)
        free = [size for dim, size in enumerate(left) if dim != i]
        free += [size for dim, size in enumerate(right) if dim != j]
        dims = "[] x []" if i is None else f"[{i}] x [{j}]"
        results.append(typed(free, "f32"))
        types = f"({typed(left, element)}, {typed(right, element)}) -> {results[-1]}"
        lines.append(
            f"%r{number} = stablehlo.dot_general {lhs}, {rhs}, contracting_dims = {dims} : {types}"
        )
    body, of = "\n".join(lines), ", ".join(results)
    head = f"func.func @main(%x: tensor<4x6x{element}>, %y: tensor<6x2x{element}>) -> ({of})"
    return f"{head} {{\n{body}\nreturn %r0, %r1 : {of}\n}}", element


@given(programs(), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_exact(program: tuple[str, str], seed: int) -> None:
    text, element = program
    rng = np.random.default_rng(seed)
    arrays = [rng.integers(-8, 9, shape).astype(DTYPES[element]) for shape in ((4, 6), (6, 2))]
    for array in arrays:
        array.flat[0] = LARGEST
    made = mlir_fp8.quantize(text, "current")
    assert str(made.module).count('"fp8.quantize"') == 2
    results = mlir_fp8.compile(made.module)(*arrays)
    for ours, wide in zip(results, mlir_fp8.compile(text)(*arrays), strict=True):
        np.testing.assert_array_equal(ours, wide)
