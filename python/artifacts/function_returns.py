"""Functions with the terminator `stablehlo.return`, as some producers write them: `func.return`.

MLIR verifies any terminator there; passes that inline calls crash on it.
"""

from torch_mlir import ir

from mlir_fp8.base.context import mlir_error

_FOREIGN = "stablehlo.return"


def make_functions_return(module: ir.Operation, name: str) -> None:
    """Replace the terminator of every function in `module` by `func.return`; `name` is for errors.

    Raises `Fp8Error` where a function does not declare what it returns.
    """
    found = [op for op in _ends(module) if op.name == _FOREIGN]
    for op in found:
        with op.location, ir.InsertionPoint(op):
            ir.Operation.create("func.return", operands=list(op.operands))
        op.erase()
    if not found:
        return
    try:
        module.verify()
    except ir.MLIRError as error:
        raise mlir_error(error, name) from None


def _ends(module: ir.Operation) -> list[ir.Operation]:
    """The terminator of each block of each function."""
    ends: list[ir.Operation] = []
    for op in (each.operation for each in module.regions[0].blocks[0].operations):
        if op.name == "builtin.module":
            ends += _ends(op)
        if op.name == "func.func":
            blocks = op.regions[0].blocks
            ends += [block.operations[-1].operation for block in blocks if len(block.operations)]
    return ends
