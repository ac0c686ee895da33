"""Fused ops to ask targets about, in MLIR's generic form."""

import functools
from collections.abc import Mapping

from torch_mlir import ir

from mlir_fp8.base.context import make_context
from mlir_fp8.base.operations import operations
from mlir_fp8.reading.loader import parse

NAMES = ("a", "b", "a_scale", "b_scale", "c", "bias", "d_scale")
ROW_BY_COLUMN = "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>"
ROW_BY_ROW = "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>"
"""What is stored as [M, K] and [N, K]: TN, in the words of cuBLAS."""


context = functools.cache(make_context)


def fused(
    operands: Mapping[str, str],
    result: str,
    attributes: str = "",
    *,
    name: str = "scaled_dot",
    dims: str = ROW_BY_ROW,
) -> ir.Operation:
    """An op on arguments of the types of `operands`, such as `{"a": "64x128xf8E4M3FN", ...}`."""
    present = [(each, operands[each]) for each in NAMES if each in operands]
    arguments = ", ".join(f"%{each}: tensor<{type_}>" for each, type_ in present)
    values = ", ".join(f"%{each}" for each, _ in present)
    types = ", ".join(f"tensor<{type_}>" for _, type_ in present)
    sizes = ", ".join(str(int(each in operands)) for each in NAMES)
    options = [f"operandSegmentSizes = array<i32: {sizes}>"]
    if name == "scaled_dot":
        options.append(f"dot_dimension_numbers = {dims}")
    if attributes:
        options.append(attributes)
    results = f"tensor<{result}>"
    if "amax" in attributes:
        epilogue = "bf16" if "epilogue_type = bf16" in attributes else "f32"
        results = f"({results}, tensor<{epilogue}>)"
    text = f"""
func.func @main({arguments}) {{
  %0:{2 if "amax" in attributes else 1} = "fp8.{name}"({values}) {{{", ".join(options)}}}
    : ({types}) -> {results}
  return
}}
"""
    module = parse(text.encode(), "fused.mlir", context())
    KEPT.append(module)
    return next(op for op in operations(module.operation) if op.name == f"fp8.{name}")


KEPT: list[ir.Module] = []
"""The ops' modules, which must outlive them."""
