"""Every rule that an `fp8.scaled_ragged_dot` may break is refused in one line that says why."""

import pytest
from fp8_refusals import refusal_of

DIMS = (
    "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], "
    "lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]"
)
SUMS = (
    "lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], "
    "lhs_ragged_dimensions = [0]"
)


def refusal(
    a: str = "32x24xf8E4M3FN",
    b: str = "4x24x40xf8E4M3FN",
    n: str = "4xi32",
    out: str = "32x40xf32",
    dims: str = DIMS,
    **scales: str,
) -> str:
    present = ", ".join(str(int(name in scales)) for name in ("a_scale", "b_scale"))
    types = [f"tensor<{each}>" for each in (a, b, n, *scales.values())]
    text = f"operandSegmentSizes = array<i32: 1, 1, 1, {present}>, "
    text += f"ragged_dot_dimension_numbers = #chlo.ragged_dot<{dims}>"
    return refusal_of("scaled_ragged_dot", types, [f"tensor<{out}>"], text)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"a": "32x24xf32"}, "has a of f32: it is one of f8E5M2"),
        ({"b": "4x24x40xbf16"}, "has b of bf16: it is one of f8E5M2"),
        ({"n": "4xf32"}, "has group_sizes of f32: it is one of i32, i64"),
        ({"n": "2x4xi32"}, "has group_sizes of type tensor<2x4xi32>: one number for each group"),
        ({"n": "3xi32"}, "has 4 matrices in b for 3 groups"),
        ({"b": "4x23x40xf8E4M3FN"}, "sums 24 numbers of a and 23 of b"),
        ({"out": "32x41xf32"}, "has a result tensor<32x41xf32>: its shape is 32x40"),
        ({"out": "32x40xf64"}, "has a result of f64: it is one of bf16, f16, f32"),
        ({"a": "?x24xf8E4M3FN"}, "whose shape is open: refine shapes first"),
        ({"a_scale": "24x1xf32"}, "has a_scale of type tensor<24x1xf32> for tensor<32x24"),
        ({"a_scale": "32x24xf32"}, "or sizes 1 or those of a, 1 along dimension 1"),
        ({"a_scale": "32xf32"}, "a number for each of 4 groups"),
        ({"b_scale": "4x1x20xf32"}, "has b_scale of type tensor<4x1x20xf32>"),
        ({"b_scale": "4xf64"}, "has b_scale of f64: it is one of f32"),
        (
            {"dims": "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], " + SUMS},
            "has batching dimensions: a ragged batch is an fp8.scaled_dot",
        ),
        ({"dims": SUMS}, "has operands of ranks 2 and 3: ragged sums have (2, 2)"),
        (
            {"dims": DIMS.replace("group_dimensions = [0]", "group_dimensions = []")},
            "has the group dimensions [], where there are 1 beside 1",
        ),
        (
            {"dims": DIMS.replace("group_dimensions = [0]", "group_dimensions = [1]")},
            "has the group dimensions [1], where there are 1 beside 1",
        ),
        (
            {"dims": DIMS.replace("group_dimensions = [0]", "group_dimensions = [3]")},
            "has dimensions [1, 3] of b, which has rank 3",
        ),
        ({"dims": DIMS.replace("lhs_ragged_dimensions = [0]", "lhs_ragged_dimensions = [2]")},
         "has operands of ranks 2 and 3: ragged rows have (2, 3)"),
        (
            {"dims": DIMS.replace("lhs_contracting_dimensions = [1], ", "")},
            "has other than one contracting dimension of each operand",
        ),
    ],
)  # fmt: skip
def test_rules(given: dict[str, str], reason: str) -> None:
    assert reason in refusal(**given)


def test_attributes_and_counts() -> None:
    types = ["tensor<32x24xf8E4M3FN>", "tensor<4x24x40xf8E4M3FN>", "tensor<4xi32>"]
    out = "tensor<32x40xf32>"
    sizes = "operandSegmentSizes = array<i32: 1, 1, 1, {}, 0>"
    numbers = f"ragged_dot_dimension_numbers = #chlo.ragged_dot<{DIMS}>"

    def said(attributes: str, results: int = 1) -> str:
        return refusal_of("scaled_ragged_dot", types, [out] * results, attributes)

    assert "needs the attribute operandSegmentSizes" in said(numbers)
    assert "needs the attribute ragged_dot_dimension_numbers" in said(sizes.format(0))
    assert "it is a #chlo.ragged_dot<...>" in said(
        f"{sizes.format(0)}, ragged_dot_dimension_numbers = 1"
    )
    assert "has 3 operands, 4 by" in said(f"{sizes.format(1)}, {numbers}")
    assert "has 2 results" in said(f"{sizes.format(0)}, {numbers}", 2)
    assert "has no attribute activation" in said(
        f'{sizes.format(0)}, {numbers}, activation = "relu"'
    )
