"""Put packed weights into a function: arguments of packed types, moved where they are read."""

import fnmatch
import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import function_type
from mlir_fp8.lowering.fp8.scaling.entry import inlined_entry
from mlir_fp8.lowering.fp8.weights.bits import BitLayout
from mlir_fp8.lowering.fp8.weights.names import NAME, WEIGHT_SCALE, described, own_names
from mlir_fp8.lowering.fp8.weights.packed import PACKED, Layout
from mlir_fp8.lowering.kernels.packed_weights.layouts import layout_of
from mlir_fp8.lowering.kernels.vector_code.target import target_named


@dataclass(frozen=True)
class PackingDecision:
    """A weight and its layout, or why it is not packed."""

    name: str
    location: ir.Location
    layout: Layout | None
    left: str = ""

    @property
    def saved(self) -> int:
        """How many bytes fewer its codes take: those of f6 and f4 alone."""
        if not isinstance(self.layout, BitLayout):
            return 0
        return math.prod(self.layout.shape) - math.prod(self.layout.packed_shape)

    def __str__(self) -> str:
        if self.layout is None:
            return f"weight '{self.name}' is not packed: it {self.left}"
        shape = "x".join(map(str, self.layout.packed_shape))
        return f"weight '{self.name}' is packed as {shape}"


def pack_weights(
    module: ir.Operation, patterns: Sequence[str], target: str, entry: str
) -> list[PackingDecision]:
    """Let `entry` take the arguments that `patterns` name in panels, where products read them so.

    Those of f6 and f4 become bytes of ui8 without gaps between codes.

    Gives what became of each that is named or read by a product. `Fp8Error` for a pattern that
    matches nothing.
    """
    tile = target_named(target)
    function = inlined_entry(module, entry)
    arguments = list(function.regions[0].blocks[0].arguments)
    names = own_names(function)
    attributes = described(function, "arg_attrs", len(arguments))
    _check(function, names, patterns)
    scales = {str(each[WEIGHT_SCALE]).strip('"') for each in attributes if WEIGHT_SCALE in each}
    decisions: list[PackingDecision] = []
    for number, (name, value) in enumerate(zip(names, arguments, strict=True)):
        is_named = any(name == each or fnmatch.fnmatchcase(name, each) for each in patterns)
        if not is_named or name in scales or PACKED in attributes[number]:
            continue
        layout = layout_of(value, tile)
        if isinstance(layout, str):
            decisions.append(PackingDecision(name, value.location, None, layout))
            continue
        kept = {each.name: each.attr for each in attributes[number]}
        with ir.Location.unknown(module.context):
            _replace(value, layout)
            added = {NAME: ir.StringAttr.get(name), PACKED: layout.attribute()}
            attributes[number] = ir.DictAttr.get({**kept, **added})
        decisions.append(PackingDecision(name, value.location, layout))
    if any(each.layout is not None for each in decisions):
        _renew_signature(function, attributes)
    return decisions


def _check(function: ir.Operation, names: Sequence[str], patterns: Sequence[str]) -> None:
    for pattern in patterns:
        if not any(name == pattern or fnmatch.fnmatchcase(name, pattern) for name in names):
            known = ", ".join(names) or "none"
            raise op_error(function, f"has no argument '{pattern}' (arguments: {known})")


def _replace(value: ir.Value, layout: Layout) -> None:
    """Let each op that reads `value` read the matrix of it, which is made next to the op."""
    uses = [(each.owner.operation, each.operand_number) for each in value.uses]
    value.set_type(layout.packed_type(value.type))
    for op, number in uses:
        with ir.InsertionPoint(op), op.location:
            op.operands[number] = layout.matrix(value)


def _renew_signature(function: ir.Operation, attributes: Sequence[ir.DictAttr]) -> None:
    types = [each.type for each in function.regions[0].blocks[0].arguments]
    with function.context:
        type_ = ir.FunctionType.get(types, function_type(function).results)
        function.attributes["function_type"] = ir.TypeAttr.get(type_)
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(list(attributes))
