"""The StableHLO specification's examples give what it says, in native code."""

import numpy as np
import pytest
from sample_groups import Case, Group, spec_of
from spec_elementwise import ELEMENTWISE
from spec_examples import Example
from spec_movement import MOVEMENT
from spec_structured import STRUCTURED

import mlir_fp8

_TOLERANCE = 1e-6
"""The specification prints seven digits or eight."""

_ACROSS_PROCESSES = {
    "all_gather": (
        '"stablehlo.all_gather"(%a) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]>'
        " : tensor<1x2xi64>} : (tensor<2x2xi64>) -> tensor<2x4xi64>",
        "tensor<2x4xi64>",
    ),
    "all_reduce": (
        '"stablehlo.all_reduce"(%a) ({\n^bb0(%x: tensor<i64>, %y: tensor<i64>):\n'
        "%s = stablehlo.add %x, %y : tensor<i64>\nstablehlo.return %s : tensor<i64>\n})"
        " {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}"
        " : (tensor<2x2xi64>) -> tensor<2x2xi64>",
        "tensor<2x2xi64>",
    ),
    "all_to_all": (
        '"stablehlo.all_to_all"(%a) {split_dimension = 1 : i64, concat_dimension = 0 : i64,'
        " split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}"
        " : (tensor<2x2xi64>) -> tensor<4x1xi64>",
        "tensor<4x1xi64>",
    ),
    "collective_broadcast": (
        '"stablehlo.collective_broadcast"(%a) {replica_groups = dense<[[2, 1]]>'
        " : tensor<1x2xi64>} : (tensor<2x2xi64>) -> tensor<2x2xi64>",
        "tensor<2x2xi64>",
    ),
    "collective_permute": (
        '"stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[0, 1], [1, 2]]>'
        " : tensor<2x2xi64>} : (tensor<2x2xi64>) -> tensor<2x2xi64>",
        "tensor<2x2xi64>",
    ),
}


@pytest.mark.parametrize("examples", [ELEMENTWISE, MOVEMENT, STRUCTURED])
def test_examples_give_what_the_specification_says(examples: tuple[Example, ...]) -> None:
    group = Group(tuple(Case(each.sample, "") for each in examples))
    arrays = [
        np.array(numbers).astype(spec_of(type_).dtype)
        for case, each in zip(group.cases, examples, strict=True)
        for type_, numbers in zip(case.argument_types, each.arguments, strict=True)
    ]
    results = group.split(mlir_fp8.compile(group.text)(*arrays))
    for case, each, got in zip(group.cases, examples, results, strict=True):
        for array, numbers in zip(got, each.results, strict=True):
            want = np.array(numbers).astype(array.dtype)
            np.testing.assert_allclose(
                array, want, rtol=_TOLERANCE, atol=_TOLERANCE, err_msg=str(case)
            )


@pytest.mark.parametrize("op", _ACROSS_PROCESSES)
def test_examples_of_several_processes_are_refused_by_name(op: str) -> None:
    text, result = _ACROSS_PROCESSES[op]
    body = f"%0 = {text}\nreturn %0 : {result}"
    program = f"func.func @main(%a: tensor<2x2xi64>) -> {result} {{\n{body}\n}}"
    with pytest.raises(mlir_fp8.Fp8Error, match=f"'stablehlo.{op}' is among several processes"):
        mlir_fp8.compile(program)
