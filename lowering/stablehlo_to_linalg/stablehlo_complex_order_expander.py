"""`stablehlo-complex-order-expander`: complex numbers in the order of their parts."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import build, element_type, with_element


@dataclass(frozen=True)
class StablehloComplexOrderExpander(ModulePass):
    """Replace `maximum`, `minimum`, `clamp` and ordered `compare` of complex numbers.

    The order is that of the specification: by real parts, and where these are equal by imaginary
    ones. Upstream takes the first of two numbers wherever their real parts are equal.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module, inner_first=True):
                rule = _RULES.get(op.name)
                if rule is None or not isinstance(element_type(op.operands[0]), ir.ComplexType):
                    continue
                with op.location, ir.InsertionPoint(op):
                    value = rule(op)
                if value is not None:
                    replace_op(op, [value])


def _compare(op: ir.Operation) -> ir.Value | None:
    direction = str(op.attributes["comparison_direction"]).rstrip(">").split()[-1]
    if direction in ("EQ", "NE"):
        return None
    return _ordered(direction, *op.operands)


def _ordered(direction: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    """i1 of `lhs direction rhs`, where direction is LT, LE, GT or GE."""
    reals, imaginaries = ([_part(name, each) for each in (lhs, rhs)] for name in ("real", "imag"))
    beyond = _compared(direction[0] + "T", *reals)
    equal = _compared("EQ", *reals)
    decided = _compared(direction, *imaginaries)
    return build("or", beyond.type, [beyond, build("and", equal.type, [equal, decided])])


def _part(name: str, value: ir.Value) -> ir.Value:
    element = ir.ComplexType(ir.ShapedType(value.type).element_type).element_type
    return build(name, with_element(value.type, element), [value])


def _compared(direction: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    attribute = ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>")
    truth = with_element(lhs.type, ir.IntegerType.get_signless(1))
    return build("compare", truth, [lhs, rhs], {"comparison_direction": attribute})


def _chosen(direction: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    return build("select", lhs.type, [_ordered(direction, lhs, rhs), lhs, rhs])


def _clamp(op: ir.Operation) -> ir.Value:
    low, operand, high = op.operands
    low, high = (_broadcast(each, operand.type) for each in (low, high))
    return _chosen("LE", _chosen("GE", operand, low), high)


def _broadcast(value: ir.Value, type_: ir.Type) -> ir.Value:
    if value.type == type_:
        return value
    none = ir.DenseI64ArrayAttr.get([])
    return build("broadcast_in_dim", type_, [value], {"broadcast_dimensions": none})


_RULES = {
    "stablehlo.clamp": _clamp,
    "stablehlo.compare": _compare,
    "stablehlo.maximum": lambda op: _chosen("GE", *op.operands),
    "stablehlo.minimum": lambda op: _chosen("LE", *op.operands),
}
