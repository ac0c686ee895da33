"""Compiled `stablehlo.scatter` against the StableHLO specification's own formula, in numpy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import reduction_bodies
from indexed_cases import (
    EMBEDDING,
    INDEX_TYPES,
    TAKE_ALONG_AXIS,
    Layout,
    compile_and_run,
    extreme_layout,
    function_text,
    random_indices,
    random_layout,
    random_values,
    tensor_type,
)
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

import mlir_fp8
from mlir_fp8.context import make_context
from mlir_fp8.lowering._retype import operations
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.pipelines import to_linalg

BUFFERIZE = (
    "canonicalize",
    "protect-arguments",
    "one-shot-bufferize{bufferize-function-boundaries"
    " function-boundary-type-conversion=identity-layout-map}",
    "canonicalize",
)
NAMES = (
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
)


@dataclass(frozen=True)
class Body:
    """An update computation, as StableHLO text on `TYPE` and as Python on numpy scalars."""

    inputs: int
    text: str
    python: Callable[..., tuple]
    before: str = ""


REPLACE = Body(1, "stablehlo.return %u0 : TYPE", lambda a, b: (b,))
ADD = Body(
    1,
    "%r = stablehlo.add %x0, %u0 : TYPE\nstablehlo.return %r : TYPE",
    lambda a, b: (a + b,),
)
# Gives different results for different orders of the updates.
ORDERED = Body(
    1,
    """%c = stablehlo.constant dense<THREE> : TYPE
    %m = stablehlo.multiply %x0, %c : TYPE
    %r = stablehlo.subtract %u0, %m : TYPE
    stablehlo.return %r : TYPE""",
    lambda a, b: (b - a * a.dtype.type(3),),
)
BODIES = (
    REPLACE,
    ADD,
    ORDERED,
    Body(1, "stablehlo.return %x0 : TYPE", lambda a, b: (a,)),
    Body(
        2,
        """%p = stablehlo.subtract %x0, %u1 : TYPE
        %q = stablehlo.add %x1, %x0 : TYPE
        stablehlo.return %p, %q : TYPE, TYPE""",
        lambda a0, a1, b0, b1: (a0 - b1, a1 + a0),
    ),
    Body(
        2,
        "stablehlo.return %u1, %x0 : TYPE, TYPE",
        lambda a0, a1, b0, b1: (b1, a0),
    ),
)


@dataclass(frozen=True)
class ScatterCase:
    layout: Layout
    body: Body
    index_type: str
    element: str
    inputs: tuple[np.ndarray, ...]
    indices: np.ndarray
    updates: tuple[np.ndarray, ...]

    def operands(self) -> list[np.ndarray]:
        return [*self.inputs, self.indices, *self.updates]

    def types(self) -> tuple[list[str], list[str]]:
        inputs = [tensor_type(self.layout.operand_shape, self.element)] * self.body.inputs
        updates = [tensor_type(self.layout.other_shape, self.element)] * self.body.inputs
        return [*inputs, tensor_type(self.layout.indices_shape, self.index_type), *updates], inputs

    def op(self) -> str:
        count = self.body.inputs
        scalar = f"tensor<{self.element}>"
        three = "3.0" if self.element.startswith("f") else "3"
        body = self.body.text.replace("TYPE", scalar).replace("THREE", three)
        arguments = ", ".join(f"%{side}{i}: {scalar}" for side in "xu" for i in range(count))
        operands = ", ".join(f"%a{i}" for i in range(2 * count + 1))
        return f"""{self.body.before}
          %r:{count} = "stablehlo.scatter"({operands}) <{{
            scatter_dimension_numbers = {self.layout.attribute("scatter", NAMES)}}}> ({{
          ^bb0({arguments}):
            {body}
          }})"""

    def expected(self) -> list[np.ndarray]:
        return scatter(self.inputs, self.indices, self.updates, self.layout, self.body.python)


def scatter(
    inputs: Sequence[np.ndarray],
    scatter_indices: np.ndarray,
    updates: Sequence[np.ndarray],
    layout: Layout,
    update_computation: Callable[..., tuple],
) -> list[np.ndarray]:
    """The specification of scatter, read aloud; index arithmetic is in Python's integers."""
    results = [value.copy() for value in inputs]
    axes = range(inputs[0].ndim)
    vector_dim = layout.index_vector_dim
    update_scatter_dims = [d for d in range(updates[0].ndim) if d not in layout.window_dims]
    for update_index in np.ndindex(updates[0].shape):
        update_scatter_index = tuple(update_index[d] for d in update_scatter_dims)
        if vector_dim < scatter_indices.ndim:
            at = (*update_scatter_index[:vector_dim], slice(None))
            start_index = scatter_indices[(*at, *update_scatter_index[vector_dim:])]
        else:
            start_index = [scatter_indices[update_scatter_index]]
        full_start_index = [0 for _ in axes]
        for d_start, d_input in enumerate(layout.mapped_dims):
            full_start_index[d_input] = int(start_index[d_start])
        full_batching_index = [0 for _ in axes]
        for i_batching, d_input in enumerate(layout.batching_dims):
            d_start = layout.indices_batching_dims[i_batching]
            place = d_start - (0 if d_start < vector_dim else 1)
            full_batching_index[d_input] = update_scatter_index[place]
        update_window_index = iter([update_index[d] for d in layout.window_dims])
        absent = (*layout.removed_dims, *layout.batching_dims)
        full_window_index = [0 if d in absent else next(update_window_index) for d in axes]
        result_index = tuple(
            sum(parts)
            for parts in zip(full_start_index, full_batching_index, full_window_index, strict=True)
        )
        if not all(0 <= i < n for i, n in zip(result_index, inputs[0].shape, strict=True)):
            continue
        elements = [value[result_index] for value in results]
        with np.errstate(all="ignore"):
            new = update_computation(*elements, *(value[update_index] for value in updates))
        for result, value in zip(results, new, strict=True):
            result[result_index] = value
    return results


def case_of(
    rng: np.random.Generator,
    layout: Layout,
    indices: np.ndarray,
    *,
    body: Body,
    index_type: str,
    element: str,
) -> ScatterCase:
    inputs = [random_values(rng, layout.operand_shape, element) for _ in range(body.inputs)]
    updates = [random_values(rng, layout.other_shape, element) for _ in range(body.inputs)]
    return ScatterCase(layout, body, index_type, element, tuple(inputs), indices, tuple(updates))


def random_case(rng: np.random.Generator, number: int) -> ScatterCase:
    layout = random_layout(rng)
    index_type = INDEX_TYPES[number % len(INDEX_TYPES)]
    return case_of(
        rng,
        layout,
        random_indices(rng, layout, index_type),
        body=BODIES[number % len(BODIES)],
        index_type=index_type,
        element=str(rng.choice(["f32", "i32", "i64", "f64"])),
    )


def assert_match(cases: Sequence[ScatterCase]) -> None:
    results = compile_and_run(cases, "stablehlo-scatter-to-scf")
    for number, (case, result) in enumerate(zip(cases, results, strict=True)):
        for got, wanted in zip(result, case.expected(), strict=True):
            np.testing.assert_array_equal(got, wanted, err_msg=f"{number}: {case}")


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


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2", "bf16", "i1", "i8", "complex<f32>"])
def test_elements_of_every_kind_are_moved(element: str) -> None:
    rng = np.random.default_rng(2)
    indices = random_indices(rng, EMBEDDING, "i32")
    case = case_of(rng, EMBEDDING, indices, body=REPLACE, index_type="i32", element=element)
    assert_match([case])


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
