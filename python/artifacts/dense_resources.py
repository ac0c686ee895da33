"""`dense_resource` constants to dense ones: artifacts hold no resources.

The bindings have no access to a resource's bytes; MLIR's text of an op has, as hexadecimal digits.
"""

import io
import math
import re

from torch_mlir import ir
from torch_mlir._mlir_libs import _mlirDialectsQuant as quant

from mlir_fp8.artifacts.function_returns import make_functions_return
from mlir_fp8.base.context import mlir_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.module_places import module_place
from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.fp8_loading import share_fp8_dialect

SPELLING = "dense_resource<"
# What MLIR prints of a module with one resource ends so.
_BLOB = re.compile(r'"0x([0-9A-Fa-f]*)"\s*\}\s*\}\s*#-\}\s*\Z')
# Before the bytes, a blob has its alignment: four bytes.
_ALIGNMENT_DIGITS = 8


class _UnusableError(Exception):
    """Why a resource is not a constant."""


def dense_copy(module: ir.Module | ir.Operation, context: ir.Context, name: str) -> ir.Module:
    """A copy with its locations in `context`, without resources, whose functions end in
    `func.return`; `name` is for errors."""
    # Dense before it crosses: MLIR writes a resource without bytes so that it cannot read it.
    clone = module.operation.clone(ip=False).operation
    make_dense(clone, name)
    bytecode = io.BytesIO()
    clone.write_bytecode(bytecode)
    share_fp8_dialect(clone.context, context)
    try:
        copy = ir.Module.parse(bytecode.getvalue(), context)
    except ir.MLIRError as error:
        raise mlir_error(error, name) from None
    make_functions_return(copy.operation, name)
    return copy


def make_dense(module: ir.Operation, name: str) -> None:
    """Replace every `dense_resource` attribute of an op by the dense attribute of its bytes.

    `name` is what errors call the module's file.
    """
    ops = operations(module, inner_first=True)
    found = [(op, each) for op in ops for each in op.attributes if _is_resource(op, each)]
    for op, attribute in found:
        try:
            _replace(op, attribute)
        except _UnusableError as error:
            place = module_place(op.location, name)
            raise Fp8Error(f"{place}: '{op.name}' {op.attributes[attribute]} {error}") from None


def _is_resource(op: ir.Operation, name: str) -> bool:
    """Whether the attribute `name` of `op` is a `dense_resource`."""
    try:
        attribute = op.attributes[name]
    except TypeError:  # dense complex numbers, for which the bindings have no class
        return False
    # Dense elements first: their text is as long as they are.
    return not isinstance(attribute, ir.DenseElementsAttr) and str(attribute).startswith(SPELLING)


def _replace(op: ir.Operation, name: str) -> None:
    """Make the resource that is the attribute `name` of `op` dense; `op` itself may be replaced."""
    spelled = _dense_text(op, name)
    if op.name != "stablehlo.constant" or name != "value":
        op.attributes[name] = _parsed(op, spelled)
        return
    # As the text of an op: the bindings have no class for dense complex numbers.
    text = f'"stablehlo.constant"() <{{value = {spelled}}}> : () -> {op.results[0].type}'
    with op.context, op.location:
        constant = ir.Operation.parse(text).operation
        for key in op.attributes:
            if key != name:
                constant.attributes[key] = op.attributes[key]
        ir.InsertionPoint(op).insert(constant)
    constant.location = op.location
    op.results[0].replace_all_uses_with(constant.results[0])
    op.erase()


def _parsed(op: ir.Operation, text: str) -> ir.Attribute:
    try:
        return ir.Attribute.parse(text, op.context)
    except TypeError:  # the bindings have no class for dense complex numbers
        reason = "cannot be written: make it a dense constant in the file"
        raise _UnusableError(reason) from None


def _dense_text(op: ir.Operation, name: str) -> str:
    attribute = op.attributes[name]
    type_ = ir.RankedTensorType(attribute.type)
    # An op by itself, with this attribute only: so its text holds this resource only.
    with op.context, ir.Location.unknown():
        context, allowed = op.context, op.context.allow_unregistered_dialects
        context.allow_unregistered_dialects = True
        carrier = ir.Operation.create("resource.carrier", attributes={name: attribute})
        blob = _BLOB.search(str(carrier.get_asm()))
        context.allow_unregistered_dialects = allowed
    if blob is None:
        raise _UnusableError("has no data: the file holds no such resource")
    digits = blob[1][_ALIGNMENT_DIGITS:]
    size = math.prod(type_.shape) * element_bytes(type_.element_type)
    if len(digits) != 2 * size:
        reason = f"has {len(digits) // 2} bytes of data, its type needs {size}"
        raise _UnusableError(f"{reason}: the file is damaged")
    value = f'"0x{digits}"' if size else ""
    return f"dense<{value}> : {type_}"


def element_bytes(element: ir.Type) -> int:
    """Bytes of one number in a constant; 0 for a type that is not of numbers."""
    if isinstance(element, ir.ComplexType):
        return 2 * element_bytes(element.element_type)
    if isinstance(element, ir.IndexType):
        return 8
    if isinstance(element, ir.IntegerType | ir.FloatType):
        return max(1, element.width // 8)  # i1, f6 and f4 have a byte each
    if isinstance(element, quant.QuantizedType):
        return element_bytes(element.storage_type)
    return 0
