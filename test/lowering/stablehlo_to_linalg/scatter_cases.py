"""Random scatters, and the StableHLO specification's formula for them in numpy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from indexed_cases import (
    INDEX_TYPES,
    Layout,
    compile_and_run,
    random_indices,
    random_layout,
    random_values,
    tensor_type,
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
