"""silu(x Wg) * (x Wu), as in SwiGLU, of two `fp8.scaled_dot`s or of two halves of one."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.dialects._fp8_product_parts import Product as Parts
from mlir_fp8.dialects._fp8_product_parts import product_parts
from mlir_fp8.lowering.fp8.scaled_dot.uses import only_user, other_operand, users
from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS
from mlir_fp8.lowering.rewriting.stablehlo import element_type

_DOT = "fp8.scaled_dot"
_ALIKE = (
    "dot_dimension_numbers",
    "dot_type",
    "epilogue_type",
    "fast_accum",
    "operand_type",
    "a_inverse",
    "b_inverse",
)


@dataclass(frozen=True)
class Gate:
    """The product `op`, in `type`, of the activation of a dot's result and of another result.

    `up` has the other dot; None: the dot has the columns of both, the gate's first.
    """

    op: ir.Operation
    dot: Parts
    up: Parts | None
    type: str


def gate_of(op: ir.Operation) -> Gate | None:
    """What a `stablehlo.multiply` is of, if that is all that reads its dots."""
    type_ = str(element_type(op.results[0]))
    if type_ not in ELEMENTS or op.operands[0] == op.operands[1]:
        return None
    for curved in op.operands:
        gate = _silu(curved)
        up = other_operand(op, curved)
        if gate is None or only_user(curved) != op or users(up) != [op]:
            continue
        first, second = _source(gate), _source(up)
        if first is None or second is None:
            continue
        found = _joined(op, type_, first, second) or _apart(op, type_, first, second)
        if found is not None:
            return found
    return None


def _silu(x: ir.Value) -> ir.Value | None:
    """What `x` is the SiLU of, if nothing else reads that."""
    op = producer(x)
    if op is None or op.name != "stablehlo.multiply":
        return None
    for sigmoid in op.operands:
        maker, gate = producer(sigmoid), other_operand(op, sigmoid)
        if maker is None or maker.name != "stablehlo.logistic" or maker.operands[0] != gate:
            continue
        if only_user(sigmoid) == op:
            readers = users(gate)
            if len(readers) == 2 and all(each in (maker, op) for each in readers):
                return gate
    return None


def _source(x: ir.Value) -> ir.Value | None:
    """The part of a dot's result that is narrowed to `x`."""
    op = producer(x)
    if op is not None and op.name == "stablehlo.convert":
        x = op.operands[0]
        if only_user(x) != op or str(element_type(x)) != "f32":
            return None
        op = producer(x)
    return x if op is not None and op.name in (_DOT, "stablehlo.slice") else None


def _apart(op: ir.Operation, type_: str, gate: ir.Value, up: ir.Value) -> Gate | None:
    dots = [producer(each) for each in (gate, up)]
    if any(each is None or each.name != _DOT or each.block != op.block for each in dots):
        return None
    first, second = (product_parts(each) for each in dots if each is not None)
    if first.op == second.op or first.a != second.a or first.a_scale != second.a_scale:
        return None
    if not _is_plain(first) or not _is_plain(second):
        return None
    return Gate(op, first, second, type_) if _form(first) == _form(second) else None


def _form(parts: Parts) -> list[str]:
    """What two dots have in common whose sums are finished alike."""
    attributes = parts.op.attributes
    found = [str(attributes[name]) if name in attributes else "" for name in _ALIKE]
    values = (parts.b, parts.op.results[0], parts.b_scale)
    return found + [str(each.type) for each in values if each is not None]


def _joined(op: ir.Operation, type_: str, gate: ir.Value, up: ir.Value) -> Gate | None:
    slices = [producer(each) for each in (gate, up)]
    if any(each is None or each.name != "stablehlo.slice" for each in slices):
        return None
    first, second = (each for each in slices if each is not None)
    whole = first.operands[0]
    dot = producer(whole)
    if dot is None or dot.name != _DOT or second.operands[0] != whole or dot.block != op.block:
        return None
    shape = list(ir.RankedTensorType(whole.type).shape)
    half = shape[-1] // 2
    wanted = [([0] * len(shape), [*shape[:-1], half]), ([0] * (len(shape) - 1) + [half], shape)]
    if shape[-1] % 2 or [_bounds(first), _bounds(second)] != wanted or len(users(whole)) != 2:
        return None
    parts = product_parts(dot)
    return Gate(op, parts, None, type_) if _is_plain(parts) else None


def _bounds(op: ir.Operation) -> tuple[list[int], list[int]] | None:
    names = ("start_indices", "limit_indices", "strides")
    start, limit, strides = (list(ir.DenseI64ArrayAttr(op.attributes[name])) for name in names)
    return (start, limit) if set(strides) == {1} else None


def _is_plain(parts: Parts) -> bool:
    """Whether nothing but scales comes between the sum and the result, which no other op reads."""
    others = (parts.c, parts.bias, parts.d_scale, parts.alpha)
    is_alone = len(parts.op.results) == 1 and parts.activation == "none"
    return is_alone and not parts.amax and all(each is None for each in others)
