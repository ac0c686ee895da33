"""`dense_resource` constants as plain dense ones: artifacts hold no resources.

The bindings do not give out a resource's bytes; MLIR's text of an op does, as hexadecimal digits.
"""

import math
import re

from torch_mlir import ir

from mlir_fp8.context import op_error

SPELLING = "dense_resource<"
_BLOB = re.compile(r'"0x([0-9A-Fa-f]*)"\s*\}\s*\}\s*#-\}\s*\Z')
# Before the bytes, a blob has its alignment: four bytes.
_ALIGNMENT_DIGITS = 8


def make_dense(module: ir.Operation) -> None:
    """Replace every `dense_resource` attribute of an op by the dense attribute of its bytes."""
    found: list[tuple[ir.Operation, str]] = []

    def find(view: ir.Operation) -> ir.WalkResult:
        op = view.operation
        found.extend((op, name) for name in op.attributes if is_resource(op, name))
        return ir.WalkResult.ADVANCE

    module.walk(find)
    for op, name in found:
        op.attributes[name] = _dense(op, name)


def is_resource(op: ir.Operation, name: str) -> bool:
    """Whether the attribute `name` of `op` is a `dense_resource`."""
    try:
        attribute = op.attributes[name]
    except TypeError:  # dense complex numbers, for which the bindings have no class
        return False
    # Dense elements first: their text is as long as they are.
    return not isinstance(attribute, ir.DenseElementsAttr) and str(attribute).startswith(SPELLING)


def _dense(op: ir.Operation, name: str) -> ir.Attribute:
    attribute = op.attributes[name]
    type_ = ir.RankedTensorType(attribute.type)
    # An op by itself, with this attribute only: so its text holds this resource only.
    with op.context, ir.Location.unknown():
        context, allowed = op.context, op.context.allow_unregistered_dialects
        context.allow_unregistered_dialects = True
        carrier = ir.Operation.create("resource.carrier", attributes={name: attribute})
        blob = _BLOB.search(carrier.get_asm())
        context.allow_unregistered_dialects = allowed
    if blob is None:
        raise op_error(op, f"{attribute} has no data: the file holds no such resource")
    digits = blob[1][_ALIGNMENT_DIGITS:]
    size = math.prod(type_.shape) * element_bytes(type_.element_type)
    if len(digits) != 2 * size:
        reason = f"{attribute} has {len(digits) // 2} bytes of data, its type needs {size}"
        raise op_error(op, f"{reason}: the file is damaged")
    try:
        return ir.Attribute.parse(f'dense<"0x{digits}"> : {type_}' if size else _empty(type_))
    except TypeError:
        reason = f"{attribute} cannot be made dense: write its numbers into the file"
        raise op_error(op, reason) from None


def _empty(type_: ir.Type) -> str:
    return f"dense<> : {type_}"


def element_bytes(element: ir.Type) -> int:
    """Bytes of one number in a constant; 0 for a type that is not of numbers."""
    if isinstance(element, ir.ComplexType):
        return 2 * element_bytes(element.element_type)
    if isinstance(element, ir.IndexType):
        return 8
    if isinstance(element, ir.IntegerType | ir.FloatType):
        return max(1, element.width // 8)  # i1, f6 and f4 have a byte each
    return 0
