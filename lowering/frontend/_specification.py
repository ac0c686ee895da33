"""Constraints of the StableHLO specification that the library's verifier does not check.

Each entry gives the constraint that an op breaks, or nothing, with its number where it has one.
"""

from collections.abc import Callable

from torch_mlir import ir

from mlir_fp8.lowering.rewriting.retype import element_type


def _compare(op: ir.Operation) -> str:
    element = element_type(op.operands[0].type)
    given = _word(op, "compare_type")
    if given in ("", "NOTYPE"):
        return ""
    allowed = ("FLOAT", "TOTALORDER") if isinstance(element, ir.FloatType) else ("FLOAT",)
    if isinstance(element, ir.IntegerType):
        is_unsigned = element.is_unsigned or element.width == 1
        allowed = ("UNSIGNED",) if is_unsigned else ("SIGNED",)
    if given in allowed:
        return ""
    return f"of {element} takes compare_type {' or '.join(allowed)}, not {given} (C3)"


def _reduction(op: ir.Operation) -> str:
    """`reduce` (C2, C6) and `reduce_window` (C2, C13)."""
    count = len(op.operands) // 2
    body = op.regions[0].blocks[0]
    for index in range(count):
        given, start = (element_type(op.operands[i].type) for i in (index, index + count))
        if given != start:
            return f"has inputs of {given} and init_values of {start}: make them one type (C2)"
        into = element_type(body.arguments[index].type)
        if _width(into) < _width(given):
            return f"has inputs of {given}, which cannot be promoted to the body's {into} (C6, C13)"
    return ""


def _select_and_scatter(op: ir.Operation) -> str:
    types = [element_type(operand.type) for operand in op.operands]
    if len(set(types)) > 1:
        return f"has operands of {_listed(types)}: make them one type (C1, C3)"
    return ""


def _scatter(op: ir.Operation) -> str:
    count = len(op.operands) // 2
    for index in range(count):
        given, new = (element_type(op.operands[i].type) for i in (index, count + 1 + index))
        if given != new:
            return f"has inputs of {given} and updates of {new}: make them one type (C6)"
    return ""


def _fft(op: ir.Operation) -> str:
    lengths = list(ir.DenseI64ArrayAttr(op.attributes["fft_length"]))
    kind = _word(op, "fft_type")
    sizes = ir.RankedTensorType(op.operands[0].type).shape[-len(lengths) :]
    if kind in ("FFT", "IFFT") and sizes != lengths:
        return f"of type {kind} has fft_length {lengths}, not the operand's last sizes {sizes}"
    return ""


def _torch_index_select(op: ir.Operation) -> str:
    data, index = (ir.RankedTensorType(operand.type) for operand in op.operands)
    dim, batch = (ir.IntegerAttr(op.attributes[name]).value for name in ("dim", "batch_dims"))
    if not 0 <= batch <= dim < data.rank or batch > index.rank:
        return f"has dim {dim} and batch_dims {batch}, which {data} and {index} do not have"
    shape = [*data.shape[:dim], *index.shape[batch:], *data.shape[dim + 1 :]]
    result = ir.RankedTensorType(op.results[0].type)
    if result.shape != shape or index.shape[:batch] != data.shape[:batch]:
        return f"gives {result} of {data} and {index}, which have the shape {shape}"
    return ""


def _word(op: ir.Operation, name: str) -> str:
    """The word of an enum attribute, which prints as `#stablehlo<comparison_direction LT>`."""
    if name not in op.attributes:
        return ""
    return str(op.attributes[name]).rstrip(">").split()[-1]


def _width(element: ir.Type) -> int:
    return element.width if isinstance(element, ir.IntegerType | ir.FloatType) else 0


def _listed(types: list[ir.Type]) -> str:
    return ", ".join(map(str, types))


CONSTRAINTS: dict[str, Callable[[ir.Operation], str]] = {
    "stablehlo.compare": _compare,
    "stablehlo.fft": _fft,
    "stablehlo.reduce": _reduction,
    "stablehlo.reduce_window": _reduction,
    "stablehlo.scatter": _scatter,
    "stablehlo.select_and_scatter": _select_and_scatter,
    "stablehlo.torch_index_select": _torch_index_select,
}
