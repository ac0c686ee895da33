"""Compiled `stablehlo.gather` against the StableHLO specification's own formula, in numpy."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from indexed_cases import (
    EMBEDDING,
    INDEX_TYPES,
    TAKE_ALONG_AXIS,
    Layout,
    compile_and_run,
    extreme_layout,
    random_indices,
    random_layout,
    random_values,
    tensor_type,
)

NAMES = (
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
)


@dataclass(frozen=True)
class GatherCase:
    layout: Layout
    index_type: str
    element: str
    operand: np.ndarray
    indices: np.ndarray

    def operands(self) -> list[np.ndarray]:
        return [self.operand, self.indices]

    def types(self) -> tuple[list[str], list[str]]:
        operand = tensor_type(self.layout.operand_shape, self.element)
        indices = tensor_type(self.layout.indices_shape, self.index_type)
        return [operand, indices], [tensor_type(self.layout.other_shape, self.element)]

    def op(self) -> str:
        sizes = ", ".join(str(size) for size in self.layout.slice_sizes)
        return f"""%r:1 = "stablehlo.gather"(%a0, %a1) <{{
            dimension_numbers = {self.layout.attribute("gather", NAMES)},
            slice_sizes = array<i64{": " + sizes if sizes else ""}>}}>"""

    def expected(self) -> np.ndarray:
        return gather(self.operand, self.indices, self.layout)


def gather(operand: np.ndarray, start_indices: np.ndarray, layout: Layout) -> np.ndarray:
    """The specification of gather, read aloud; index arithmetic is in Python's integers."""
    result = np.zeros(layout.other_shape, operand.dtype)
    axes = range(operand.ndim)
    vector_dim = layout.index_vector_dim
    batch_dims = [d for d in range(result.ndim) if d not in layout.window_dims]
    for result_index in np.ndindex(result.shape):
        batch_index = tuple(result_index[d] for d in batch_dims)
        if vector_dim < start_indices.ndim:
            at = (*batch_index[:vector_dim], slice(None), *batch_index[vector_dim:])
            start_index = start_indices[at]
        else:
            start_index = [start_indices[batch_index]]
        full_start_index = [0 for _ in axes]
        for d_start, d_operand in enumerate(layout.mapped_dims):
            last = operand.shape[d_operand] - layout.slice_sizes[d_operand]
            full_start_index[d_operand] = min(max(int(start_index[d_start]), 0), last)
        full_batching_index = [0 for _ in axes]
        for i_batching, d_operand in enumerate(layout.batching_dims):
            d_start = layout.indices_batching_dims[i_batching]
            full_batching_index[d_operand] = batch_index[d_start - (d_start >= vector_dim)]
        offset_index = iter([result_index[d] for d in layout.window_dims])
        absent = (*layout.removed_dims, *layout.batching_dims)
        full_offset_index = [0 if d in absent else next(offset_index) for d in axes]
        operand_index = tuple(
            sum(parts)
            for parts in zip(full_start_index, full_batching_index, full_offset_index, strict=True)
        )
        result[result_index] = operand[operand_index]
    return result


def case_of(layout: Layout, indices: np.ndarray, index_type: str) -> GatherCase:
    """A gather from an operand whose elements all differ."""
    count = int(np.prod(layout.operand_shape, dtype=int))
    operand = np.arange(1, count + 1, dtype=np.int32).reshape(layout.operand_shape)
    return GatherCase(layout, index_type, "i32", operand, indices)


def random_case(rng: np.random.Generator, number: int) -> GatherCase:
    layout = random_layout(rng)
    index_type = INDEX_TYPES[number % len(INDEX_TYPES)]
    return case_of(layout, random_indices(rng, layout, index_type), index_type)


def assert_match(cases: Sequence[GatherCase], *, opt_level: int = 3) -> None:
    results = compile_and_run(cases, "stablehlo-gather-to-scf", opt_level=opt_level)
    for number, (case, (result,)) in enumerate(zip(cases, results, strict=True)):
        np.testing.assert_array_equal(result, case.expected(), err_msg=f"{number}: {case}")


@pytest.mark.sampled(50)
# At level 1, LLVM unrolls and vectorizes small gathers in another way, which it once got wrong.
@pytest.mark.parametrize("opt_level", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_random_gathers_match_the_specification(seed: int, opt_level: int) -> None:
    rng = np.random.default_rng(seed)
    assert_match([random_case(rng, number) for number in range(30)], opt_level=opt_level)


def test_indices_at_the_ends_of_their_type() -> None:
    assert_match([case_of(*extreme_layout(index_type), index_type) for index_type in INDEX_TYPES])


@pytest.mark.parametrize("layout", [EMBEDDING, TAKE_ALONG_AXIS], ids=["embedding", "take_along"])
def test_gathers_of_a_transformer(layout: Layout) -> None:
    indices = random_indices(np.random.default_rng(1), layout, "i32")
    assert_match([case_of(layout, indices, "i32")])


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2", "bf16", "i1", "i8", "complex<f32>"])
def test_elements_of_every_kind_are_moved(element: str) -> None:
    rng = np.random.default_rng(2)
    operand = random_values(rng, EMBEDDING.operand_shape, element)
    indices = random_indices(rng, EMBEDDING, "i32")
    assert_match([GatherCase(EMBEDDING, "i32", element, operand, indices)])
