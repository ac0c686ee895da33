"""What is in scaled FP8 already, by an earlier pass or by the program's author."""

from torch_mlir import ir

from mlir_fp8.base.operations import operations


def measuring(root: ir.Operation) -> set[ir.Operation]:
    """The ops under `root` that find an amax: only `fp8.update_scale` reads what comes of them."""
    found: set[ir.Operation] = set()
    for op in reversed(operations(root)):
        users = [use.owner.operation for result in op.results for use in result.uses]
        if users and all(user.name == "fp8.update_scale" or user in found for user in users):
            found.add(op)
    return found


def is_quantized(value: ir.Value, measures: set[ir.Operation]) -> bool:
    """Whether all that reads `value`, beside `measures`, is an `fp8.quantize`."""
    users = [use.owner.operation for use in value.uses]
    return bool(users) and all(
        user in measures
        or user.name == "fp8.quantize"
        or (user.name == "stablehlo.convert" and is_quantized(user.results[0], measures))
        for user in users
    )
