"""Random shapes, dimension numbers and hostile indices for the scatter and gather tests."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.base.context import make_context
from mlir_fp8.passes.pass_pipeline import run_pipeline

INDEX_TYPES = ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")


@dataclass(frozen=True)
class Layout:
    """How an indexed operand, its indices and the other tensor (updates or result) line up.

    `window_dims` are dims of the other tensor; `removed_dims`, `batching_dims` and `mapped_dims`
    (one per index component) are dims of the operand.
    """

    operand_shape: tuple[int, ...]
    slice_sizes: tuple[int, ...]
    indices_shape: tuple[int, ...]
    other_shape: tuple[int, ...]
    window_dims: tuple[int, ...]
    removed_dims: tuple[int, ...]
    batching_dims: tuple[int, ...]
    indices_batching_dims: tuple[int, ...]
    mapped_dims: tuple[int, ...]
    index_vector_dim: int

    def attribute(self, kind: str, names: tuple[str, str, str, str, str]) -> str:
        """`#stablehlo.<kind><...>`, with the attribute's names of the five lists in field order."""
        lists = (
            self.window_dims,
            self.removed_dims,
            self.batching_dims,
            self.indices_batching_dims,
            self.mapped_dims,
        )
        fields = [f"{name} = {list(dims)}" for name, dims in zip(names, lists, strict=True)]
        return f"#stablehlo.{kind}<{', '.join(fields)}, index_vector_dim = {self.index_vector_dim}>"


def random_layout(rng: np.random.Generator) -> Layout:
    """Any legal layout of up to rank 4, with dims of size 0 now and then."""
    rank = int(rng.integers(0, 5))
    shape = [int(size) for size in rng.choice([0, 1, 2, 3, 5], rank, p=[0.03, 0.17, 0.3, 0.3, 0.2])]
    roles = rng.choice(["window", "removed", "batching"], rank, p=[0.5, 0.3, 0.2])
    roles = [
        "window" if s == 0 and r == "removed" else r for s, r in zip(shape, roles, strict=True)
    ]
    batching = [dim for dim in range(rank) if roles[dim] == "batching"]
    removed = [dim for dim in range(rank) if roles[dim] == "removed"]
    window = [dim for dim in range(rank) if roles[dim] == "window"]
    mapped = rng.permutation([dim for dim in range(rank) if dim not in batching])
    mapped = [int(dim) for dim in mapped[: rng.integers(0, len(mapped) + 1)]]

    # The dims of the indices but for the index vector: batching ones and free ones, shuffled.
    free = [
        int(size) for size in rng.choice([0, 1, 2, 4], rng.integers(0, 3), p=[0.03, 0.2, 0.4, 0.37])
    ]
    owners = rng.permutation([*batching, *range(-len(free), 0)]).astype(int).tolist()
    batch_shape = [shape[owner] if owner >= 0 else free[owner] for owner in owners]
    places = {owner: place for place, owner in enumerate(owners)}
    implicit = len(mapped) == 1 and rng.random() < 0.3
    vector_dim = len(owners) if implicit else int(rng.integers(0, len(owners) + 1))
    indices_shape = list(batch_shape)
    if not implicit:
        indices_shape.insert(vector_dim, len(mapped))

    slices = [
        int(rng.integers(0 if rng.random() < 0.1 else min(1, size), size + 1)) for size in shape
    ]
    slices = [slices[dim] if dim in window else 1 for dim in range(rank)]
    other_rank = len(window) + len(owners)
    window_dims = sorted(rng.permutation(other_rank)[: len(window)].astype(int).tolist())
    sizes = {dim: slices[operand] for dim, operand in zip(window_dims, window, strict=True)}
    rest = iter(batch_shape)
    return Layout(
        operand_shape=tuple(shape),
        slice_sizes=tuple(0 if shape[dim] == 0 else slices[dim] for dim in range(rank)),
        indices_shape=tuple(indices_shape),
        other_shape=tuple(sizes[d] if d in sizes else next(rest) for d in range(other_rank)),
        window_dims=tuple(window_dims),
        removed_dims=tuple(removed),
        batching_dims=tuple(batching),
        indices_batching_dims=tuple(
            place + (place >= vector_dim) for place in (places[dim] for dim in batching)
        ),
        mapped_dims=tuple(mapped),
        index_vector_dim=vector_dim,
    )


def extreme_layout(index_type: str) -> tuple[Layout, np.ndarray]:
    """Windows of 3 in an operand of 5, with every index around the bounds and the type's ends."""
    dtype = element_dtype(index_type)
    info = np.iinfo(dtype)
    ends = [info.min, info.min + 1, info.max - 2, info.max - 1, info.max, info.max // 2 + 1]
    indices = np.concatenate([np.arange(-4, 7).astype(dtype), np.array(ends, dtype)])
    count = len(indices)
    layout = Layout(
        operand_shape=(5,),
        slice_sizes=(3,),
        indices_shape=(count,),
        other_shape=(count, 3),
        window_dims=(1,),
        removed_dims=(),
        batching_dims=(),
        indices_batching_dims=(),
        mapped_dims=(0,),
        index_vector_dim=1,
    )
    return layout, indices


# What a transformer's embedding and the log-likelihood of its targets come to.
EMBEDDING = Layout(
    operand_shape=(128, 64),
    slice_sizes=(1, 64),
    indices_shape=(2, 16, 1),
    other_shape=(2, 16, 64),
    window_dims=(2,),
    removed_dims=(0,),
    batching_dims=(),
    indices_batching_dims=(),
    mapped_dims=(0,),
    index_vector_dim=2,
)
TAKE_ALONG_AXIS = Layout(
    operand_shape=(2, 16, 128),
    slice_sizes=(1, 1, 1),
    indices_shape=(2, 16, 1, 1),
    other_shape=(2, 16, 1),
    window_dims=(),
    removed_dims=(2,),
    batching_dims=(0, 1),
    indices_batching_dims=(0, 1),
    mapped_dims=(2,),
    index_vector_dim=3,
)


def random_indices(rng: np.random.Generator, layout: Layout, index_type: str) -> np.ndarray:
    """Mostly in bounds, with near misses on both sides and the extremes of the type."""
    info = np.iinfo(element_dtype(index_type))
    high = max((*layout.operand_shape, 1))
    near = rng.integers(-2, high + 2, layout.indices_shape)
    inside = rng.integers(0, high, layout.indices_shape)
    indices = np.where(rng.random(layout.indices_shape) < 0.3, near, inside).astype(info.dtype)
    extremes = [info.min, info.min + 1, info.max - 1, info.max, info.max // 2 + 1]
    chosen = rng.choice(np.array(extremes, info.dtype), layout.indices_shape)
    return np.where(rng.random(layout.indices_shape) < 0.1, chosen, indices).astype(info.dtype)


def random_values(rng: np.random.Generator, shape: tuple[int, ...], element: str) -> np.ndarray:
    """Small numbers of any element type that numpy holds; floats are multiples of 1/4."""
    numbers = rng.integers(-15, 16, shape)
    if element == "i1":
        return numbers > 0
    if element.startswith(("f", "bf", "complex")):
        return np.asarray(numbers / 4).astype(element_dtype(element))
    return np.asarray(numbers).astype(element_dtype(element))


def tensor_type(shape: tuple[int, ...], element: str) -> str:
    """`tensor<2x3xf32>` from `(2, 3)` and `f32`."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


class Case(Protocol):
    """One op with its arguments."""

    def operands(self) -> list[np.ndarray]: ...

    def types(self) -> tuple[list[str], list[str]]:
        """The MLIR types of the operands and of the results."""
        ...

    def op(self) -> str:
        """The op on `%a0`, `%a1`, ..., defining `%r:N`, without its trailing types."""
        ...


def compile_and_run(
    cases: Sequence[Case], pass_name: str, *, opt_level: int = 3
) -> list[tuple[np.ndarray, ...]]:
    """The results of each case's op, all compiled as one module; the pass under test runs first.

    Tensors without elements are made inside and do not come out.
    """
    functions, calls, returned = [], [], []
    arguments: list[np.ndarray] = []
    parameters: list[str] = []
    for number, case in enumerate(cases):
        types, results = case.types()
        passed = [type_ for type_ in types if not _is_empty(type_)]
        names = [f"%a{len(parameters) + place}" for place in range(len(passed))]
        functions.append(function_text(f"f{number}", case))
        call = f"call @f{number}({', '.join(names)}) : ({', '.join(passed)})"
        calls.append(f"%r{number}:{len(results)} = {call} -> ({', '.join(results)})")
        parameters += [f"{n}: {t}" for n, t in zip(names, passed, strict=True)]
        arguments += [array for array in case.operands() if array.size]
        returned += [
            (f"%r{number}#{place}", type_)
            for place, type_ in enumerate(results)
            if not _is_empty(type_)
        ]
    newline = "\n"
    text = f"""{newline.join(functions)}
        func.func @main({", ".join(parameters)}) -> ({", ".join(t for _, t in returned)}) {{
          {newline.join(calls)}
          return {", ".join(v for v, _ in returned)} : {", ".join(t for _, t in returned)}
        }}"""
    module = ir.Module.parse(text, make_context())
    run_pipeline(module, [pass_name])
    flat = iter(mlir_fp8.compile(module, opt_level=opt_level)(*arguments))
    return [
        tuple(np.empty(_shape(t)) if _is_empty(t) else next(flat) for t in case.types()[1])
        for case in cases
    ]


def function_text(name: str, case: Case) -> str:
    """A private function of the case's op, with the signature that `compile_and_run` tells."""
    types, results = case.types()
    parameters, made = [], []
    for place, type_ in enumerate(types):
        if _is_empty(type_):
            made.append(f"%a{place} = stablehlo.constant dense<> : {type_}")
        else:
            parameters.append(f"%a{place}: {type_}")
    newline = "\n"
    values = ", ".join(f"%r#{place}" for place in range(len(results)))
    return f"""func.func private @{name}({", ".join(parameters)}) -> ({", ".join(results)}) {{
          {newline.join(made)}
          {case.op()} : ({", ".join(types)}) -> ({", ".join(results)})
          return {values} : {", ".join(results)}
        }}"""


def _is_empty(type_: str) -> bool:
    return 0 in _shape(type_)


def _shape(type_: str) -> list[int]:
    return [int(size) for size in re.findall(r"(\d+)x", type_)]
