"""The decompositions of `fp8` ops as functions of StableHLO alone."""

from torch_mlir import ir, passmanager
from torch_mlir.dialects import func

from mlir_fp8.base.context import symbol_name
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


class Decompositions:
    """The decompositions of one module: made once for all ops that are equal."""

    def __init__(self, module: ir.Operation) -> None:
        self._body = module.regions[0].blocks[0]
        self._taken = {
            symbol_name(op) for op in self._body.operations if "sym_name" in op.attributes
        }
        self._made: dict[tuple[str, ir.Attribute, ir.Type], str] = {}

    def of(self, op: ir.Operation, entries: ir.Attribute, name: str) -> str:
        """The function called `name`, or so with a number, that computes what `op` does.

        `entries` are the attributes of `op` by which it is told from others.
        """
        inputs = [operand.type for operand in op.operands]
        signature = ir.FunctionType.get(inputs, [result.type for result in op.results])
        key = (name, entries, signature)
        if key not in self._made:
            self._made[key] = self._make(op, name)
        return self._made[key]

    def _make(self, op: ir.Operation, wanted: str) -> str:
        name, count = wanted, 0
        while name in self._taken:
            name, count = f"{wanted}_{count}", count + 1
        self._taken.add(name)
        made = decomposition(op, name)  # owns the function
        (function,) = made.body.operations
        function.operation.clone(ip=ir.InsertionPoint(self._body))
        return name
