"""What aten ops become before torch-mlir sees them: a table of our own on top of its table."""

import functools
from collections.abc import Callable
from typing import Any

from torch.export import ExportedProgram

from mlir_fp8.torch.functions import FUNCTIONS


def decompose(exported: ExportedProgram) -> ExportedProgram:
    """`exported` in ops that torch-mlir lowers, or that have functions of our own."""
    return exported.run_decompositions(dict(table()))


@functools.cache
def table() -> dict[Any, Callable[..., Any]]:
    """Decompositions by op."""
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table

    decompositions = dict(get_decomposition_table())
    for op in FUNCTIONS:
        decompositions.pop(op, None)
    return decompositions
