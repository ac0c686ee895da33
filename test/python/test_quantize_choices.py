"""Which dots become scaled FP8, which are left and why, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.fp8.scaling.decisions import Decision, OpDecision
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.tools import opt

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = ROOT / "test" / "lowering" / "Inputs" / "gradients"


def program(line: str, x: str = "tensor<4x4xf32>", y: str = "tensor<4x4xf32>") -> str:
    """A function of %x and %y of which `line` makes %0, of the type that it ends in."""
    result = line.rsplit("-> ", 1)[1]
    return f"func.func @main(%x: {x}, %y: {y}) -> {result} {{\n{line}\nreturn %0 : {result}\n}}"


def dot(x: str, y: str, result: str, attributes: str = "") -> str:
    line = f"%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] {attributes}"
    return program(f"{line} : ({x}, {y}) -> {result}", x, y)


def left(text: str | Path, **options: Any) -> list[str]:
    made = mlir_fp8.quantize(text, "current", **options)
    return [each.left for each in made.decisions]


SQUARE = "tensor<4x4xf32>"
RAGGED = """
func.func @main(%x: tensor<6x4xf32>, %y: tensor<2x4x3xf32>, %n: tensor<2xi64>) -> tensor<6x3xf32> {
  %0 = "chlo.ragged_dot"(%x, %y, %n) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
    lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
    lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}
    : (tensor<6x4xf32>, tensor<2x4x3xf32>, tensor<2xi64>) -> tensor<6x3xf32>
  return %0 : tensor<6x3xf32>
}"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (dot(*["tensor<4x4xf64>"] * 3), "is in f64, not in f32, bf16 or f16"),
        (dot(*["tensor<4x4xi32>"] * 3), "is in i32, not in f32, bf16 or f16"),
        (dot(*["tensor<4x4xcomplex<f32>>"] * 3), "is in complex<f32>, not in f32, bf16 or f16"),
        (dot("tensor<4x4xf8E4M3FN>", "tensor<4x4xf8E4M3FN>", SQUARE), "is in f8E4M3FN already"),
        (
            dot("tensor<?x4xf32>", SQUARE, "tensor<?x4xf32>"),
            "has no static shape: stablehlo-refine-dynamism",
        ),
        (
            program(
                '%0 = "stablehlo.einsum"(%x, %y) {einsum_config = "ij,jk->ik"}'
                f" : ({SQUARE}, {SQUARE}) -> {SQUARE}"
            ),
            "is an equation: stablehlo-einsum-to-dot-general makes dots of it",
        ),
        (RAGGED, ""),
        (dot(SQUARE, SQUARE, SQUARE, "{mlir_fp8.skip}"), "has mlir_fp8.skip"),
        (dot(SQUARE, SQUARE, SQUARE, "{mlir_fp8.skip = false}"), ""),
        (
            dot(
                SQUARE,
                SQUARE,
                SQUARE,
                ", algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, "
                "accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
                "num_primitive_operations = 1, allow_imprecise_accumulation = false>",
            ),
            "has an algorithm, which says how it is computed: drop that",
        ),
        (
            program(
                "%a = stablehlo.convert %x : (tensor<4x4xf8E5M2>) -> tensor<4x4xf32>\n"
                "%s = stablehlo.constant dense<0.5> : tensor<4x4xf32>\n"
                "%b = stablehlo.multiply %a, %s : tensor<4x4xf32>\n"
                f"%0 = stablehlo.dot %b, %y : ({SQUARE}, {SQUARE}) -> {SQUARE}",
                "tensor<4x4xf8E5M2>",
            ),
            "has a lhs dequantized from f8E5M2 already",
        ),
    ],
)
def test_left_as_it_is(text: str, reason: str) -> None:
    (found,) = left(text)
    assert found.startswith(reason)
    assert bool(found) == bool(reason)


def test_sizes() -> None:
    text = dot("tensor<4x16xf32>", "tensor<16x32xf32>", "tensor<4x32xf32>")
    assert left(text, min_size=4) == [""]
    assert left(text, min_size=5) == [
        "is of 4x32x16 rows, columns and summands (min-size 5)",
    ]


def test_sizes_of_a_convolution() -> None:
    # 1x5x5 places, 5 output features, sums of 3x3x2; the second one is of 1x3x3, 4 and 3x3x5.
    assert [not reason for reason in left(PROGRAMS / "convolutions.mlir", min_size=5)][0:2] == [
        True,
        False,
    ]


def test_batched_dots_are_those_of_attention() -> None:
    kept = [not reason for reason in left(PROGRAMS / "attention.mlir", skip_batched=True)]
    # Forward q, k, v and out; backward two of out and one each of q, k, v.
    assert sum(kept[:6]) == 4
    assert sum(kept[6:]) == 5


def test_first_and_last_with_their_derivatives() -> None:
    (first, second, *backward) = left(PROGRAMS / "mlp.mlir", skip_first=1)
    assert first == "is among the first 1 (skip-first)"
    assert second == ""
    # Of the second layer dw and dx, of the first dw.
    assert [bool(reason) for reason in backward] == [False, False, True]
    assert backward[2].startswith("is the derivative of the op at ")
    assert [bool(each) for each in left(PROGRAMS / "mlp.mlir", skip_last=1)] == [
        False,
        True,
        True,
        True,
        False,
    ]


def test_a_decision_tells_all() -> None:
    made = mlir_fp8.quantize(PROGRAMS / "mlp.mlir")
    dw = made.decisions[2]
    assert isinstance(dw, Decision)
    assert (dw.gradient, dw.rule) == ("lhs", "name-stack")
    assert dw.formats == ("f8E5M2", "f8E4M3FN")
    assert dw.quantizers == ("dot2.lhs", "dot1.lhs")
    assert "becomes f8E5M2 dot2.lhs x f8E4M3FN dot1.lhs: backward, lhs is a gradient" in str(dw)
    assert {name.rsplit(".", 1)[0] for name in made.state} >= {"dot2.lhs", "dot1.lhs"}


def test_forward_may_be_f8e5m2() -> None:
    """Whose sums of a row by a column are exact here: eight numbers of two bits."""
    recipe = mlir_fp8.CurrentScaling(forward="f8E5M2", power_of_two=True)
    made = mlir_fp8.quantize(dot(SQUARE, SQUARE, SQUARE), recipe)
    (decision,) = made.decisions
    assert isinstance(decision, Decision) and decision.formats == ("f8E5M2", "f8E5M2")
    x, y = (np.arange(16, dtype=np.float32).reshape(4, 4) % size for size in (3, 5))
    (got,) = mlir_fp8.compile(made.module)(x, y)
    np.testing.assert_array_equal(got, x @ y)


def test_ops_by_name() -> None:
    made = mlir_fp8.quantize(PROGRAMS / "mlp.mlir", "current", ops=["stablehlo.dot_general"])
    assert [type(each) for each in made.decisions] == [OpDecision] * 5
    assert '"fp8.quantize"' in str(made.module)
    assert "fp8.scaled_dot" not in str(made.module)
    run_pipeline(made.module, ["fp8-fuse-scaled-dot"])
    assert str(made.module).count('"fp8.scaled_dot"') == 5


WHILE_CONDITION = program(
    """
  %0 = stablehlo.while(%i = %x) : tensor<4x4xf32>
    cond {
      %1 = stablehlo.dot %i, %i : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %2 = stablehlo.slice %1 [0:1, 0:1] : (tensor<4x4xf32>) -> tensor<1x1xf32>
      %3 = stablehlo.reshape %2 : (tensor<1x1xf32>) -> tensor<f32>
      %4 = stablehlo.compare LT, %3, %3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      stablehlo.return %i : tensor<4x4xf32>
    }
  %9 = stablehlo.dot %y, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>"""
)


def test_a_loop_condition_has_no_state() -> None:
    with pytest.raises(Fp8Error, match=r"'stablehlo.while' has no state .* recipe=current"):
        mlir_fp8.quantize(WHILE_CONDITION)
    assert left(WHILE_CONDITION) == ["", ""]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("recipe=later", "'later' is no recipe: it is one of delayed, flax, "),
        ("algorithm=min", "'min' is no algorithm: it is one of max, most_recent"),
        ("history=0", "history is 0: it is the number of steps, 1 to 16777216"),
        ("margin=127", "margin is 127: it is a number between -126 and 126"),
        ("forward=f4E2M1FN", "'f4E2M1FN' is no forward format: it is one of f8E"),
        ("forward=f8E4M3FNUZ", "forward is f8E4M3FNUZ and backward f8E5M2: no hardware multiplies"),
        ("entry=step", "there is no function 'step' (functions: main)"),
        ("skip-first=-1", "skip_first is -1"),
    ],
)
def test_refused_options(
    options: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "dot.mlir"
    file.write_text(dot(SQUARE, SQUARE, SQUARE))
    assert opt.main([str(file), f"--fp8-quantize-dots={options}"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert message in output.err
    assert len(output.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("op", "message"),
    [
        ("stablehlo.nothing", "is no op"),
        ("stablehlo.transpose", "computes nothing"),
        ("stablehlo.while", "is no op on data"),
        ("func.call", "is no op on data"),
    ],
)
def test_refused_ops(op: str, message: str) -> None:
    with pytest.raises(Fp8Error, match=f"'{op}' in ops {message}"):
        mlir_fp8.quantize(dot(SQUARE, SQUARE, SQUARE), ops=[op])


def test_a_private_entry_is_refused() -> None:
    text = dot(SQUARE, SQUARE, SQUARE).replace("@main", "private @main")
    with pytest.raises(Fp8Error, match="'main' is private"):
        mlir_fp8.quantize(text)


CALLED = """
func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = CALL : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func private @g(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @caller(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = call @f(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
"""


def test_callers_of_the_entry_keep_what_it_was() -> None:
    text = CALLED.replace("CALL", "call @g(%0)")
    made = mlir_fp8.quantize(text, entry="f")
    assert [each.left for each in made.decisions] == ["", ""]
    function, caller = (str(op) for op in made.module.body.operations)
    assert function.count("fp8.scaled_dot") == 2
    assert caller.count("stablehlo.dot ") == 2


def test_a_composite_is_left() -> None:
    text = CALLED.replace("CALL", 'stablehlo.composite "my.g" %0 {decomposition = @g}')
    made = mlir_fp8.quantize(text, entry="f")
    reason = "is in 'g', which cannot be inlined: make it part of the entry"
    assert [each.left for each in made.decisions] == ["", reason]


def test_an_entry_that_calls_itself_is_refused() -> None:
    with pytest.raises(Fp8Error, match="calls 'f', whose arguments change"):
        mlir_fp8.quantize(CALLED.replace("CALL", "call @f(%0)"), entry="f")


def test_what_is_no_recipe_is_refused() -> None:
    wrong: Any = 3
    with pytest.raises(Fp8Error, match="recipe is a int: give a DelayedScaling or its name"):
        mlir_fp8.quantize(CALLED, wrong)


def test_ops_and_a_selection_of_dots_exclude_each_other() -> None:
    with pytest.raises(Fp8Error, match=r"give the attribute mlir_fp8.skip to ops"):
        mlir_fp8.quantize(CALLED, ops=["all"], skip_first=1)


def test_passes_one_after_another_name_their_states_apart() -> None:
    first = mlir_fp8.quantize(PROGRAMS / "mlp.mlir", skip_first=1)
    second = mlir_fp8.quantize(first.module)
    assert list(second.state)[: len(first.state)] == list(first.state)
    assert len(second.state) == len(first.state) + 2 * 3
    assert "dot0.lhs.scale" in second.state
