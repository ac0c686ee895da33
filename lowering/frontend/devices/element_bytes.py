"""What an element takes in memory."""

from torch_mlir import ir

from mlir_fp8.base.context import op_error


def element_bytes(op: ir.Operation, element: ir.Type) -> int:
    """The bytes of an `element` of `op`, of which one below a byte takes a whole one."""
    if isinstance(element, ir.ComplexType):
        return 2 * element_bytes(op, element.element_type)
    if not isinstance(element, ir.IntegerType | ir.FloatType):
        raise op_error(op, f"of {element} cannot be simulated: exchange plain numbers")
    return 1 << max(0, (element.width - 1).bit_length() - 3)
