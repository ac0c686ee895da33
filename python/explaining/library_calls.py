"""Calls of cuBLAS and cuDNN in a module: HLO that XLA:GPU has optimized, read as StableHLO."""

import json
from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.base.module_places import module_place
from mlir_fp8.explaining.optimized_hlo import LIBRARY_CALLS, details_of_gemm
from mlir_fp8.explaining.verdicts import FUSED, NOT_FP8, NOT_FUSED, Answer, Hindrance, Row
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.operand import match_operand
from mlir_fp8.lowering.rewriting.stablehlo import element_type


def is_library_call(op: ir.Operation) -> bool:
    """Whether `op` is a product that a library computes."""
    if op.name != "stablehlo.custom_call" or len(op.operands) < 2:
        return False
    return ir.StringAttr(op.attributes["call_target_name"]).value.startswith(LIBRARY_CALLS)


def row_of_call(op: ir.Operation, targets: Sequence[str], name: str) -> Row:
    """The row of such a call, which is what it is for every target."""
    types = [str(value.type) for value in op.operands]
    result = op.results[0].type
    if isinstance(result, ir.TupleType):
        result = result.get_type(0)
    place = module_place(op.location, name)
    verdict, hindrances = _verdict(op, place)
    answers = tuple(Answer(target, verdict, hindrances) for target in targets)
    target = ir.StringAttr(op.attributes["call_target_name"]).value
    details = _details(op, types)
    return Row(target, place, (), f"({', '.join(types[:2])})", str(result), answers, details)


def _details(op: ir.Operation, types: Sequence[str]) -> str:
    held = op.attributes.get("backend_config")
    try:
        config = json.loads(ir.StringAttr(held).value) if held is not None else {}
    except (ValueError, RecursionError):
        return ""
    return details_of_gemm(config, types) if isinstance(config, dict) else ""


def _verdict(op: ir.Operation, place: str) -> tuple[str, tuple[Hindrance, ...]]:
    elements = [str(element_type(value)) for value in list(op.operands)[:2]]
    if all(each.startswith("f8") for each in elements):
        return FUSED, ()
    hindrances = tuple(
        Hindrance(
            "compiled-wide",
            part,
            f"the operand comes from FP8 and is {element} in the product",
            place,
            "explain the module before XLA's passes: it shows what hinders FP8",
        )
        for value, element, part in zip(op.operands, elements, ("lhs", "rhs"), strict=False)
        if not isinstance(side := match_operand(value, part, assume_finite=False), Obstacle)
        or side.kind != "not-fp8"
    )
    return (NOT_FUSED if hindrances else NOT_FP8), hindrances
