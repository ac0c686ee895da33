"""The functions that build ops of the `fp8` dialect: what they refuse, they leave no op of."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from torch_mlir import ir

from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects import fp8

TEXT = """
func.func @main(%x: tensor<4x8xf32>, %s: tensor<f32>, %q: tensor<4x8xf8E4M3FN>,
    %w: tensor<8x2xf8E4M3FN>, %h: tensor<3xf32>, %any: tensor<*xf32>, %open: tensor<?x8xf8E4M3FN>,
    %image: tensor<2x8x3xf8E4M3FN>, %kernel: tensor<2x3x5xf8E4M3FN>) {
  return
}
"""
DOT = "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>"
CONV = "#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>"
E4 = "f8E4M3FN"
Values = dict[str, Any]


@pytest.fixture
def values() -> Iterator[Values]:
    """The arguments of a function by name, where ops may be built; `body` is its block."""
    with make_context(), ir.Location.file("program.py", 3, 4):
        module = ir.Module.parse(TEXT)
        body = module.body.operations[0].regions[0].blocks[0]
        names = ("x", "s", "q", "w", "h", "any", "open", "image", "kernel")
        with ir.InsertionPoint(body.operations[0]):
            yield {"body": body, **dict(zip(names, body.arguments, strict=True))}


def _type(name: str) -> Any:
    return ir.Type.parse(name)


def _dot(values: Values, numbers: str = DOT, a: str = "q", **options: Any) -> Any:
    return fp8.scaled_dot(
        values[a],
        values["w"],
        dot_dimension_numbers=ir.Attribute.parse(numbers),
        result_element=_type("f32"),
        **options,
    )


def _convolution(values: Values, **attributes: str) -> Any:
    convolution = {name: ir.Attribute.parse(each) for name, each in attributes.items()}
    return fp8.scaled_convolution(
        values["image"], values["kernel"], convolution=convolution, result_element=_type("f32")
    )


def _ragged(values: Values, numbers: str, a: str = "q", sizes: str = "q") -> Any:
    return fp8.scaled_ragged_dot(
        values[a],
        values["w"],
        values[sizes],
        ragged_dot_dimension_numbers=ir.Attribute.parse(numbers),
        result_element=_type("f32"),
    )


RAGGED = (
    "#chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], "
    "lhs_ragged_dimensions = [1]>"
)
Build = Callable[[Values], Any]
REFUSED: list[tuple[Build, str]] = [
    (lambda v: fp8.quantize(None, v["s"], _type(E4)), "an operand is None: give an ir.Value"),  # pyright: ignore[reportArgumentType]
    (lambda v: fp8.quantize(v["any"], v["s"], _type(E4)), r"tensor<\*xf32>: give a ranked tensor"),
    (lambda v: fp8.quantize(v["x"], 1.0, _type(E4)), "ir.Value for each operand, not 1.0"),  # pyright: ignore[reportArgumentType]
    (lambda v: fp8.quantize(v["x"], v["s"], E4), f"{E4} is no element type"),  # pyright: ignore[reportArgumentType]
    (lambda v: fp8.quantize(v["x"], v["s"], v["x"].type), "tensor<4x8xf32> is no element type"),
    (lambda v: fp8.quantize(v["x"], v["s"], _type("f32")), "has a result of f32: it is one of"),
    (lambda v: fp8.quantize(v["x"], v["h"], _type(E4)), "its rank is 0 or 2"),
    (lambda v: fp8.dequantize(v["x"], v["s"], _type("f32")), "has an operand of f32"),
    (lambda v: _dot(v, saturated=True), "'fp8.scaled_dot' has no option saturated, only a_scale"),
    (lambda v: _dot(v, a="open"), "whose shape is open"),
    (lambda v: _dot(v, a="w"), "contracting dimension sizes must match"),
    (lambda v: _dot(v, DOT.replace("[1]", "[7]")), "7 is out of range"),
    (
        lambda v: _dot(v, DOT.replace("<", "<lhs_batching_dimensions = [5], "
                                      "rhs_batching_dimensions = [1], ")),
        "5 is out of range",
    ),
    (lambda v: _dot(v, "unit"), "has dot_dimension_numbers = unit: it is a #stablehlo.dot"),
    (lambda v: _dot(v, beta=2.0), "has beta without c"),
    (lambda v: _dot(v, epilogue_type=_type("i32"), alpha=1.0), "has epilogue_type = i32"),
    (lambda v: _convolution(v), "needs the attribute dimension_numbers"),
    (lambda v: _convolution(v, dimension_numbers=CONV, window="unit"), "has no attribute window"),
    (
        lambda v: _convolution(v, dimension_numbers=CONV, window_strides="array<i64: 0>"),
        "scaled_convolution' expects window to have positive stride",
    ),
    (
        lambda v: _convolution(v, dimension_numbers=CONV, window_strides="array<i64: -1>"),
        "expects window to have positive stride",
    ),
    (
        lambda v: _convolution(v, dimension_numbers=CONV, window_strides="array<i32: 1>"),
        "scaled_convolution' attribute 'window_strides' failed to satisfy constraint: i64",
    ),
    (
        lambda v: _convolution(v, dimension_numbers=CONV, padding="dense<1> : tensor<1xi64>"),
        "expects the shape of padding-attribute",
    ),
    (
        lambda v: _convolution(v, dimension_numbers=CONV, batch_group_count="0 : i64"),
        "attribute 'batch_group_count' failed to satisfy constraint",
    ),
    (
        lambda v: _convolution(
            v, dimension_numbers="#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>"
        ),
        "dimension-numbers to be in-range",
    ),
    (
        lambda v: _ragged(v, RAGGED),
        "has group_sizes of f8E4M3FN: it is one of i32, i64",
    ),
    (
        lambda v: _ragged(v, DOT),
        "it is a #chlo.ragged_dot<...>",
    ),
    (
        lambda v: _ragged(v, RAGGED, a="any"),
        "an operand is of type",
    ),
    (
        lambda v: fp8.attention(v["q"], v["q"], v["q"], _type("f32"), p_type=_type(E4)),
        "has q of type tensor<4x8xf8E4M3FN>: it is BxHxTxD",
    ),
    (
        lambda v: fp8.attention(v["q"], v["q"], v["q"], _type("f32"), sliding=3),  # pyright: ignore[reportCallIssue]
        "'fp8.attention' has no option sliding, only q_scale",
    ),
    (
        lambda v: fp8.attention(v["q"], v["q"], v["q"], _type("f32"), scale="x"),  # pyright: ignore[reportArgumentType]
        "'fp8.attention' has scale = 'x': give a number",
    ),
    (
        lambda v: fp8.update_scale(v["h"], v["h"], v["s"], _type(E4), recipe="flax"),
        r"has scale of type tensor<3xf32>: it is a tensor<f32>",
    ),
    (
        lambda v: fp8.update_scale(v["s"], v["h"], v["s"], _type(E4), recipe="jax"),
        'has recipe = "jax": it is one of "flax"',
    ),
    (
        lambda v: fp8.update_scale(v["s"], v["h"], v["s"], _type(E4), recipe="flax",
                                   margin=float("nan")),
        "has margin = nan",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("build", "reason"), REFUSED, ids=[reason for _, reason in REFUSED])
def test_refusals(values: Values, build: Build, reason: str) -> None:
    with pytest.raises(Fp8Error, match=reason) as error:
        build(values)
    assert "\n" not in str(error.value)
    assert [op.operation.name for op in values["body"].operations] == ["func.return"]


def test_refusals_name_the_place(values: Values) -> None:
    with pytest.raises(Fp8Error, match=r"^program\.py:3:4: 'fp8\.quantize' has a result of bf16"):
        fp8.quantize(values["x"], values["s"], _type("bf16"))


def test_none_is_absent(values: Values) -> None:
    plain, other = _dot(values), _dot(values, activation=None, a_scale=None, alpha=None)
    assert str(plain[0].owner).split(" = ", 1)[1] == str(other[0].owner).split(" = ", 1)[1]


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("window_strides", "array<i64>"),
        ("lhs_dilation", "array<i64>"),
        ("window_reversal", "array<i1>"),
        ("padding", "dense<> : tensor<0x2xi64>"),
    ],
)
def test_empty_window_attributes_are_the_default(values: Values, name: str, attribute: str) -> None:
    (plain,) = _convolution(values, dimension_numbers=CONV)
    (other,) = _convolution(values, dimension_numbers=CONV, **{name: attribute})
    assert plain.type == other.type == _type("tensor<2x7x5xf32>")


def test_a_context_learns_the_dialect(values: Values) -> None:
    fp8.quantize(values["x"], values["s"], _type(E4))
    assert values["body"].owner.parent.verify()
