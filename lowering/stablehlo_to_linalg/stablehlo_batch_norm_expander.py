"""`stablehlo-batch-norm-expander`: batch normalization in elementwise ops and reductions."""

import math
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.text_expansion import expand_all


@dataclass(frozen=True)
class StablehloBatchNormExpander(ModulePass):
    """Replace `batch_norm_inference`, `_training` and `_grad` by the formulas of the specification.

    Each sum is one reduction in the op's own type, so narrow floats are widened before.
    """

    def run(self, module: ir.Operation) -> None:
        expand_all(
            module,
            {
                "stablehlo.batch_norm_inference": _inference,
                "stablehlo.batch_norm_training": _training,
                "stablehlo.batch_norm_grad": _grad,
            },
        )


class _Text:
    """The types of one op, and the steps that the three programs share."""

    def __init__(self, op: ir.Operation) -> None:
        operand = ir.RankedTensorType(op.operands[0].type)
        feature = ir.IntegerAttr(op.attributes["feature_index"]).value
        self.element = operand.element_type
        self.full, self.one = str(operand), f"tensor<{self.element}>"
        self.each = str(ir.RankedTensorType(op.operands[1].type))
        self.feature = feature
        others = [dim for dim in range(operand.rank) if dim != feature]
        self.others = ", ".join(map(str, others))
        self.count = math.prod(operand.shape[dim] for dim in others)
        self.epsilon = ir.FloatAttr(op.attributes["epsilon"]).value

    def function(self, arguments: str, results: str, body: str) -> str:
        return f"func.func @expansion({arguments}) -> ({results}) {{{body}}}"

    def constant(self, name: str, number: float, type_: str) -> str:
        return f"\n%{name} = stablehlo.constant dense<{number!r}> : {type_}"

    def spread(self, name: str, value: str) -> str:
        return (
            f"\n%{name} = stablehlo.broadcast_in_dim %{value}, dims = [{self.feature}]"
            f" : ({self.each}) -> {self.full}"
        )

    def total(self, name: str, value: str) -> str:
        return (
            f"\n%{name} = stablehlo.reduce(%{value} init: %zero) applies stablehlo.add across"
            f" dimensions = [{self.others}] : ({self.full}, {self.one}) -> {self.each}"
        )

    def op(self, name: str, op: str, *values: str, each: bool = False) -> str:
        operands = ", ".join(f"%{value}" for value in values)
        return f"\n%{name} = stablehlo.{op} {operands} : {self.each if each else self.full}"

    def centered_and_deviation(self) -> str:
        """x - mean, and sqrt(variance + epsilon), per element."""
        return (
            self.spread("means", "mean")
            + self.op("centered", "subtract", "x", "means")
            + self.constant("epsilon", self.epsilon, self.each)
            + self.op("raised", "add", "variance", "epsilon", each=True)
            + self.op("deviation", "sqrt", "raised", each=True)
            + self.spread("deviations", "deviation")
        )

    def normalized(self) -> str:
        return (
            self.spread("scales", "scale")
            + self.spread("offsets", "offset")
            + self.op("scaled", "multiply", "scales", "centered")
            + self.op("divided", "divide", "scaled", "deviations")
            + self.op("y", "add", "divided", "offsets")
        )


def _inference(op: ir.Operation) -> str:
    text = _Text(op)
    arguments = ", ".join(
        [f"%x: {text.full}"]
        + [f"%{name}: {text.each}" for name in ("scale", "offset", "mean", "variance")]
    )
    body = text.centered_and_deviation() + text.normalized() + f"\nreturn %y : {text.full}"
    return text.function(arguments, text.full, body)


def _training(op: ir.Operation) -> str:
    text = _Text(op)
    arguments = f"%x: {text.full}, %scale: {text.each}, %offset: {text.each}"
    body = (
        text.constant("zero", 0.0, text.one)
        + text.constant("count", float(text.count), text.each)
        + text.total("sum", "x")
        + text.op("mean", "divide", "sum", "count", each=True)
        + text.spread("means0", "mean")
        + text.op("centered0", "subtract", "x", "means0")
        + text.op("squares", "multiply", "centered0", "centered0")
        + text.total("square_sum", "squares")
        + text.op("variance", "divide", "square_sum", "count", each=True)
        + text.centered_and_deviation()
        + text.normalized()
        + f"\nreturn %y, %mean, %variance : {text.full}, {text.each}, {text.each}"
    )
    return text.function(arguments, f"{text.full}, {text.each}, {text.each}", body)


def _grad(op: ir.Operation) -> str:
    text = _Text(op)
    arguments = (
        f"%x: {text.full}, %scale: {text.each}, %mean: {text.each}, %variance: {text.each},"
        f" %g: {text.full}"
    )
    body = (
        text.constant("zero", 0.0, text.one)
        + text.constant("count", float(text.count), text.each)
        + text.constant("counts", float(text.count), text.full)
        + text.centered_and_deviation()
        + text.op("normalized", "divide", "centered", "deviations")
        + text.op("products", "multiply", "g", "centered")
        + text.total("g_sum", "g")
        + text.total("product_sum", "products")
        + text.op("i1", "multiply", "g", "counts")
        + text.spread("i2", "g_sum")
        + text.spread("i3", "product_sum")
        + text.op("i4", "multiply", "i3", "centered")
        + text.spread("variances", "raised")
        + text.op("i5", "divide", "i4", "variances")
        + text.op("i12", "subtract", "i1", "i2")
        + text.op("i6", "subtract", "i12", "i5")
        + text.op("ratio", "divide", "scale", "deviation", each=True)
        + text.op("factor", "divide", "ratio", "count", each=True)
        + text.spread("factors", "factor")
        + text.op("dx", "multiply", "factors", "i6")
        + text.op("slopes", "multiply", "g", "normalized")
        + text.total("dscale", "slopes")
        + f"\nreturn %dx, %dscale, %g_sum : {text.full}, {text.each}, {text.each}"
    )
    return text.function(arguments, f"{text.full}, {text.each}, {text.each}", body)
