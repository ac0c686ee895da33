"""What the reference interpreter refuses before it runs: modules, argument types, time limits."""

import math

import numpy as np
import pytest
from jaxlib.mlir.ir import Context as JaxContext
from jaxlib.mlir.ir import Module as JaxModule

import mlir_fp8
from mlir_fp8.judging.interpretation import evaluate

EMPTY = "func.func @main() {\n  return\n}\n"


def failure(text: str, **options: object) -> str:
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        mlir_fp8.interpret(mlir_fp8.load(text), **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seconds", [0, -1.0, math.inf, math.nan, 1e30, 10**400, 86401, True, "1"])
def test_seconds_are_a_positive_number_up_to_a_day(seconds: object) -> None:
    assert failure(EMPTY, seconds=seconds).startswith("seconds is ")
    module = mlir_fp8.load(EMPTY)
    for good in (86400, np.float32(9)):
        assert mlir_fp8.interpret(module, seconds=good) == ()  # type: ignore[arg-type]


def test_what_is_no_module_is_refused() -> None:
    with JaxContext():
        foreign = JaxModule.parse("")
    kinds = {"jaxlib.mlir._mlir_libs._mlir.ir.Module": foreign, "builtins.NoneType": None}
    for kind, module in {**kinds, "builtins.str": EMPTY}.items():
        with pytest.raises(mlir_fp8.Fp8Error) as caught:
            mlir_fp8.interpret(module)  # type: ignore[arg-type]
        assert str(caught.value) == f"module is a {kind}: give what mlir_fp8.load returns"


@pytest.mark.parametrize("element", ["i3", "si8", "index", "complex<i3>", "complex<f16>", "tf32"])
@pytest.mark.parametrize("entry", ["main", "f"])
def test_argument_types_that_the_interpreter_does_not_know(element: str, entry: str) -> None:
    type_ = f"tensor<2x{element}>"
    module = mlir_fp8.load(f"func.func @{entry}(%a: tensor<f32>, %b: {type_}) {{\n  return\n}}\n")
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        evaluate(module, lambda _: [], entry=entry, name="x.mlir")
    assert str(caught.value) == (
        f"x.mlir:1:1: argument 1 of '{entry}' is {type_}: the interpreter knows no {element}, "
        "convert it to a StableHLO type"
    )


def test_a_function_without_a_body_is_refused() -> None:
    message = "-:1:1: 'func.func' 'f' has no body to run: define it"
    assert failure("func.func private @f()\n") == message
