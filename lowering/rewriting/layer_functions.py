"""The functions of layers, which are called for each layer."""

from torch_mlir import ir

_LAYER = "mlir_fp8.layer"


def mark_layer(function: ir.Operation) -> None:
    """Make `function`, which is private, that of a layer: it is not inlined.

    Callers pass tensors alone, so that once these are buffers, no argument that it writes to
    overlaps another that it accesses.
    """
    function.attributes["no_inline"] = ir.UnitAttr.get(function.context)
    function.attributes[_LAYER] = ir.UnitAttr.get(function.context)


def is_layer(op: ir.Operation) -> bool:
    """Whether `op` is the function of a layer."""
    return op.name == "func.func" and _LAYER in op.attributes
