"""`drop-donated-results`: after bufferization, what is in a donated argument is no result."""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import memref

from mlir_fp8.base.operations import terminator
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.buffers._donations import DONATED, donating


@dataclass(frozen=True)
class DropDonatedResults(ModulePass):
    """Drop results that are donated arguments; copy those that bufferization put elsewhere.

    That happens where its analysis sees a conflict; such a result is a buffer of its own.
    """

    def run(self, module: ir.Operation) -> None:
        for function, pairs in list(donating(module)):
            _drop(function, pairs)
            del function.attributes[DONATED]


def _drop(function: ir.Operation, pairs: list[tuple[int, int]]) -> None:
    block = function.regions[0].blocks[0]
    end = terminator(block)
    dropped = {number for _, number in pairs}
    with end.location, ir.InsertionPoint(end):
        for argument, result in pairs:
            if end.operands[result] != block.arguments[argument]:
                memref.copy(end.operands[result], block.arguments[argument])
        kept = [value for number, value in enumerate(end.operands) if number not in dropped]
        ir.Operation.create("func.return", [], kept)
    end.erase()
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    results = [each for number, each in enumerate(type_.results) if number not in dropped]
    with function.location:
        new = ir.FunctionType.get(type_.inputs, results)
        function.attributes["function_type"] = ir.TypeAttr.get(new)
        if "res_attrs" in function.attributes:
            entries = list(ir.ArrayAttr(function.attributes["res_attrs"]))
            left = [each for number, each in enumerate(entries) if number not in dropped]
            function.attributes["res_attrs"] = ir.ArrayAttr.get(left)
