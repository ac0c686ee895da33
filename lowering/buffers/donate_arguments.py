"""`donate-arguments`: results are computed into the buffers of arguments that callers give away.

The pairs are in the attribute `mlir_fp8.donated` of a function: argument, result, argument, ...
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import bufferization

from mlir_fp8.base.operations import terminator
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.buffers._buffer_origins import possible_origins
from mlir_fp8.lowering.buffers._donations import donating
from mlir_fp8.lowering.buffers._kept_in_place import keep_in_place


@dataclass(frozen=True)
class DonateArguments(ModulePass):
    """Materialize results in donated arguments, which become writable.

    An update in place of such an argument (a row of a cache) needs no copy then. Other results that
    may alias a donated argument are copied before it is written.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for function, pairs in donating(module):
                _donate(function, pairs)


def _donate(function: ir.Operation, pairs: list[tuple[int, int]]) -> None:
    block = function.regions[0].blocks[0]
    end = terminator(block)
    arguments = [block.arguments[number] for number, _ in pairs]
    numbers = [number for _, number in pairs]
    for number, value in enumerate(end.operands):
        if number not in numbers and possible_origins(value, arguments):
            # An argument is copied before anything is written to it.
            before = ir.InsertionPoint.at_block_begin(block) if value in arguments else None
            with end.location, before or ir.InsertionPoint(end):
                end.operands[number] = bufferization.alloc_tensor(value.type, [], copy=value)
    keep_in_place(end, numbers, arguments)
    _make_writable(function, {number for number, _ in pairs})


def _make_writable(function: ir.Operation, numbers: set[int]) -> None:
    entries = list(ir.ArrayAttr(function.attributes["arg_attrs"]))
    for number in numbers:
        named = {each.name: each.attr for each in ir.DictAttr(entries[number])}
        named["bufferization.writable"] = ir.BoolAttr.get(True)
        entries[number] = ir.DictAttr.get(named)
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(entries)
