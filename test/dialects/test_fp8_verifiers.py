"""Every rule that an op of the `fp8` dialect may break is refused in one line that says why."""

import pytest
from fp8_refusals import refusal_of

A, B = "tensor<4x8xf8E4M3FN>", "tensor<8x2xf8E4M3FN>"
D = "tensor<4x2xf32>"
F32 = "tensor<f32>"
DOT = (
    "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
    "rhs_contracting_dimensions = [0]>"
)
X, W = "tensor<1x8x8x4xf8E4M3FN>", "tensor<3x3x4x6xf8E4M3FN>"
CONV = (
    "batch_group_count = 1 : i64, feature_group_count = 1 : i64, "
    "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>"
)


def _dot(
    operands: list[str],
    sizes: str = "1, 1, 0, 0, 0, 0, 0",
    attributes: str = "",
    results: tuple[str, ...] = (D,),
) -> str:
    more = f", {attributes}" if attributes else ""
    all_attributes = f"{DOT}, operandSegmentSizes = array<i32: {sizes}>{more}"
    return refusal_of("scaled_dot", operands, list(results), all_attributes)


def _convolution(
    operands: list[str],
    sizes: str = "1, 1, 0, 0, 0, 0, 0",
    attributes: str = "",
    result: str = "tensor<1x6x6x6xf32>",
) -> str:
    more = f", {attributes}" if attributes else ""
    all_attributes = f"{CONV}, operandSegmentSizes = array<i32: {sizes}>{more}"
    return refusal_of("scaled_convolution", operands, [result], all_attributes)


T = "tensor<4x8xf32>"


@pytest.mark.parametrize(
    ("operands", "results", "attributes", "reason"),
    [
        ([T], [A], "", "takes a tensor and its scale, and gives one tensor"),
        ([T, F32], [], "", "takes a tensor and its scale, and gives one tensor"),
        ([T, F32], ["tensor<8x4xf8E5M2>"], "", "changes the shape from tensor<4x8xf32> to"),
        ([T, F32], ["tensor<4x8xbf16>"], "", "has a result of bf16: it is one of f8E5M2, "),
        ([T, F32], ["tensor<4x8xf8E8M0FNU>"], "", "has a result of f8E8M0FNU: it is one of"),
        (
            ["tensor<4x8xi32>", F32],
            [A],
            "",
            "has an operand of i32: it is one of bf16, f16, f32, f64",
        ),
        ([A, F32], [A], "", "has an operand of f8E4M3FN: it is one of bf16"),
        (
            ["tensor<?x8xf32>", F32],
            ["tensor<?x8xf8E5M2>"],
            "",
            "whose shape is open: refine shapes",
        ),
        (["tensor<*xf32>", F32], [A], "", "has an operand of type tensor<*xf32>: it is a ranked"),
        (["f32", F32], [A], "", "has an operand of type f32: it is a ranked tensor"),
        ([T, "f32"], [A], "", "has a scale of type f32: it is a ranked tensor"),
        ([T, "tensor<f64>"], [A], "", "has a scale of f64: it is one of f32, bf16, f16, f8E8M0FNU"),
        (
            [T, "tensor<4xf32>"],
            [A],
            "",
            "has a scale of type tensor<4xf32> for tensor<4x8xf32>: its rank is 0 or 2",
        ),
        ([T, "tensor<3x1xf32>"], [A], "", "size 3 of dimension 0 does not divide 4"),
        ([T, "tensor<1x0xf32>"], [A], "", "size 0 of dimension 1 does not divide 8"),
        ([T, F32], [A], "saturated", "has no attribute saturated, only inverse, saturate"),
        (
            [T, F32],
            [A],
            "operandSegmentSizes = array<i32: 1, 1>",
            "has no attribute operandSegmentSizes",
        ),
        ([T, F32], [A], "saturate = 1 : i64", "has saturate = 1 : i64: it is a unit attribute"),
        (
            [T, F32],
            [A],
            "inverse = dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>",
            "has inverse of dense elements",
        ),
    ],
)
def test_quantize(operands: list[str], results: list[str], attributes: str, reason: str) -> None:
    assert reason in refusal_of("quantize", operands, results, attributes)


@pytest.mark.parametrize(
    ("operands", "results", "attributes", "reason"),
    [
        ([A, F32], [A], "", "has a result of f8E4M3FN: it is one of bf16, f16, f32, f64"),
        ([T, F32], [T], "", "has an operand of f32: it is one of f8E5M2"),
        (["tensor<2xf8E8M0FNU>", F32], ["tensor<2xf32>"], "", "has an operand of f8E8M0FNU"),
        ([A, F32], [T], "saturate", "has no attribute saturate, only inverse"),
        (["tensor<f8E5M2>", "tensor<1xf32>"], [F32], "", "its rank is 0"),
    ],
)
def test_dequantize(operands: list[str], results: list[str], attributes: str, reason: str) -> None:
    assert reason in refusal_of("dequantize", operands, results, attributes)


def test_operand_formats() -> None:
    mixed = _dot(["tensor<4x8xf8E4M3FNUZ>", B])
    assert "multiplies f8E4M3FNUZ by f8E4M3FN, which no hardware does" in mixed
    assert "of different families" in _dot(["tensor<4x8xf8E4M3B11FNUZ>", "tensor<8x2xf8E5M2FNUZ>"])
    assert "has a of bf16: it is one of f8E5M2" in _dot(["tensor<4x8xbf16>", B])
    assert "has b of f8E8M0FNU: it is one of f8E5M2" in _dot([A, "tensor<8x2xf8E8M0FNU>"])


def test_dot_shapes() -> None:
    assert "contracting dimension sizes must match" in _dot([A, "tensor<4x2xf8E4M3FN>"])
    wrong = _dot([A, B], results=("tensor<2x4xf32>",))
    assert "inferred shape '[4, 2]' is incompatible" in wrong
    assert "has b of type tensor<?x2xf8E4M3FN>, whose shape is open" in _dot(
        [A, "tensor<?x2xf8E4M3FN>"]
    )
    assert "has a result of type tensor<?x2xf32>" in _dot([A, B], results=("tensor<?x2xf32>",))
    bad = "dot_dimension_numbers = 1, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>"
    assert "has dot_dimension_numbers = 1 : i64: it is a #stablehlo.dot<...>" in refusal_of(
        "scaled_dot", [A, B], [D], bad
    )
    missing = "operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>"
    assert "needs the attribute dot_dimension_numbers" in refusal_of(
        "scaled_dot", [A, B], [D], missing
    )


def test_operand_sizes() -> None:
    assert "needs the attribute operandSegmentSizes" in refusal_of("scaled_dot", [A, B], [D], DOT)
    for sizes in ("1, 1", "1, 0, 1, 0, 0, 0, 0", "1, 1, 2, 0, 0, 0, 0", "1, 1, -1, 0, 0, 0, 0"):
        assert "with a 1 for each of a, b, a_scale" in _dot([A, B], sizes)
    assert "has 2 operands, 3 by operandSegmentSizes" in _dot([A, B], "1, 1, 1, 0, 0, 0, 0")
    i64 = f"{DOT}, operandSegmentSizes = array<i64: 1, 1, 0, 0, 0, 0, 0>"
    assert "it is an array<i32>" in refusal_of("scaled_dot", [A, B], [D], i64)
    dense = f"{DOT}, operandSegmentSizes = dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>"
    assert "of dense elements" in refusal_of("scaled_dot", [A, B], [D], dense)


def test_dot_scales() -> None:
    a_scale, both = "1, 1, 1, 0, 0, 0, 0", "1, 1, 1, 1, 0, 0, 0"
    assert "its rank is 0 or 2" in _dot([A, B, "tensor<4xf32>"], a_scale)
    assert "size 3 of dimension 0 does not divide 4" in _dot([A, B, "tensor<3x1xf32>"], a_scale)
    assert "has a_scale of i8" in _dot([A, B, "tensor<i8>"], a_scale)
    along = _dot([A, B, "tensor<4x2xf32>"], a_scale)
    assert "changes along the contracting dimension 1: give operand_type" in along
    along = _dot([A, B, F32, "tensor<8x1xf32>"], both)
    assert "has b_scale of type tensor<8x1xf32>, which changes along the contracting" in along
    assert "has the flag a_inverse without a_scale: drop it" in _dot([A, B], attributes="a_inverse")
    assert "has the flag d_inverse without d_scale" in _dot([A, B], attributes="d_inverse")
    d_scale = "1, 1, 0, 0, 0, 0, 1"
    assert "has d_scale of type tensor<4x8xf32> for tensor<4x2xf32>" in _dot(
        [A, B, "tensor<4x8xf32>"], d_scale
    )


def test_dot_epilogue() -> None:
    c, bias = "1, 1, 0, 0, 1, 0, 0", "1, 1, 0, 0, 0, 1, 0"
    assert "has c of type tensor<2x4xf32>: it has the shape of" in _dot(
        [A, B, "tensor<2x4xf32>"], c
    )
    assert "has c of i32" in _dot([A, B, "tensor<4x2xi32>"], c)
    assert "has beta without c: drop it" in _dot([A, B], attributes="beta = 1.0 : f32")
    wrong = _dot([A, B], attributes="alpha = 1.0 : f32, epilogue_type = bf16")
    assert "has alpha = 1.000000e+00 : f32: it is of epilogue_type bf16" in wrong
    assert "has alpha = 1 : i64: it is a float of epilogue_type" in _dot(
        [A, B], attributes="alpha = 1"
    )
    assert "has bias of type tensor<4xf32>: it has 2 elements, one for each last index" in _dot(
        [A, B, "tensor<4xf32>"], bias
    )
    assert "has bias of f8E4M3FN" in _dot([A, B, "tensor<2xf8E4M3FN>"], bias)
    assert 'one of "none", "relu", "gelu_tanh", "gelu_erf"' in _dot(
        [A, B], attributes='activation = "silu"'
    )
    assert "it is one of the types bf16, f16, f32" in _dot([A, B], attributes="dot_type = f64")
    assert "it is one of the types f32" in _dot([A, B], attributes="accumulation_type = f16")
    assert "has no attribute gamma, only dot_dimension_numbers, a_inverse" in _dot(
        [A, B], attributes="gamma"
    )


def test_bias_of_a_scalar() -> None:
    numbers = DOT.replace("[1]", "[0]")
    attributes = f"{numbers}, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 1, 0>"
    vector = "tensor<8xf8E4M3FN>"
    reason = refusal_of("scaled_dot", [vector, vector, "tensor<1xf32>"], [F32], attributes)
    assert reason == "has a bias on a result of rank 0: add it as c"


def test_dot_results() -> None:
    assert "has a result of i32" in _dot([A, B], results=("tensor<4x2xi32>",))
    assert "saturates to f32: only f8, f6 and f4 results are clamped" in _dot(
        [A, B], attributes="saturate"
    )
    assert "has an amax result tensor<f32>: it is none" in _dot([A, B], results=(D, F32))
    assert "has an amax result none: it is tensor<f32>" in _dot([A, B], attributes="amax")
    bf16 = _dot([A, B], attributes="amax, dot_type = bf16", results=(D, F32))
    assert "has an amax result tensor<f32>: it is tensor<bf16>" in bf16
    assert "has 3 results" in _dot([A, B], results=(D, F32, F32))
    assert "has 0 results" in _dot([A, B], results=())


def test_convolution() -> None:
    assert "inferred shape '[1, 6, 6, 6]' is incompatible" in _convolution(
        [X, W], result="tensor<1x8x8x6xf32>"
    )
    scales = _convolution([X, W, "tensor<1x1x1x4xf32>"], "1, 1, 1, 0, 0, 0, 0")
    assert "does not scale sums: give operand_type" in scales
    bias = _convolution([X, W, "tensor<4xf32>"], "1, 1, 0, 0, 0, 1, 0")
    assert "it has 6 elements, one for each output feature index" in bias
    assert "has no attribute dot_dimension_numbers" in _convolution([X, W], attributes=DOT)
    assert "expects window-strides to have same dimension-size" in _convolution(
        [X, W], attributes="window_strides = array<i64: 1>"
    )
    raw = (
        "dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, "
        "input_feature_dimension = 9, input_spatial_dimensions = [1, 2], "
        "kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, "
        "kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, "
        "output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, "
        "operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>"
    )
    assert "does not name each dimension once" in refusal_of("scaled_convolution", [X, W], [D], raw)
    bare = "operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>"
    assert "needs the attribute dimension_numbers" in refusal_of(
        "scaled_convolution", [X, W], [D], bare
    )
