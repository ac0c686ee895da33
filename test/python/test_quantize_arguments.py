"""Arguments of `quantize` and the recipes that are of the wrong kind, or of an odd one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.quantized import initial_state

DOT = """func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot %x, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}"""


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda wrong: mlir_fp8.DelayedScaling(margin=wrong), "margin is 1: it is a number betwee"),
        (lambda wrong: mlir_fp8.DelayedScaling(history=wrong), "history is 1: it is the number of"),
        (lambda wrong: mlir_fp8.quantize(DOT, min_size=wrong), "min_size is 1: it is a number, 0"),
        (lambda wrong: mlir_fp8.quantize(DOT, skip_first=wrong), "skip_first is 1: it is a number"),
        (lambda wrong: mlir_fp8.quantize(DOT, ops=wrong), "'1' in ops is no op: write them as"),
    ],
)
def test_text_for_a_number(make: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=message):
        make("1")


@pytest.mark.parametrize("history", [0, 1.5, float("nan"), None, 2**24 + 1, 2**70])
def test_what_is_no_number_of_steps(history: Any) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=r"history is .*: it is the number of steps, 1 to"):
        mlir_fp8.DelayedScaling(history=history)


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_numbers_of_numpy(kind: Any) -> None:
    recipe = mlir_fp8.DelayedScaling(history=kind(4), margin=kind(1))
    made = mlir_fp8.quantize(DOT, recipe, min_size=kind(4), skip_first=kind(0))
    assert [each.left for each in made.decisions] == [""]


@pytest.mark.parametrize(
    "ops",
    ["stablehlo.dot", "stablehlo.add,stablehlo.dot", "all", ("stablehlo.dot",), {"stablehlo.dot"}],
)
def test_ops_are_a_text_or_many(ops: Any) -> None:
    made = mlir_fp8.quantize(DOT, "current", ops=ops)
    assert [each.left for each in made.decisions] == [""]


def test_ops_that_can_be_read_once() -> None:
    ops: Any = (name for name in ["stablehlo.dot"])
    made = mlir_fp8.quantize(DOT, "current", ops=ops)
    assert [each.left for each in made.decisions] == [""]


def test_ops_that_are_no_names() -> None:
    ops: Any = [3, "stablehlo.dot"]
    with pytest.raises(mlir_fp8.Fp8Error, match="'3' in ops is no op"):
        mlir_fp8.quantize(DOT, ops=ops)


def test_the_initial_state_of_text_files_and_artifacts(tmp_path: Path) -> None:
    made = mlir_fp8.quantize(DOT)
    file = tmp_path / "dot.mlir"
    file.write_text(str(made.module))
    for module in (made.module, str(made.module), file, mlir_fp8.serialize(made.module, "1.0.0")):
        assert list(initial_state(module)) == list(made.state)


@pytest.mark.parametrize("option", ["history=4", "algorithm=most_recent"])
def test_current_scaling_has_no_history(option: str) -> None:
    with pytest.raises(
        mlir_fp8.Fp8Error, match=r"recipe is current, which has no (history|algorithm)"
    ):
        run_pipeline(mlir_fp8.load(DOT), [f"fp8-quantize-dots{{recipe=current {option}}}"])
