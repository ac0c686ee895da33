"""`block-scaled-dot-to-fp8`: dots with scales of blocks, as JAX and XLA write them, in `fp8`."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import call_target, operations, readable_attributes, replace_op
from mlir_fp8.dialects import fp8
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8._block_scaled_dots import (
    COMPOSITE,
    CONFIG,
    CUSTOM_CALL,
    DEQUANTIZE_TYPES,
    DIMENSIONS,
    nested_integers,
)

_OPERANDS = 4
_Read = tuple[ir.Attribute, ir.Type]
"""The dimension numbers of a dot, and the type that it dequantizes to."""


@dataclass(frozen=True)
class BlockScaledDotToFp8(ModulePass):
    """Rewrite custom calls of `__op$block_scaled_dot`, and `xla.scaled_dot`, calls and composites.

    These are what `jax.nn.scaled_matmul`, `jax.nn.scaled_dot_general` and `jax.lax.scaled_dot`
    lower to, and HLO's `scaled-dot` is read as: `fp8.scaled_dot` that dequantizes to the type that
    they name, bf16 in `xla.scaled_dot`.
    What is no such op, as one whose scales do not divide, stays: a composite runs by its
    decomposition, a custom call is refused where it is to run.
    """

    def run(self, module: ir.Operation) -> None:
        found = [(op, read) for op in operations(module) if (read := _reader(op))]
        if not found:
            return
        load_fp8_dialect(module.context)
        with module.context:
            for op, read in found:
                _replace(op, read)


def _reader(op: ir.Operation) -> Callable[[ir.Operation], _Read | None] | None:
    if op.name == "stablehlo.custom_call":
        return {CUSTOM_CALL: _of_custom_call, COMPOSITE: _of_scaled_dot}.get(call_target(op))
    is_named = op.name == "stablehlo.composite" and str(op.attributes["name"]) == f'"{COMPOSITE}"'
    return _of_composite if is_named else None


def _replace(op: ir.Operation, reader: Callable[[ir.Operation], _Read | None]) -> None:
    if len(op.operands) != _OPERANDS or len(op.results) != 1:
        return
    if not all(isinstance(each.type, ir.RankedTensorType) for each in (*op.operands, *op.results)):
        return
    read = reader(op)
    if read is None:
        return
    numbers, operand_type = read
    result = ir.RankedTensorType(op.results[0].type)
    a, b, a_scale, b_scale = op.operands
    with ir.InsertionPoint(op), op.location:
        try:
            (product,) = fp8.scaled_dot(
                a,
                b,
                dot_dimension_numbers=numbers,
                result_element=result.element_type,
                a_scale=a_scale,
                b_scale=b_scale,
                operand_type=operand_type,
                fast_accum=True,
            )
        except Fp8Error:
            return
    if product.type != result:
        ir.OpResult(product).owner.operation.erase()
        return
    replace_op(op, [product])


def _of_custom_call(op: ir.Operation) -> _Read | None:
    """Batching dimensions and the type are in its JSON; the last dimension is what is summed."""
    try:
        config = json.loads(ir.StringAttr(op.attributes["backend_config"]).value)[CONFIG]
        batching = [list(map(int, config[f"{side}_batch_dimensions"])) for side in ("lhs", "rhs")]
        element = DEQUANTIZE_TYPES[config["dequantize_type"]]
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
    last = [[ir.RankedTensorType(each.type).rank - 1] for each in list(op.operands)[:2]]
    return _numbers(*batching, *last), ir.Type.parse(element)


def _of_composite(op: ir.Operation) -> _Read | None:
    """Its dimension numbers are JAX's: contracting ones of both sides, then batching ones."""
    entries = dict(readable_attributes(op)).get("composite_attributes")
    if entries is None:
        return None
    try:
        return _of_lists(nested_integers(ir.DictAttr(entries)[DIMENSIONS]))
    except (KeyError, TypeError, ValueError, RecursionError):
        return None


def _of_scaled_dot(op: ir.Operation) -> _Read | None:
    """The same dimension numbers, in JSON."""
    try:
        config = json.loads(ir.StringAttr(op.attributes["backend_config"]).value)
        return _of_lists(config[DIMENSIONS])
    except (KeyError, TypeError, ValueError, RecursionError):
        return None


def _of_lists(lists: Any) -> _Read:
    (lhs, rhs), (lhs_batching, rhs_batching) = lists
    return _numbers(lhs_batching, rhs_batching, lhs, rhs), ir.BF16Type.get()


def _numbers(*lists: Any) -> ir.Attribute:
    return _stablehlo.DotDimensionNumbers.get(*lists)
