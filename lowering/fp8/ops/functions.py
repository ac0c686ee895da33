"""An `fp8` op's decomposition as a function of StableHLO alone."""

from torch_mlir import ir, passmanager
from torch_mlir.dialects import func

from mlir_fp8.lowering.fp8.ops.decompositions import DECOMPOSITIONS


def decomposition(op: ir.Operation, name: str) -> ir.Module:
    """A module with one private function `name`, which computes what `op` does.

    Its arguments and results are those of `op`. CHLO's error function is in StableHLO's own terms.
    """
    inputs = [operand.type for operand in op.operands]
    results = [result.type for result in op.results]
    with op.context, op.location:
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            function = func.FuncOp(name, ir.FunctionType.get(inputs, results), visibility="private")
        with ir.InsertionPoint(function.add_entry_block()):
            func.ReturnOp(DECOMPOSITIONS[op.name](op, list(function.arguments)))
        legalize = "builtin.module(func.func(chlo-legalize-to-stablehlo))"
        passmanager.PassManager.parse(legalize).run(module.operation)
    return module
