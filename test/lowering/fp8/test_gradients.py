"""Which operands are gradients: programs that JAX derived, with and without names; near misses."""

from pathlib import Path

import pytest

import mlir_fp8
from mlir_fp8.lowering.fp8.scaling.gradients import Gradient, gradients
from mlir_fp8.passes.pass_pipeline import run_pipeline

PROGRAMS = Path(__file__).parents[1] / "Inputs" / "gradients"
MODELS = Path(__file__).parents[2] / "models"

# The dots of jax_gradient_programs.py in order. JAX puts the cotangent left of a dot; right of the
# convolution that gives a kernel's gradient.
KNOWN = {
    "mlp": "forward forward lhs lhs lhs",
    "bf16_mlp": "forward forward lhs lhs lhs",
    # Three iterations; all but the first have the gradients of w and of x.
    "recurrent": "forward forward forward lhs lhs lhs lhs lhs",
    # q, k, v, scores, mixed, out; of x no gradient is asked for.
    "attention": "forward " * 6 + "lhs " * 9,
    "convolutions": "forward forward rhs lhs rhs",
    "recomputed": "forward forward forward lhs lhs lhs",
    # A loop and its derivative, which reads the residuals that the first one has stacked.
    "scanned": "forward lhs lhs",
}


def verdicts(text: str | Path) -> list[Gradient]:
    module = mlir_fp8.load(text)
    run_pipeline(module, ["inline", "symbol-dce"])
    return list(gradients(module.operation).values())


def operands(found: list[Gradient]) -> list[str]:
    return ["forward" if each.operand == "none" else each.operand for each in found]


@pytest.mark.parametrize("name", KNOWN)
def test_by_name_stack(name: str) -> None:
    found = verdicts(PROGRAMS / f"{name}.mlir")
    assert operands(found) == KNOWN[name].split()
    assert {each.rule for each in found} == {"name-stack"}


@pytest.mark.parametrize("name", KNOWN)
def test_by_shared_operands(name: str) -> None:
    without_names = str(mlir_fp8.load(PROGRAMS / f"{name}.mlir"))
    found = verdicts(without_names)
    assert operands(found) == KNOWN[name].split()
    assert {each.rule for each in found} == {"shared-operand", "default"}


def test_through_quantizers() -> None:
    found = operands(verdicts(MODELS / "transformer_train_step.mlir"))
    assert len(found) == 21
    assert found[:7] == ["forward"] * 7
    assert set(found[7:]) == {"lhs", "rhs"}


SIZES = {
    "x": "4x8",
    "w": "8x2",
    "v": "8x8",
    "y": "4x2",
    "g": "4x2",
    "s": "4x1",
    "r": "4x8",
    "c": "4x2",
}


def dot(result: str, lhs: str, rhs: str, dims: str, size: str, attributes: str = "") -> str:
    types = ", ".join(f"tensor<{SIZES.get(each, size)}xf32>" for each in (lhs, rhs))
    return (
        f"%{result} = stablehlo.dot_general %{lhs}, %{rhs}, contracting_dims = {dims} {attributes}"
        f" : ({types}) -> tensor<{size}xf32>"
    )


FORWARD = (
    dot("y", "x", "w", "[1] x [0]", "4x2"),
    "%g = stablehlo.add %y, %y : tensor<4x2xf32>",
)


def found_in(*lines: str) -> list[str]:
    """The verdicts on a program, all values of which it returns."""
    names = [line.split()[0] for line in lines]
    types = [line.rsplit(" ", 1)[1] for line in lines]
    arguments = "%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %v: tensor<8x8xf32>"
    body = "\n".join([*lines, f"return {', '.join(names)} : {', '.join(types)}"])
    return operands(
        verdicts(f"func.func @main({arguments}) -> ({', '.join(types)}) {{\n{body}\n}}")
    )


def test_a_derivative() -> None:
    lines = [*FORWARD, dot("d", "x", "g", "[0] x [0]", "8x2")]
    assert found_in(*lines) == ["forward", "rhs"]


def test_what_does_not_depend_on_the_forward_op_is_no_gradient() -> None:
    constant = "%c = stablehlo.constant dense<1.0> : tensor<4x2xf32>"
    derivative = dot("d", "x", "c", "[0] x [0]", "8x2")
    assert found_in(*FORWARD, constant, derivative) == ["forward", "forward"]


def test_the_same_contraction_again_is_no_derivative() -> None:
    first = dot("a", "x", "v", "[1] x [0]", "4x8")
    again = dot("b", "a", "v", "[1] x [0]", "4x8")
    assert found_in(first, again) == ["forward", "forward"]


def test_another_size_is_no_gradient() -> None:
    part = "%s = stablehlo.slice %g [0:4, 0:1] : (tensor<4x2xf32>) -> tensor<4x1xf32>"
    lines = [*FORWARD, part, dot("d", "x", "s", "[0] x [0]", "8x1")]
    assert found_in(*lines) == ["forward", "forward"]


def test_a_rectified_tensor_is_another() -> None:
    zero = "%z = stablehlo.constant dense<0.0> : tensor<4x8xf32>"
    rectified = "%r = stablehlo.maximum %x, %z : tensor<4x8xf32>"
    lines = [*FORWARD, zero, rectified, dot("d", "r", "g", "[0] x [0]", "8x2")]
    assert found_in(*lines) == ["forward", "forward"]


def test_a_clamped_tensor_is_the_same() -> None:
    bound = "%z = stablehlo.constant dense<-448.0> : tensor<4x8xf32>"
    clamped = "%r = stablehlo.maximum %x, %z : tensor<4x8xf32>"
    lines = [*FORWARD, bound, clamped, dot("d", "r", "g", "[0] x [0]", "8x2")]
    assert found_in(*lines) == ["forward", "rhs"]


@pytest.mark.parametrize("operand", ["lhs", "rhs", "none"])
def test_the_attribute_decides(operand: str) -> None:
    attribute = f'{{mlir_fp8.gradient = "{operand}"}}'
    expected = "forward" if operand == "none" else operand
    lines = [*FORWARD, dot("d", "x", "g", "[0] x [0]", "8x2", attribute)]
    assert found_in(*lines) == ["forward", expected]


def test_another_attribute_is_refused() -> None:
    lines = [*FORWARD, dot("d", "x", "g", "[0] x [0]", "8x2", '{mlir_fp8.gradient = "both"}')]
    with pytest.raises(mlir_fp8.Fp8Error, match=r'mlir_fp8.gradient = "both": it is "lhs"'):
        found_in(*lines)
