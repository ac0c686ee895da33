"""Compiled `stablehlo.scatter` against the StableHLO specification's own formula, in numpy."""

from typing import Any

import numpy as np
import pytest
import reduction_bodies
from indexed_cases import (
    EMBEDDING,
    INDEX_TYPES,
    TAKE_ALONG_AXIS,
    Layout,
    extreme_layout,
    function_text,
    random_indices,
    random_layout,
    random_values,
)
from scatter_cases import (
    ADD,
    ORDERED,
    REPLACE,
    Body,
    ScatterCase,
    assert_match,
    case_of,
    random_case,
)
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.base.operations import operations
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.pipelines import to_linalg

BUFFERIZE = (
    "canonicalize",
    "protect-arguments",
    "one-shot-bufferize{bufferize-function-boundaries"
    " function-boundary-type-conversion=identity-layout-map}",
    "canonicalize",
)


@pytest.mark.sampled(50)
@pytest.mark.parametrize("seed", range(7))
def test_random_scatters_match_the_specification(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert_match([random_case(rng, number) for number in range(30)])


def test_indices_at_the_ends_of_their_type() -> None:
    rng = np.random.default_rng(0)
    cases = []
    for index_type in INDEX_TYPES:
        layout, indices = extreme_layout(index_type)
        cases.append(
            case_of(rng, layout, indices, body=ORDERED, index_type=index_type, element="i32")
        )
    assert_match(cases)


@pytest.mark.parametrize("layout", [EMBEDDING, TAKE_ALONG_AXIS], ids=["embedding", "take_along"])
def test_scatters_of_a_transformer(layout: Layout) -> None:
    rng = np.random.default_rng(1)
    indices = random_indices(rng, layout, "i32")
    assert_match([case_of(rng, layout, indices, body=ADD, index_type="i32", element="f32")])


@pytest.mark.sampled(11)
@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2", "bf16", "i1", "i8", "complex<f32>"])
def test_elements_of_every_kind_are_moved(element: str) -> None:
    rng = np.random.default_rng(2)
    indices = random_indices(rng, EMBEDDING, "i32")
    case = case_of(rng, EMBEDDING, indices, body=REPLACE, index_type="i32", element=element)
    assert_match([case])


@pytest.mark.sampled(11)
@pytest.mark.parametrize("name", reduction_bodies.BODIES)
def test_bodies_on_every_element(name: str) -> None:
    rng = np.random.default_rng(len(name))
    each = reduction_bodies.BODIES[name]
    cases = []
    for element in each.elements:
        text, before = (
            part.replace("%y", "%u").replace("%PRE", "%one") for part in each.of(element)
        )
        body = Body(each.operands, text, each.python, before)
        layout = random_layout(rng)
        inputs, updates = (
            tuple(reduction_bodies.small_numbers(rng, shape, element) for _ in range(body.inputs))
            for shape in (layout.operand_shape, layout.other_shape)
        )
        indices = random_indices(rng, layout, "i32")
        cases.append(ScatterCase(layout, body, "i32", element, inputs, indices, updates))
    assert_match(cases)


@pytest.mark.parametrize("flags", ["", ", unique_indices = true, indices_are_sorted = true"])
def test_inputs_of_different_types_that_the_body_widens(flags: str) -> None:
    text = f"""
    func.func @main(%x: tensor<5x3xbf16>, %k: tensor<5x3xui8>, %at: tensor<4x1xi16>,
        %u: tensor<4x3xbf16>, %n: tensor<4x3xui8>) -> (tensor<5x3xf32>, tensor<5x3xui32>) {{
      %r:2 = "stablehlo.scatter"(%x, %k, %at, %u, %n) <{{
          scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
            inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
          {flags}}}> ({{
      ^bb0(%a: tensor<f32>, %i: tensor<ui32>, %b: tensor<f32>, %j: tensor<ui32>):
        %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %v = stablehlo.select %p, %a, %b : tensor<i1>, tensor<f32>
        %s = stablehlo.add %i, %j : tensor<ui32>
        stablehlo.return %v, %s : tensor<f32>, tensor<ui32>
      }}) : (tensor<5x3xbf16>, tensor<5x3xui8>, tensor<4x1xi16>, tensor<4x3xbf16>,
        tensor<4x3xui8>) -> (tensor<5x3xf32>, tensor<5x3xui32>)
      return %r#0, %r#1 : tensor<5x3xf32>, tensor<5x3xui32>
    }}"""
    rng = np.random.default_rng(3)
    x, u = (random_values(rng, (rows, 3), "bf16") for rows in (5, 4))
    k, n = (rng.integers(100, 256, (rows, 3)).astype(np.uint8) for rows in (5, 4))
    # In order, once each, and one beyond the operand.
    at = np.array([0, 2, 3, 5], np.int16)
    largest, sums = x.astype(np.float32), k.astype(np.uint32)
    largest[at[:3]] = np.maximum(largest[at[:3]], u[:3])
    sums[at[:3]] += n[:3]
    for got, want in zip(
        mlir_fp8.compile(text)(x, k, at[:, None], u, n), (largest, sums), strict=True
    ):
        np.testing.assert_array_equal(got, want, strict=True)


@pytest.mark.parametrize("seed", range(3))
def test_the_specification_in_numpy_agrees_with_the_interpreter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for case in [random_case(rng, number) for number in range(30)]:
        # The interpreter takes unsigned indices for signed ones.
        if case.index_type.startswith("ui") or not all(array.size for array in case.operands()):
            continue
        module = ir.Module.parse(function_text("main", case), make_context())
        with module.context:
            arguments = [_dense(array) for array in case.operands()]
        results = _stablehlo.eval_module(module, arguments)
        for got, wanted in zip(results, case.expected(), strict=True):
            np.testing.assert_array_equal(np.array(got), wanted, err_msg=str(case))


def _dense(array: np.ndarray) -> ir.DenseElementsAttr:
    buffer: Any = array  # numpy's arrays are buffers, but its stubs do not say so
    return ir.DenseElementsAttr.get(buffer)


@pytest.mark.parametrize("seed", range(3))
def test_bufferization_copies_an_input_once_and_outside_the_loops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for case in [random_case(rng, number) for number in range(30)]:
        module = ir.Module.parse(function_text("main", case), make_context())
        run_pipeline(module, ["stablehlo-scatter-to-scf", *to_linalg(), *BUFFERIZE])
        ops = operations(module.operation, inner_first=True)
        copies = [op for op in ops if op.name == "memref.copy"]
        assert len(copies) <= case.body.inputs, case
        allocations = [op for op in ops if op.name == "memref.alloc" and op.results[0].type.shape]
        for op in copies + allocations:
            assert op.parent is not None
            assert op.parent.name == "func.func", case
