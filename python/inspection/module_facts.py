"""The facts about a module: functions, ops, small floats, constants, and what it needs."""

import math
from collections import Counter

from torch_mlir import ir

from mlir_fp8.artifacts.dense_resources import element_bytes
from mlir_fp8.artifacts.type_parts import type_parts
from mlir_fp8.artifacts.versions import survey
from mlir_fp8.base.context import format_location
from mlir_fp8.dialects.float_formats import SMALL_FLOATS
from mlir_fp8.inspection.bytecode_header import Header
from mlir_fp8.inspection.facts import Constant, Function, Inspection

_PLACES = ("arguments", "results", "constants", "ops")


def inspect_module(
    module: ir.Operation, name: str, header: Header, elided: frozenset[int] = frozenset()
) -> Inspection:
    """The facts of `module`, which came from the file `name`.

    `elided` are the sizes in bytes of constants that were read as one repeated number.
    """
    facts = Inspection(name, header)
    collector = _Collector(facts, elided)
    module.walk(collector.visit, ir.WalkOrder.PRE_ORDER)
    facts.ops = dict(collector.ops.most_common())
    facts.small_floats = {
        type_: {place: counts[place] for place in _PLACES}
        for type_, counts in sorted(collector.small_floats.items())
    }
    found = survey(module, name)
    facts.features = found.features
    is_held = not (found.refusals or found.unknown)
    facts.minimum_version = found.version if is_held else None
    return facts


class _Collector:
    def __init__(self, facts: Inspection, elided: frozenset[int]) -> None:
        self.ops: Counter[str] = Counter()
        self.small_floats: dict[str, Counter[str]] = {}
        self._facts = facts
        self._elided = elided
        self._formats: dict[ir.Type, frozenset[str]] = {}

    def visit(self, view: ir.Operation) -> ir.WalkResult:
        op = view.operation
        name = op.name
        self.ops[name] += 1
        if name == "func.func":
            self._function(op)
            return ir.WalkResult.ADVANCE
        results = [value.type for value in op.results]
        if name == "stablehlo.constant":
            self._constant(op, results[0])
            self._count("constants", *self._small_floats(results))
        operands = [value.type for value in op.operands]
        self._count("ops", *self._small_floats([*operands, *results]))
        return ir.WalkResult.ADVANCE

    def _function(self, op: ir.Operation) -> None:
        type_ = op.attributes["function_type"]
        name = op.attributes["sym_name"]
        assert isinstance(type_, ir.TypeAttr) and isinstance(name, ir.StringAttr)
        signature = ir.FunctionType(type_.value)
        visibility = op.attributes.get("sym_visibility")
        is_private = isinstance(visibility, ir.StringAttr) and visibility.value == "private"
        self._facts.functions.append(
            Function(name.value, "private" if is_private else "public", str(signature))
        )
        for place, types in (("arguments", signature.inputs), ("results", signature.results)):
            for each in types:
                self._count(place, *self._small_floats([each]))

    def _constant(self, op: ir.Operation, type_: ir.Type) -> None:
        facts = self._facts
        size = self._constant_bytes(op, type_)
        facts.constants += 1
        facts.constant_bytes += size
        if facts.largest_constant is None or size > facts.largest_constant.bytes:
            place = format_location(op.location)
            facts.largest_constant = Constant(size, str(type_), place)

    def _constant_bytes(self, op: ir.Operation, type_: ir.Type) -> int:
        shaped = ir.RankedTensorType(type_)
        one = element_bytes(shaped.element_type)
        size = one * math.prod(shaped.shape)
        if size in self._elided or isinstance(shaped.element_type, ir.ComplexType):
            return size
        value = op.attributes["value"]
        return one if isinstance(value, ir.DenseElementsAttr) and value.is_splat else size

    def _small_floats(self, types: list[ir.Type]) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for type_ in types:
            formats = self._formats.get(type_)
            if formats is None:
                formats = frozenset(type_parts(type_).known & SMALL_FLOATS.keys())
                self._formats[type_] = formats
            found |= formats
        return found

    def _count(self, place: str, *formats: str) -> None:
        for each in formats:
            self.small_floats.setdefault(each, Counter())[place] += 1
