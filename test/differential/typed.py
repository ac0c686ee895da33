"""Ops between types: conversions, comparisons and what else has a row of its own."""

from builder import Builder
from elements import ALL, FLOATS, INTEGERS, SIGNED, UNSIGNED, WITH_ZERO, bits
from elementwise import ELEMENTWISE, NO_NAN, emit_elementwise
from grid import Grid
from program import BITS, CHECKS, NEAR, VALUES, ZEROS, Value

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.dialects.float_formats import FORMATS, NanEncoding

_DIRECTIONS = ("EQ", "NE", "GE", "GT", "LE", "LT")
_WHOLE_BYTES = tuple(element for element in ALL if bits(element) % 8 == 0)
EXACT_ROWS = tuple(row for row in ELEMENTWISE if row.check == VALUES)


def exact(b: Builder, elements: tuple[str, ...]) -> Value:
    """A value with one right value, of one of `elements`."""
    value = b.value(lambda value: value.is_exact, elements)
    return value if value.is_exact else b.fresh(value.shape, value.element)


def constant(b: Builder) -> None:
    """A new constant or argument."""
    b.fresh(b.shape(), b.element(ALL))


def iota(b: Builder) -> None:
    """Numbers from 0 on."""
    shape, element = b.shape(1), b.element((*INTEGERS, *WITH_ZERO))
    dimension = b.integer(0, len(shape) - 1)
    grid = Grid(0, max(shape[dimension], 1).bit_length()).rounded_to(element)
    b.op(
        "stablehlo.iota",
        [],
        TensorSpec(shape, element),
        attributes=f"<{{iota_dimension = {dimension} : i64}}>",
        check=VALUES if element in FLOATS else BITS,
        grid=grid if element in FLOATS else None,
    )


def convert(b: Builder) -> None:
    """From any type to any, where the result has one right value or is near one."""
    value = b.value(lambda value: value.is_exact or value.check == NEAR, ALL)
    targets = ALL if value.is_exact else _coarser(value)
    if not targets:
        value, targets = b.fresh(value.shape, value.element), ALL
    target = b.element(targets)
    check = value.check
    if value.is_exact:
        check = VALUES if target in FORMATS else BITS
        if target in NO_NAN and not value.has_known_bits:
            check = ZEROS
    grid = None
    if value.element in FORMATS and target in FORMATS and value.grid:
        grid = value.grid.rounded_to(target)
    elif value.element == "i1" and target in FORMATS:
        grid = Grid(0, 0).rounded_to(target)
    elif value.grid and value.element in INTEGERS:
        grid = value.grid.rounded_to(target) if target in FORMATS else None
    b.op("stablehlo.convert", [value], TensorSpec(value.shape, target), check=check, grid=grid)


def _coarser(value: Value) -> tuple[str, ...]:
    """Where a value that is few steps off is one step off at most."""
    mantissa = FORMATS[value.element].mantissa_bits
    return tuple(each for each in FLOATS if FORMATS[each].mantissa_bits + 3 <= mantissa)


def bitcast_convert(b: Builder) -> None:
    """To another type of the same bits, of the same width or not."""
    value = b.value(lambda value: value.has_known_bits, _WHOLE_BYTES)
    if not value.has_known_bits:
        value = b.fresh(value.shape, value.element)
    width = bits(value.element)
    shapes = {
        each: value.shape if bits(each) == width else (*value.shape, width // bits(each))
        for each in _WHOLE_BYTES
        if bits(each) <= width
    }
    for each in _WHOLE_BYTES:
        if value.shape and bits(each) > width and value.shape[-1] == bits(each) // width:
            shapes[each] = value.shape[:-1]
    target = b.element([each for each in shapes if len(shapes[each]) <= 5])
    b.op("stablehlo.bitcast_convert", [value], TensorSpec(shapes[target], target))


def compare(b: Builder) -> None:
    """All directions, all orders."""
    lhs = exact(b, ALL)
    rhs = b.like(lhs.shape, lhs.element)
    kind = "UNSIGNED" if lhs.element in ("i1", *UNSIGNED) else "SIGNED"
    if lhs.element in FLOATS:
        kind = "FLOAT"
        # Nobody says where a total order has the NaN without a sign.
        has_order = FORMATS[lhs.element].nan is not NanEncoding.NEGATIVE_ZERO
        if has_order and lhs.has_known_bits and rhs.has_known_bits and b.chance(30):
            kind = "TOTALORDER"
    direction = b.one_of(_DIRECTIONS)
    b.op(
        "stablehlo.compare",
        [lhs, rhs],
        TensorSpec(lhs.shape, "i1"),
        attributes=f"<{{comparison_direction = #stablehlo<comparison_direction {direction}>, "
        f"compare_type = #stablehlo<comparison_type {kind}>}}>",
    )


def select(b: Builder) -> None:
    """By a predicate per element or one for all."""
    on_true = b.value(lambda _: True, ALL)
    on_false = b.like(on_true.shape, on_true.element)
    predicate = b.like(() if b.chance(20) else on_true.shape, "i1")
    grid = on_true.grid.joined(on_false.grid) if on_true.grid and on_false.grid else None
    check = max(on_true.check, on_false.check, key=CHECKS.index)
    b.op("stablehlo.select", [predicate, on_true, on_false], on_true.spec, check=check, grid=grid)


def is_finite(b: Builder) -> None:
    """Neither infinity nor NaN."""
    value = exact(b, FLOATS)
    b.op("stablehlo.is_finite", [value], TensorSpec(value.shape, "i1"))


def reduce_precision(b: Builder) -> None:
    """To any exponent and mantissa."""
    value = exact(b, FLOATS)
    exponent, mantissa = b.integer(1, 11), b.integer(0, 23)
    b.op(
        "stablehlo.reduce_precision",
        [value],
        value.spec,
        attributes=f"<{{exponent_bits = {exponent} : i32, mantissa_bits = {mantissa} : i32}}>",
        check=VALUES,
    )


def call(b: Builder) -> None:
    """A function of one to three elementwise ops."""
    b.called(lambda: elementwise_body(b), [exact(b, ALL) for _ in range(b.integer(1, 2))])


def elementwise_body(b: Builder) -> Value:
    """The value of one to three elementwise ops in a region."""
    result = b.values[0]
    for _ in range(b.integer(1, 3)):
        rows = [row for row in EXACT_ROWS if result.is_exact and result.element in row.elements]
        if rows:
            result = emit_elementwise(b.one_of(rows), b)
    return result


def mapped(b: Builder) -> None:
    """`map` with a body of one op."""
    value = exact(b, (*SIGNED, *FLOATS))
    other = b.like(value.shape, value.element)
    scalar = f"tensor<{value.element}>"
    name = b.one_of(["stablehlo.add", "stablehlo.maximum", "stablehlo.multiply"])
    dims = ", ".join(map(str, range(len(value.shape))))
    b.op(
        "stablehlo.map",
        [value, other],
        value.spec,
        attributes=f"<{{dimensions = array<i64{': ' if dims else ''}{dims}>}}>",
        region=f'({{^bb0(%x: {scalar}, %y: {scalar}): %z = "{name}"(%x, %y) : '
        f'({scalar}, {scalar}) -> {scalar} "stablehlo.return"(%z) : ({scalar}) -> ()}})',
        check=VALUES if value.element in FLOATS else BITS,
    )
