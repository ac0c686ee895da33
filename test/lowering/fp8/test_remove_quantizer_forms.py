"""Quantizers in all ways of writing; they change nothing of numbers that f8 holds exactly."""

from itertools import product

import numpy as np

import mlir_fp8
from mlir_fp8.lowering.fp8.fp8_remove_quantizers import remove_quantizers

SCALES = ("argument", "slice", "constant", "reciprocal", "inverse", "rows", "blocks", "none")
CLAMPS = ("clamp", "minimum of maximum", "maximum of minimum", "none")
MOVES = {"none": "4x8", "reshape": "2x16", "transpose": "8x4"}
FORMS = [
    (scale, *rest)
    for scale, *rest in product(SCALES, CLAMPS, MOVES, ("f32", "bf16"))
    if scale not in ("rows", "blocks") or "transpose" not in rest
]
SHAPE = "4x8"


class _Program:
    """The text of a function of x: 4x8, s: a number, and r: 8 numbers."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._results: list[tuple[str, str]] = []

    def text(self) -> str:
        types = ", ".join(type_ for _, type_ in self._results)
        names = ", ".join(name for name, _ in self._results)
        arguments = f"%x: {_tensor('f32')}, %s: tensor<f32>, %r: tensor<8xf32>"
        return "\n".join(
            [
                f"func.func @main({arguments}) -> ({types}) {{",
                *self._lines,
                f"  return {names} : {types}",
                "}",
            ]
        )

    def pair(self, scale: str, clamp: str, move: str, element: str, back: str = "") -> None:
        """Quantize x, move it and back, and dequantize it to `element` by the scale `back`."""
        x = self._clamped(clamp, self._scaled(scale))
        q = self._op(f"convert {x}", _tensor("f32"), _tensor("f8E4M3FN"))
        q = self._moved(move, q, "f8E4M3FN", (SHAPE, MOVES[move]))
        shape = f"{MOVES[move]}x"
        y = self._op(f"convert {q}", f"tensor<{shape}f8E4M3FN>", f"tensor<{shape}{element}>")
        y = self._moved(move, y, element, (MOVES[move], SHAPE))
        back = back or scale
        if back != "none":
            name = "divide" if back == "inverse" else "multiply"
            y = self._binary(f"{name} {y}, {self._scale(back, element)}", element)
        self._results.append((y, _tensor(element)))

    def _op(self, text: str, source: str, result: str) -> str:
        name = f"%{len(self._lines)}"
        self._lines.append(f"  {name} = stablehlo.{text} : ({source}) -> {result}")
        return name

    def _binary(self, text: str, element: str) -> str:
        return self._op(text, f"{_tensor(element)}, {_tensor(element)}", _tensor(element))

    def _constant(self, value: float, element: str, shape: str = "") -> str:
        name = f"%{len(self._lines)}"
        type_ = f"tensor<{shape}{element}>"
        self._lines.append(f"  {name} = stablehlo.constant dense<{value}> : {type_}")
        return name

    def _scaled(self, kind: str) -> str:
        if kind == "none":
            return "%x"
        if kind == "reciprocal":
            one = self._constant(1.0, "f32")
            inverse = self._op(f"divide {one}, %s", "tensor<f32>, tensor<f32>", "tensor<f32>")
            inverse = self._op(
                f"broadcast_in_dim {inverse}, dims = []", "tensor<f32>", _tensor("f32")
            )
            return self._binary(f"multiply {inverse}, %x", "f32")
        name = "multiply" if kind == "inverse" else "divide"
        return self._binary(f"{name} %x, {self._scale(kind, 'f32')}", "f32")

    def _scale(self, kind: str, element: str) -> str:
        """The numbers that multiply back, or that divide back where `kind` is inverse."""
        if kind == "constant":
            return self._constant(0.5, element, f"{SHAPE}x")
        name, shape = "%s", ""
        if kind in ("slice", "rows", "blocks"):
            count, shape = {"slice": (1, ""), "rows": (4, "4x"), "blocks": (8, "4x2x")}[kind]
            cut = f"tensor<{count}xf32>"
            name = self._op(f"slice %r [0:{count}]", "tensor<8xf32>", cut)
            name = self._op(f"reshape {name}", cut, f"tensor<{shape}f32>")
        numbers = f"tensor<{shape}{element}>"
        name = self._op(f"convert {name}", f"tensor<{shape}f32>", numbers)
        dims = {"rows": "0", "blocks": "0, 1"}.get(kind, "")
        spread = f"tensor<4x2x4x{element}>" if kind == "blocks" else _tensor(element)
        name = self._op(f"broadcast_in_dim {name}, dims = [{dims}]", numbers, spread)
        return self._op(f"reshape {name}", spread, _tensor(element))

    def _clamped(self, kind: str, x: str) -> str:
        if kind == "none":
            return x
        low, high = (self._constant(value, "f32") for value in (-448.0, 448.0))
        tensor = _tensor("f32")
        if kind == "clamp":
            types = f"tensor<f32>, {tensor}, tensor<f32>"
            return self._op(f"clamp {low}, {x}, {high}", types, tensor)
        low, high = (
            self._op(f"broadcast_in_dim {bound}, dims = []", "tensor<f32>", tensor)
            for bound in (low, high)
        )
        bounds = {"minimum": high, "maximum": low}
        outer, _, inner = kind.split()
        x = self._binary(f"{inner} {bounds[inner]}, {x}", "f32")
        return self._binary(f"{outer} {x}, {bounds[outer]}", "f32")

    def _moved(self, kind: str, x: str, element: str, shapes: tuple[str, str]) -> str:
        if kind == "none":
            return x
        source, result = (f"tensor<{shape}x{element}>" for shape in shapes)
        return self._op(f"{kind} {x}{', dims = [1, 0]' * (kind == 'transpose')}", source, result)


def _tensor(element: str) -> str:
    return f"tensor<{SHAPE}x{element}>"


def test_every_form_goes_and_changes_nothing(exhaustive: bool) -> None:
    assert len(FORMS) == 176
    forms = FORMS if exhaustive else FORMS[::5]
    program = _Program()
    for form in forms:
        program.pair(*form)
    quantized, module = mlir_fp8.load(program.text()), mlir_fp8.load(program.text())
    assert remove_quantizers(module.operation) == []
    assert "f8" not in str(module)
    random = np.random.default_rng(0)
    x = random.integers(-15, 16, (4, 8)).astype(np.float32)
    arguments = (x, np.float32(0.25), np.exp2(random.integers(-3, 4, 8)).astype(np.float32))
    before, after = (mlir_fp8.compile(each)(*arguments) for each in (quantized, module))
    assert len(forms) == len(before)
    for form, one, other in zip(forms, before, after, strict=True):
        np.testing.assert_array_equal(one, x, err_msg=str(form))
        np.testing.assert_array_equal(other, x, err_msg=str(form))


def test_no_form_goes_with_the_scale_of_another() -> None:
    program = _Program()
    # A quantizer without a scale may be followed by any product.
    pairs = list(product([kind for kind in SCALES if kind != "none"], SCALES))
    pairs = [pair for pair in pairs if pair[0] != pair[1] and "reciprocal" not in pair]
    for scale, back in pairs:
        program.pair(scale, "clamp", "none", "bf16", back)
    module = mlir_fp8.load(program.text())
    kept = remove_quantizers(module.operation)
    assert len(kept) == len(pairs) == 36
    assert str(module).count("-> tensor<4x8xf8E4M3FN>") == 6  # one of each scale, after merging
