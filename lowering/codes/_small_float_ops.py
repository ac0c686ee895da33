"""Which ops `convert-small-floats-to-int` leaves, expands or refuses."""

from collections.abc import Container

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.float_formats import NARROW_FLOATS, OPAQUE_FLOATS, FloatFormat
from mlir_fp8.lowering.codec.missing_codes import GIVES_NAN_ON_SCALARS
from mlir_fp8.lowering.rewriting.retype import element_type
from mlir_fp8.lowering.rewriting.stablehlo import names

# Ops that move or forward values of any type: whole dialects where possible.
_MOVING_DIALECTS = frozenset({"bufferization", "builtin", "cf", "func", "scf", "tensor", "ub"})
_MOVING = (
    names("affine", "for if load store vector_load vector_store yield")
    | names("arith", "constant select")
    | names("linalg", "broadcast copy fill generic map reduce transpose yield")
    | names(
        "memref",
        """alloc alloca alloca_scope alloca_scope.return atomic_yield cast collapse_shape copy
        dealloc dim expand_shape extract_strided_metadata generic_atomic_rmw get_global global load
        reinterpret_cast reshape store subview transpose view""",
    )
    | names(
        "vector",
        """broadcast constant_mask extract extract_strided_slice from_elements gather insert
        insert_strided_slice load mask maskedload maskedstore scatter shape_cast shuffle store
        to_elements transfer_read transfer_write transpose yield""",
    )
)
# Ops computed in f32 and rounded once. For + - * / and sqrt that is the correctly rounded result
# (24 >= 2p + 2); the others are as good as their f32 form.
_VIA_F32 = names(
    "arith", "addf cmpf divf maximumf maxnumf minimumf minnumf mulf remf subf"
) | names(
    "math",
    """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1
    floor fpowi isfinite isinf isnan isnormal log log10 log1p log2 powf round roundeven rsqrt sin
    sinh sqrt tan tanh trunc""",
)


def narrow_format(type_: ir.Type) -> FloatFormat | None:
    return NARROW_FLOATS.get(str(element_type(type_)))


class FormatsOfTypes(dict[ir.Type, FloatFormat | None]):
    """`narrow_format` of each type, cached: printing a type takes time."""

    def __missing__(self, type_: ir.Type) -> FloatFormat | None:
        found = self[type_] = narrow_format(type_)
        return found


def computes(op: ir.Operation, rules: Container[str], known: FormatsOfTypes) -> bool:
    """Whether `op` must be expanded; raises for ops that this pass has no rule for."""
    types = [value.type for value in (*op.operands, *op.results)]
    formats = [fmt for type_ in types if (fmt := known[type_])]
    if not formats:
        return False
    if op.name == "linalg.copy" and element_type(types[0]) != element_type(types[1]):
        raise _hides_arithmetic(op, formats)
    if op.name == "builtin.unrealized_conversion_cast":
        _require_known_cast(op)
    if op.name in _MOVING or op.name.partition(".")[0] in _MOVING_DIALECTS:
        return False
    if op.name.startswith("linalg.") and len(op.regions):
        raise _hides_arithmetic(op, formats)
    if op.name in GIVES_NAN_ON_SCALARS and (without := [f for f in formats if not f.has_nan]):
        reason = f"can give NaN, which {without[0].name} has no code for: compute it in f32"
        raise op_error(op, reason)
    if op.name in _VIA_F32 or op.name in rules:
        _require_static_shape(op)
        return True
    if all(fmt.native for fmt in formats):
        return False
    name = next(fmt.name for fmt in formats if not fmt.native)
    raise op_error(op, f"has no lowering for {name}: compute it in f32 and convert")


def _hides_arithmetic(op: ir.Operation, formats: list[FloatFormat]) -> Fp8Error:
    reason = f"on {formats[0].name} hides its arithmetic: run linalg-generalize-named-ops first"
    return op_error(op, reason)


def _require_known_cast(op: ir.Operation) -> None:
    """A cast from one opaque float to another could mean a conversion as well as a bitcast."""
    elements = {element_type(value.type) for value in (*op.operands, *op.results)}
    small = sorted(str(element) for element in elements if str(element) in OPAQUE_FLOATS)
    if len(small) > 1:
        raise op_error(op, f"between {' and '.join(small)} says not how: use arith.bitcast or f32")


def _require_static_shape(op: ir.Operation) -> None:
    type_ = op.operands[0].type
    is_tensor = isinstance(type_, ir.RankedTensorType | ir.UnrankedTensorType)
    if is_tensor and not (type_.has_rank and type_.has_static_shape):
        raise op_error(op, f"on {type_} needs a static shape: run convert-elementwise-to-linalg")
