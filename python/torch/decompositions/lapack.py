"""Custom calls of LAPACK's routines, as JAX writes them."""

from collections.abc import Sequence
from typing import Any

from mlir_fp8.torch.functions import Body

_LETTERS = {"f32": "s", "f64": "d", "complex<f32>": "c", "complex<f64>": "z"}


def call(
    body: Body,
    routine: str,
    values: Sequence[str],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    options: str,
) -> str:
    """The results of `lapack_*_ffi`, one for each matrix of a batch, all laid out by columns."""
    element = str(inputs[0].element_type)
    batch = inputs[0].rank - 2
    target = f"lapack_{_LETTERS[element]}{routine}_ffi"
    types = f"({', '.join(map(str, inputs))}) -> ({', '.join(map(str, outputs))})"
    text = (
        f'"stablehlo.custom_call"({", ".join(values)}) <{{call_target_name = "{target}",'
        f" api_version = 4 : i32, backend_config = {{{options}}},"
        f" operand_layouts = [{', '.join(_layout(each, batch) for each in inputs)}],"
        f" result_layouts = [{', '.join(_layout(each, batch) for each in outputs)}]}}> : {types}"
    )
    return body.let(text, results=len(outputs))


def column_major(matrix: Any, sizes: tuple[int, int]) -> str:
    """The type of matrices of other sizes in the batch of `matrix`."""
    shape = [*map(str, matrix.shape[:-2]), *map(str, sizes)]
    return f"tensor<{'x'.join([*shape, str(matrix.element_type)])}>"


def _layout(type_: Any, batch: int) -> str:
    rank = str(type_).partition("complex")[0].count("x")
    order = [*reversed(range(rank))]
    if rank == batch + 2:
        order[:2] = reversed(order[:2])
    return f"dense<{order}> : tensor<{rank}xindex>"
