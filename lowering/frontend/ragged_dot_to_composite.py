"""`ragged-dot-to-composite`: `chlo.ragged_dot` as a composite, which any consumer runs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from mlir_fp8.base.context import op_error, symbol_name
from mlir_fp8.base.operations import operations, readable_attributes
from mlir_fp8.dialects.chlo_ragged_dots import NAMES, RAGGED_DOT, ragged_numbers
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.frontend.composite_to_ragged_dot import VERSION
from mlir_fp8.lowering.rewriting.composites import replace_by_composite
from mlir_fp8.lowering.rewriting.stablehlo import has_static_shape

_LEGALIZE = "builtin.module(func.func(chlo-legalize-to-stablehlo))"


@dataclass(frozen=True)
class RaggedDotToComposite(ModulePass):
    """Rewrite each `chlo.ragged_dot` to a `stablehlo.composite` of its name, as JAX exports it.

    The decomposition is what `chlo-legalize-to-stablehlo` makes of the op, in a private function.
    `composite-to-ragged-dot` is the inverse.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            body = module.regions[0].blocks[0]
            taken = {symbol_name(op) for op in body.operations if "sym_name" in op.attributes}
            for op in operations(module, RAGGED_DOT):
                _replace(op, body, _new_name(taken))


def _new_name(taken: set[str]) -> str:
    base = name = f"{RAGGED_DOT}.impl"
    count = 0
    while name in taken:
        name, count = f"{base}_{count}", count + 1
    taken.add(name)
    return name


def _replace(op: ir.Operation, body: ir.Block, name: str) -> None:
    if not all(map(has_static_shape, (*op.operands, *op.results))):
        raise op_error(op, "needs static shapes to be written as a composite: refine shapes first")
    _decompose(op, body, name)
    readable = dict(readable_attributes(op))
    with op.location:
        lists = [ragged_numbers(op)[each] for each in NAMES]
        entries: dict[str, ir.Attribute] = {
            "ragged_dot_dimension_numbers": ir.ArrayAttr.get([_list(each) for each in lists])
        }
        if "precision_config" in op.attributes:
            levels = re.findall(r"precision (\w+)", str(op.attributes["precision_config"]))
            strings = [ir.StringAttr.get(level) for level in levels]
            entries["precision_config"] = ir.ArrayAttr.get(strings)
        given = ir.DictAttr.get(entries)
    others = {each: readable[each] for each in readable if "." in each}
    replace_by_composite(op, RAGGED_DOT, given, name, VERSION, others)


def _list(numbers: Sequence[int]) -> ir.Attribute:
    values = list(numbers) if numbers else ""
    return ir.Attribute.parse(f"dense<{values}> : tensor<{len(numbers)}xi64>")


def _decompose(op: ir.Operation, body: ir.Block, name: str) -> None:
    """Put the function `name`, which computes what `op` does, first in `body`."""
    inputs = ", ".join(f"%{number}: {value.type}" for number, value in enumerate(op.operands))
    types = ", ".join(str(value.type) for value in op.operands)
    result, numbers = op.results[0].type, op.attributes["ragged_dot_dimension_numbers"]
    text = (
        f'func.func private @"{name}"({inputs}) -> {result} {{\n'
        f'%r = "{RAGGED_DOT}"(%0, %1, %2) {{ragged_dot_dimension_numbers = {numbers}}}'
        f" : ({types}) -> {result}\nreturn %r : {result}\n}}"
    )
    made = ir.Module.parse(text, op.context)
    try:
        PassManager.parse(_LEGALIZE, op.context).run(made.operation)
    except ir.MLIRError:
        reason = "has no decomposition upstream: write it as dots of its groups"
        raise op_error(op, reason) from None
    made.body.operations[0].operation.clone(ip=ir.InsertionPoint.at_block_begin(body))
