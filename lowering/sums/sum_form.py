"""Reductions whose results are sums, as bodies of StableHLO and of `linalg.generic` write them."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering.rewriting.retype import element_type

_NEUTRAL = {
    "arith.addf": "-0.0",
    "arith.mulf": "1.0",
    "arith.maximumf": "0xFF800000",
    "arith.minimumf": "0x7F800000",
}
"""The neutral element of each combiner, also for zeros; infinities are those of f32."""


@dataclass(frozen=True)
class Sum:
    """A result with its combiner: any for real ones, addition for complex ones."""

    type: ir.Type
    combiner: str

    def neutral(self) -> ir.Value:
        """The neutral element of the combiner."""
        if isinstance(self.type, ir.ComplexType):
            zero = ir.FloatAttr.get(self.type.element_type, -0.0)
            return _constant("complex.constant", self.type, ir.ArrayAttr.get([zero, zero]))
        number = ir.Attribute.parse(f"{_NEUTRAL[self.combiner]} : {self.type}")
        return _constant("arith.constant", self.type, number)

    def combined(self, total: ir.Value, part: ir.Value) -> ir.Value:
        if not isinstance(self.type, ir.ComplexType):
            return _new(self.combiner, self.type, total, part)
        real = self.type.element_type
        parts = [
            _new(self.combiner, real, *(_new(each, real, value) for value in (total, part)))
            for each in ("complex.re", "complex.im")
        ]
        return _new("complex.create", self.type, *parts)


def adds_floats(body: ir.Block) -> bool:
    """Whether each result of a StableHLO body is its accumulator plus its element, of floats."""
    *computation, terminator = [op.operation for op in body.operations]
    results, arguments = list(terminator.operands), list(body.arguments)
    if len(computation) != len(results):
        return False
    pairs = zip(arguments, arguments[len(results) :], strict=False)
    for result, pair in zip(results, pairs, strict=False):
        op = result.owner
        if isinstance(op, ir.Block) or op.name != "stablehlo.add":
            return False
        number = element_type(result.type)
        if not isinstance(number, ir.F32Type | ir.F64Type | ir.ComplexType):
            return False
        if list(op.operands) not in (list(pair), list(pair)[::-1]):
            return False
    return True


def added_sums(op: ir.Operation) -> list[Sum] | None:
    """The combiner of each result of a reduction; None for any other op.

    None, too, where none is a sum of floats: reassociation gains nothing for products.
    """
    block = op.regions[0].blocks[0]
    *body, terminator = [inner.operation for inner in block.operations]
    if any(len(inner.regions) for inner in body):
        return None
    results = list(terminator.operands)
    accumulators = list(block.arguments)[len(block.arguments) - len(results) :]
    found: list[Sum] = []
    for accumulator, result in zip(accumulators, results, strict=True):
        combiner = _combiner(accumulator, result)
        if combiner is None:
            return None
        found.append(Sum(accumulator.type, combiner))
    return found if any(each.combiner == "arith.addf" for each in found) else None


def _combiner(accumulator: ir.Value, result: ir.Value) -> str | None:
    """The op by which alone `result` has anything of `accumulator`."""
    if isinstance(accumulator.type, ir.ComplexType):
        return _complex_combiner(accumulator, result)
    op = _only_user(accumulator)
    if op is None or not isinstance(accumulator.type, ir.F32Type | ir.F64Type):
        return None
    is_last = op == result.owner and len(list(result.uses)) == 1
    is_known = op.name in ("arith.addf", "arith.mulf") or isinstance(accumulator.type, ir.F32Type)
    return op.name if is_last and is_known and op.name in _NEUTRAL else None


def _complex_combiner(accumulator: ir.Value, result: ir.Value) -> str | None:
    """That of both parts, each of which is added to alone."""
    parts = {use.owner.name: use.owner.operation for use in accumulator.uses}
    create = result.owner
    if isinstance(create, ir.Block) or create.name != "complex.create":
        return None
    if len(list(accumulator.uses)) != 2 or set(parts) != {"complex.re", "complex.im"}:
        return None
    for name, total in zip(("complex.re", "complex.im"), create.operands, strict=True):
        op = _only_user(parts[name].results[0])
        if op is None or op.name != "arith.addf" or op != total.owner:
            return None
        if len(list(total.uses)) != 1:
            return None
    return "arith.addf" if len(list(result.uses)) == 1 else None


def _only_user(value: ir.Value) -> ir.Operation | None:
    uses = list(value.uses)
    return uses[0].owner.operation if len(uses) == 1 else None


def _new(name: str, result: ir.Type, *operands: ir.Value) -> ir.Value:
    return ir.Operation.create(name, [result], operands).results[0]


def _constant(name: str, type_: ir.Type, value: ir.Attribute) -> ir.Value:
    return ir.Operation.create(name, [type_], [], {"value": value}).results[0]
