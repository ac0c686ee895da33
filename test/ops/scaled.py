"""Who confirms ops of the `fp8` dialect, by element type and kind of scale.

    python test/ops/scaled.py

records it in scaled.json, of which `python test/ops/table.py` makes the last table of docs/ops.md.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import mlir_fp8
from mlir_fp8 import Fp8Error
from mlir_fp8.arrays.tensor_specs import element_dtype

RESULTS = Path(__file__).with_name("scaled.json")
ELEMENTS = (
    "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3", "f8E3M4", "f8E4M3B11FNUZ",
    "f6E2M3FN", "f6E3M2FN", "f4E2M1FN",
)  # fmt: skip
M, K, N = 4, 64, 6
SCALES = {
    "one f32": ((), "f32"),
    "f32 of a row": ((1, K), "f32"),
    "f8E8M0FNU of 32": ((1, 32), "f8E8M0FNU"),
    "f8E4M3FN of 16": ((1, 16), "f8E4M3FN"),
}
"""How many rows and elements of K have one scale, and its type."""
_PLACE = re.compile(r"^(\S*:\d+:\d+: )+(error: )?")
LETTERS = {"interpreter": "I", "xla": "X"}
_DOT = (
    "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],"
    " rhs_contracting_dimensions = [1]>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>,"
    " operand_type = f32"
)


def tensor(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def scale_shape(rows: int, kind: str) -> tuple[int, ...]:
    block, _ = SCALES[kind]
    return tuple(size // each for size, each in zip((rows, K), block, strict=True)) if block else ()


def program(op: str, element: str, kind: str) -> str:
    """`op` of matrices of `element`, with scales of that kind."""
    scale = SCALES[kind][1]
    q, x = tensor((M, K), element), tensor((M, K), "f32")
    s = tensor(scale_shape(M, kind), scale)
    if op == "fp8.quantize":
        body = f'"fp8.quantize"(%x, %s) {{saturate}} : ({x}, {s}) -> {q}'
        return f"func.func @main(%x: {x}, %s: {s}) -> {q} {{ %0 = {body} return %0 : {q} }}"
    if op == "fp8.dequantize":
        body = f'"fp8.dequantize"(%q, %s) : ({q}, {s}) -> {x}'
        return f"func.func @main(%q: {q}, %s: {s}) -> {x} {{ %0 = {body} return %0 : {x} }}"
    r, t = tensor((N, K), element), tensor(scale_shape(N, kind), scale)
    y = tensor((M, N), "f32")
    body = f'"fp8.scaled_dot"(%a, %b, %s, %t) {{{_DOT}}} : ({q}, {r}, {s}, {t}) -> {y}'
    head = f"func.func @main(%a: {q}, %b: {r}, %s: {s}, %t: {t}) -> {y}"
    return f"{head} {{ %0 = {body} return %0 : {y} }}"


def arguments(op: str, element: str, kind: str) -> list[np.ndarray]:
    """Numbers that every element type holds, and powers of two as scales."""
    random = np.random.default_rng(0)

    def numbers(rows: int, dtype: str) -> np.ndarray:
        held = random.choice([0, 0.5, 1, 1.5, 2, -1, -2], (rows, K))
        held = held * random.choice([1, 1.3], held.shape) if dtype == "f32" else held
        return held.astype(element_dtype(dtype))

    def scales(rows: int) -> np.ndarray:
        powers = np.exp2(random.integers(-2, 3, scale_shape(rows, kind)))
        return np.asarray(powers).astype(element_dtype(SCALES[kind][1]))

    if op == "fp8.scaled_dot":
        return [numbers(M, element), numbers(N, element), scales(M), scales(N)]
    return [numbers(M, "f32" if op == "fp8.quantize" else element), scales(M)]


OPS = ("fp8.quantize", "fp8.dequantize", "fp8.scaled_dot")


def cases() -> Iterator[tuple[str, str]]:
    for op in OPS:
        for kind in SCALES:
            yield op, kind


def outcome(op: str, element: str, kind: str) -> str:
    """The letters of the judges that agree to the bit, or "refused: " and the reason."""
    try:
        verdict = mlir_fp8.compare(
            program(op, element, kind), *arguments(op, element, kind), tolerance=0
        )
    except Fp8Error as error:
        return f"refused: {_PLACE.sub('', str(error))}"
    own, *others = verdict.opinions
    if own.refusal is not None:
        return f"refused: {_PLACE.sub('', own.refusal)}"
    good = {each.judge for each in others if each.refusal is None} - {
        each.judge for each in verdict.agreements if not each.is_good
    }
    return " ".join(letter for judge, letter in LETTERS.items() if judge in good) or "none"


def recorded() -> dict[str, dict[str, str]]:
    return {
        f"{op} {kind}": {element: outcome(op, element, kind) for element in ELEMENTS}
        for op, kind in cases()
    }


if __name__ == "__main__":
    RESULTS.write_text(json.dumps(recorded(), indent=1) + "\n")
