"""`stablehlo-einsum-to-dot-general`: einsums as ops that have a lowering."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.frontend._einsum_equation import Equation, Labels, parse
from mlir_fp8.lowering.rewriting.accumulator import accumulator
from mlir_fp8.lowering.rewriting.stablehlo import element_type, has_static_shape, narrow_format
from mlir_fp8.lowering.rewriting.text_expansion import replace_by
from mlir_fp8.lowering.rewriting.text_writer import Writer

_EINSUMS = ("stablehlo.einsum", "stablehlo.unary_einsum")


@dataclass(frozen=True)
class StablehloEinsumToDotGeneral(ModulePass):
    """Replace `einsum` and `unary_einsum` of any equation by `dot_general` and what it needs.

    All sums accumulate in one type, f32 where the result is narrow, and round once, at the end. A
    label of one operand alone that the result lacks is reduced before the product. A label that
    an operand repeats is its diagonal, one that the result repeats the diagonal of zeros. What only
    moves elements keeps their bits.
    """

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, *_EINSUMS, inner_first=True):
            for value in (*op.operands, *op.results):
                if not has_static_shape(value):
                    raise op_error(op, f"on {value.type} needs a static shape: refine shapes first")
            replace_by(op, _program(op), list(op.operands))


@dataclass(frozen=True)
class _Term:
    """A value of the program and the labels of its dimensions."""

    value: str
    labels: Labels
    shape: tuple[int, ...]


def _program(op: ir.Operation) -> str:
    equation = parse(op)
    sums_in = accumulator(op)
    if sums_in is None:
        raise op_error(op, "on quantized numbers has no lowering: dequantize its operands")
    types = [str(operand.type) for operand in op.operands]
    element = str(element_type(op.operands[0]) if _only_moves(equation) else sums_in)
    writer = Writer(element)
    terms = []
    for index, (labels, operand) in enumerate(zip(equation.operands, op.operands, strict=True)):
        shape = tuple(operand.type.shape)
        value = _converted(writer, f"%x{index}", types[index], writer.type(shape))
        terms.append(_diagonal(writer, _Term(value, labels, shape)))
    terms = [_without_broadcast_ones(writer, equation, term) for term in terms]
    for index, term in enumerate(terms):
        kept = {*equation.result, *(label for t in terms if t is not term for label in t.labels)}
        terms[index] = _summed(writer, term, kept, _zero(sums_in))
    product = terms[0] if len(terms) == 1 else _dot(writer, terms, equation.result, op)
    last = _as_result(writer, product, equation, op)
    declared = str(op.results[0].type)
    value = _converted(writer, last, writer.type(op.results[0].type.shape), declared)
    arguments = ", ".join(f"%x{index}: {type_}" for index, type_ in enumerate(types))
    body = "\n".join(writer.lines)
    return f"func.func @f({arguments}) -> {declared} {{\n{body}\nreturn {value} : {declared}\n}}"


def _only_moves(equation: Equation) -> bool:
    return len(equation.operands) == 1 and set(equation.operands[0]) == set(equation.result)


def _converted(writer: Writer, value: str, old: str, new: str) -> str:
    return value if old == new else writer.emit(f"convert {value} : ({old}) -> {new}")


def _zero(element: ir.Type) -> str:
    if isinstance(element, ir.ComplexType):
        return "(0.0, 0.0)"
    if isinstance(element, ir.IntegerType):
        return "false" if element.width == 1 else "0"
    return "0.0"


def _moved(writer: Writer, term: _Term, order: Sequence[int]) -> _Term:
    if list(order) == list(range(len(term.labels))):
        return term
    value = writer.transpose(term.value, term.shape, order)
    return _Term(
        value, tuple(term.labels[dim] for dim in order), tuple(term.shape[dim] for dim in order)
    )


def _diagonal(writer: Writer, term: _Term) -> _Term:
    """Every label once: of n x n elements in a row, the diagonal is each (n + 1)th."""
    while len(set(term.labels)) < len(term.labels):
        label = next(each for each in term.labels if term.labels.count(each) > 1)
        pair = [dim for dim, each in enumerate(term.labels) if each == label][:2]
        others = [dim for dim in range(len(term.labels)) if dim not in pair]
        term = _moved(writer, term, [*others, *pair])
        *outer, size, _ = term.shape
        flat, cut = [*outer, size * size], (*outer, size)
        value = writer.reshape(term.value, term.shape, flat)
        ranges = ", ".join([*(f"0:{each}" for each in outer), f"0:{size * size}:{size + 1}"])
        value = writer.emit(
            f"slice {value} [{ranges}] : ({writer.type(flat)}) -> {writer.type(cut)}"
        )
        term = _Term(value, term.labels[:-1], cut)
    return term


def _without_broadcast_ones(writer: Writer, equation: Equation, term: _Term) -> _Term:
    """Drop the dimensions of size 1 that the other operand has larger."""
    kept = [d for d, label in enumerate(term.labels) if term.shape[d] == equation.sizes[label]]
    if len(kept) == len(term.labels):
        return term
    shape = tuple(term.shape[dim] for dim in kept)
    value = writer.reshape(term.value, term.shape, shape)
    return _Term(value, tuple(term.labels[dim] for dim in kept), shape)


def _summed(writer: Writer, term: _Term, kept: set[str], zero: str) -> _Term:
    dims = [dim for dim, label in enumerate(term.labels) if label not in kept]
    if not dims:
        return term
    left = [dim for dim in range(len(term.labels)) if dim not in dims]
    shape = tuple(term.shape[dim] for dim in left)
    start = writer.emit(f"constant dense<{zero}> : {writer.type([])}")
    value = writer.emit(
        f"reduce({term.value} init: {start}) applies stablehlo.add across dimensions = {dims}"
        f" : ({writer.type(term.shape)}, {writer.type([])}) -> {writer.type(shape)}"
    )
    return _Term(value, tuple(term.labels[dim] for dim in left), shape)


def _dot(writer: Writer, terms: Sequence[_Term], result: Labels, op: ir.Operation) -> _Term:
    lhs, rhs = terms
    shared = [label for label in lhs.labels if label in rhs.labels]
    batch = [label for label in shared if label in result]
    contracted = [label for label in shared if label not in result]
    free = [(t, d) for t in (lhs, rhs) for d, e in enumerate(t.labels) if e not in shared]
    shape = [lhs.shape[lhs.labels.index(label)] for label in batch]
    shape += [term.shape[dim] for term, dim in free]
    dims = ", ".join(
        f"{side}_{kind}_dimensions = {[term.labels.index(label) for label in labels]}"
        for kind, labels in (("batching", batch), ("contracting", contracted))
        for side, term in (("lhs", lhs), ("rhs", rhs))
    )
    attributes = f"dot_dimension_numbers = #stablehlo.dot<{dims}>"
    if "precision_config" in op.attributes:
        attributes += f", precision_config = {op.attributes['precision_config']}"
    types = f"({writer.type(lhs.shape)}, {writer.type(rhs.shape)}) -> {writer.type(shape)}"
    name = f"%v{len(writer.lines)}"
    writer.lines.append(
        f'{name} = "stablehlo.dot_general"({lhs.value}, {rhs.value}) {{{attributes}}} : {types}'
    )
    return _Term(name, (*batch, *(term.labels[dim] for term, dim in free)), tuple(shape))


def _as_result(writer: Writer, term: _Term, equation: Equation, op: ir.Operation) -> str:
    """The dimensions in the result's order; where it repeats labels, zeros beside the diagonal."""
    distinct = list(dict.fromkeys(equation.result))
    term = _moved(writer, term, [term.labels.index(label) for label in distinct])
    for label in distinct:
        for _ in range(equation.result.count(label) - 1):
            term = _on_diagonal(writer, term, label, op)
    used: list[int] = []
    for label in equation.result:
        dims = (dim for dim, each in enumerate(term.labels) if each == label and dim not in used)
        used.append(next(dims))
    return _moved(writer, term, used).value


def _on_diagonal(writer: Writer, term: _Term, label: str, op: ir.Operation) -> _Term:
    """One dimension more of `label`: n zeros between two elements make n x n of them."""
    fmt = narrow_format(op.operands[0])
    if fmt is not None and not fmt.has_zero:
        raise op_error(
            op,
            f"has zeros beside a diagonal, which {fmt.name} has no code for; convert to f32 first",
        )
    dim = term.labels.index(label)
    order = [other for other in range(len(term.labels)) if other != dim]
    term = _moved(writer, term, [*order, dim])
    *outer, size = term.shape
    flat, square = [*outer, size * size], (*outer, size, size)
    element = ir.Type.parse(writer.element, op.context)
    zero = writer.emit(f"constant dense<{_zero(element)}> : {writer.type([])}")
    nothing = [0] * len(term.shape)
    interior = [*nothing[1:], size]
    value = writer.emit(
        f"pad {term.value}, {zero}, low = {nothing}, high = {nothing}, interior = {interior}"
        f" : ({writer.type(term.shape)}, {writer.type([])}) -> {writer.type(flat)}"
    )
    return _Term(writer.reshape(value, flat, square), (*term.labels, label), square)
