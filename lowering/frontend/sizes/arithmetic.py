"""Ops of arith and math whose meaning StableHLO has, on scalars and elementwise on tensors.

Integers of arith are of either sign, those of StableHLO signed: unsigned ops bitcast. On i1, whose
sums and order differ, only the ops below that say so are taken.
"""

from collections.abc import Callable

from torch_mlir import ir

from mlir_fp8.lowering.frontend.sizes.build import (
    binary,
    cast,
    compare,
    fill,
    select,
    signless,
    tensor_type,
    unsigned,
)
from mlir_fp8.lowering.rewriting.retype import element_type
from mlir_fp8.lowering.rewriting.stablehlo import build, names

Lowering = Callable[[ir.Operation, list[ir.Value]], ir.Value | None]
"""The tensor for an op's result, of the tensors for its operands; None where there is none."""


def lower(op: ir.Operation, operands: list[ir.Value]) -> ir.Value | None:
    """What `_LOWERINGS` says of `op`; None too where truth values make it another op."""
    on_truth = str(element_type(operands[0].type)) == "i1" if operands else False
    if on_truth and op.name not in _ON_TRUTH:
        return None
    return _LOWERINGS[op.name](op, operands)


def _elementwise(name: str) -> Lowering:
    return lambda op, operands: build(name, operands[0].type, operands)


def _unsigned(name: str) -> Lowering:
    return lambda op, operands: signless(binary(name, *map(unsigned, operands)))


def _constant(op: ir.Operation, operands: list[ir.Value]) -> ir.Value | None:
    """Elements of index and scalars; what is left of arith's are constants of StableHLO already."""
    value, type_ = op.attributes["value"], tensor_type(op.results[0].type)
    if isinstance(value, ir.IntegerAttr | ir.BoolAttr):
        number = ir.IntegerAttr.get(element_type(type_), int(value.value))
        return build(
            "constant", type_, [], {"value": ir.DenseElementsAttr.get_splat(type_, number)}
        )
    if isinstance(value, ir.FloatAttr):
        return build("constant", type_, [], {"value": ir.DenseElementsAttr.get_splat(type_, value)})
    if not isinstance(value, ir.DenseElementsAttr):
        return None
    if isinstance(element_type(op.results[0].type), ir.IndexType):
        text = str(value).rpartition(" : ")[0]
        value = ir.Attribute.parse(f"{text} : {type_}")
    return build("constant", type_, [], {"value": value})


def _convert(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    return cast(operands[0], element_type(tensor_type(op.results[0].type)))


def _convert_unsigned(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    return cast(unsigned(operands[0]), element_type(tensor_type(op.results[0].type)))


def _extend_signed(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    """The sign of i1 is its only bit."""
    wide = _convert(op, operands)
    is_truth = str(element_type(operands[0].type)) == "i1"
    return build("negate", wide.type, [wide]) if is_truth else wide


def _truncate(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    """To i1 the lowest bit is kept, where `convert` asks whether any is set."""
    (value,) = operands
    if str(element_type(op.results[0].type)) == "i1":
        value = binary("and", value, fill(value, 1))
    return _convert(op, [value])


def _compare_integers(op: ir.Operation, operands: list[ir.Value]) -> ir.Value | None:
    predicate = _INTEGER_PREDICATES[ir.IntegerAttr(op.attributes["predicate"]).value]
    is_signed = predicate.startswith("s")
    if is_signed and str(element_type(operands[0].type)) == "i1":
        return None
    if predicate.startswith("u"):
        operands = [*map(unsigned, operands)]
    return compare(predicate.lstrip("su").upper(), *operands)


def _compare_floats(op: ir.Operation, operands: list[ir.Value]) -> ir.Value | None:
    direction = _FLOAT_PREDICATES.get(ir.IntegerAttr(op.attributes["predicate"]).value)
    return None if direction is None else compare(direction, *operands)


def _select(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    return select(*operands)


def _round_down(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    """The quotient, less one where the remainder is of the other sign than the divisor."""
    return _quotient(*operands, where_signs="NE", step="subtract")


def _round_up(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    """The quotient, and one where the remainder is of the divisor's sign."""
    return _quotient(*operands, where_signs="EQ", step="add")


def _quotient(left: ir.Value, right: ir.Value, *, where_signs: str, step: str) -> ir.Value:
    remainder, zero = binary("remainder", left, right), fill(left, 0)
    signs = compare(where_signs, compare("LT", remainder, zero), compare("LT", right, zero))
    is_off = binary("and", compare("NE", remainder, zero), signs)
    quotient = binary("divide", left, right)
    return select(is_off, binary(step, quotient, fill(left, 1)), quotient)


def _round_up_unsigned(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    left, right = map(unsigned, operands)
    has_rest = compare("NE", binary("remainder", left, right), fill(left, 0))
    quotient = binary("divide", left, right)
    return signless(select(has_rest, binary("add", quotient, fill(left, 1)), quotient))


_INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
# The others tell NaN from numbers in ways that StableHLO's comparisons do not.
_FLOAT_PREDICATES = {1: "EQ", 2: "GT", 3: "GE", 4: "LT", 5: "LE", 13: "NE"}
_ON_TRUTH = names("arith", "andi cmpi constant extsi extui index_castui ori select uitofp xori")
_ELEMENTWISE = {
    "add": "addi addf",
    "subtract": "subi subf",
    "multiply": "muli mulf",
    "divide": "divsi divf",
    "remainder": "remsi remf",
    "maximum": "maxsi maximumf",
    "minimum": "minsi minimumf",
    "and": "andi",
    "or": "ori",
    "xor": "xori",
    "negate": "negf",
    "shift_left": "shli",
    "shift_right_arithmetic": "shrsi",
    "shift_right_logical": "shrui",
}
_LOWERINGS: dict[str, Lowering] = {
    f"arith.{each}": _elementwise(name)
    for name, listed in _ELEMENTWISE.items()
    for each in listed.split()
} | {
    "arith.ceildivsi": _round_up,
    "arith.ceildivui": _round_up_unsigned,
    "arith.cmpf": _compare_floats,
    "arith.cmpi": _compare_integers,
    "arith.constant": _constant,
    "arith.divui": _unsigned("divide"),
    "arith.extf": _convert,
    "arith.extsi": _extend_signed,
    "arith.extui": _convert_unsigned,
    "arith.floordivsi": _round_down,
    "arith.fptosi": _convert,
    "arith.index_cast": _convert,
    "arith.index_castui": _convert_unsigned,
    "arith.maxui": _unsigned("maximum"),
    "arith.minui": _unsigned("minimum"),
    "arith.remui": _unsigned("remainder"),
    "arith.select": _select,
    "arith.sitofp": _convert,
    "arith.truncf": _convert,
    "arith.trunci": _truncate,
    "arith.uitofp": _convert_unsigned,
    "math.absf": _elementwise("abs"),
    "math.absi": _elementwise("abs"),
    "math.ceil": _elementwise("ceil"),
    "math.floor": _elementwise("floor"),
    "math.roundeven": _elementwise("round_nearest_even"),
    "math.sqrt": _elementwise("sqrt"),
}
ARITHMETIC = frozenset(_LOWERINGS)
