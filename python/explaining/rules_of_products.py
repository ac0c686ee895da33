"""Lint: FP8 as the type of a sum, and gradients without the range of E5M2."""

from collections.abc import Iterator

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8._scales import small_format
from mlir_fp8.lowering.fp8.scaling.gradients import gradients
from mlir_fp8.lowering.rewriting.stablehlo import names

_PRODUCTS = names("stablehlo", "dot dot_general convolution")
_SUMS = names(
    "stablehlo", "reduce reduce_window scatter select_and_scatter all_reduce reduce_scatter"
)
_COMBINERS = names("stablehlo", "add multiply")
# What is between an operand of a product and the FP8 value that it was dequantized from.
_DEQUANTIZING = names(
    "stablehlo", "convert multiply divide reshape transpose broadcast_in_dim reverse slice"
)


def accumulation(op: ir.Operation) -> Iterator[tuple[str, str]]:
    """Sums whose type is FP8.

    This project rounds such a sum once, at its end; an engine that takes the result's type for the
    type to add up in loses it: 16 + 1 is 16 in f8E4M3FN already.
    """
    edit = "add up in f32, then clamp and convert"
    if op.name in _PRODUCTS:
        fmt = small_format(op.results[0])
        if fmt is not None:
            message = f"the result of the product is {fmt.name}, a type too narrow to add up in"
            yield message, "give the product an f32 result, then clamp and convert"
    elif op.name in _SUMS:
        for block in (block for region in op.regions for block in region):
            for inner in (each.operation for each in block.operations):
                fmt = small_format(inner.results[0]) if len(inner.results) else None
                if inner.name in _COMBINERS and fmt is not None:
                    what = "sum" if inner.name == "stablehlo.add" else "product"
                    yield f"the {what} is accumulated in {fmt.name}", edit
                    return


def gradient_warnings(root: ir.Operation) -> dict[ir.Operation, list[tuple[str, str]]]:
    """By dot or convolution: that its gradient is in a format of E4M3.

    Which operand is a gradient, and by what rule, is said in lowering/fp8/scaling/gradients.py.
    """
    found: dict[ir.Operation, list[tuple[str, str]]] = {}
    for op, verdict in gradients(root).items():
        if verdict.operand == "none":
            continue
        fmt = _source_format(op.operands[verdict.operand == "rhs"])
        if fmt is not None and fmt.startswith("f8E4M3"):
            wide = "f8E5M2FNUZ" if fmt.endswith("FNUZ") else "f8E5M2"
            message = f"the {verdict.operand}, a gradient ({verdict.reason}), is in {fmt}"
            edit = f"quantize gradients to {wide}, which has their range"
            found.setdefault(op, []).append((message, edit))
    return found


def _source_format(value: ir.Value) -> str | None:
    """The small float that an operand of a product was dequantized from."""
    while True:
        fmt = small_format(value)
        if fmt is not None:
            return fmt.name
        op = producer(value)
        if op is None:
            return None
        if op.name == "stablehlo.multiply":  # the scale is on either side
            sides = [_source_format(each) for each in op.operands]
            return sides[0] or sides[1]
        if op.name not in _DEQUANTIZING and op.name != "fp8.dequantize":
            return None
        value = op.operands[0]
