"""Which results of a function take the buffers of which arguments: its attribute `DONATED`."""

from collections.abc import Iterator, Sequence

from torch_mlir import ir

from mlir_fp8.base.operations import operations

DONATED = "mlir_fp8.donated"
"""Pairs of an argument and the result that takes its buffer, flat, both counted from 0."""


def donate(function: ir.Operation, pairs: Sequence[tuple[int, int]]) -> None:
    """Note on `function` that argument and result of each pair share a buffer."""
    flat = [number for pair in pairs for number in pair]
    function.attributes[DONATED] = ir.DenseI64ArrayAttr.get(flat, function.context)


def donating(module: ir.Operation) -> Iterator[tuple[ir.Operation, list[tuple[int, int]]]]:
    """The functions of `module` with donated arguments, and the pairs."""
    for function in operations(module, "func.func"):
        if DONATED in function.attributes:
            flat = list(ir.DenseI64ArrayAttr(function.attributes[DONATED]))
            yield function, list(zip(flat[::2], flat[1::2], strict=True))
