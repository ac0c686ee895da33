"""Which operands of a module's dots and convolutions are gradients, and by what rule.

The rules, the first that applies decides:

1. `attribute`: `mlir_fp8.gradient = "lhs" | "rhs" | "none"` on the op.
2. `name-stack`: where a location in the function bears JAX's mark of a backward pass,
   `transpose(...)`, the name stacks of the locations say which ops are backward. What is recomputed
   for it (`rematted_computation`) is forward. Which operand is the gradient follows from rule 3
   without its second condition; failing that it is the left one, where JAX puts the cotangent.
3. `shared-operand`: an op is backward if an earlier one, its forward op, has the same tensor as an
   operand (up to moves, converts and scaling) and contracts other dimensions of it; its other
   operand depends on the forward op's result, and has as many elements. That one is the gradient.
4. `default`: no operand is.

Rule 3 takes the second dot of `x @ w @ w.T` for a derivative of the first, whose form it has: the
attribute overrides it. It looks through loop-carried values and stacked residuals, not through
calls: inline first.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from torch_mlir import ir

from mlir_fp8.base.context import format_location, op_error
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.fp8.scaling.contractions import contracting_dims, is_product
from mlir_fp8.lowering.fp8.scaling.origins import Dims, origin

ATTRIBUTE = "mlir_fp8.gradient"
_SIDES = ("lhs", "rhs")
_BACKWARD = re.compile(r"\btranspose\(")
_RECOMPUTED = "rematted_computation"


@dataclass(frozen=True)
class Gradient:
    """Which operand of an op is a gradient ("lhs", "rhs", "none"), by which rule, and why.

    `forward` is the op whose derivative this one is, where one was found.
    """

    operand: str
    rule: str
    reason: str
    forward: ir.Operation | None = None


def gradients(root: ir.Operation) -> dict[ir.Operation, Gradient]:
    """The verdict for each dot and convolution under `root`, a function or module, in order.

    Those of the `fp8` dialect count too; those on tensors without static shape are left out. Look
    ops up before changing any: an op's hash changes with it.
    """
    products = [op for op in operations(root) if is_product(op)]
    backward = {op: name for op in products if (name := backward_name(op))}
    forward = _Forward(_dependences(root, products))
    verdicts: dict[ir.Operation, Gradient] = {}
    for number, op in enumerate(products):
        shared = forward.sharing_operand(op)
        is_named = bool(backward) and next(location_names(op.location), None) is not None
        if ATTRIBUTE in op.attributes:
            verdict = _by_attribute(op)
        elif is_named:
            verdict = _by_name_stack(op, backward.get(op), shared)
        else:
            verdict = _by_shared_operand(shared)
        verdicts[op] = verdict
        if verdict.operand == "none":
            forward.add(number, op)
    return verdicts


@dataclass(frozen=True)
class _Shared:
    """A forward op that has the operand in common which is not the `gradient`."""

    forward: ir.Operation
    gradient: int
    depends: bool


def _by_attribute(op: ir.Operation) -> Gradient:
    text = str(op.attributes[ATTRIBUTE])
    operand = text.strip('"')
    if operand not in (*_SIDES, "none"):
        raise op_error(op, f'has {ATTRIBUTE} = {text}: it is "lhs", "rhs" or "none"')
    return Gradient(operand, "attribute", f"{ATTRIBUTE} says so")


def _by_name_stack(op: ir.Operation, name: str | None, shared: list[_Shared]) -> Gradient:
    if name is None:
        return Gradient("none", "name-stack", "its name stack is that of a forward pass")
    marked = f"its name stack has '{name}'"
    if not shared:
        return Gradient("lhs", "name-stack", f"{marked}; JAX puts the cotangent on the left")
    found = shared[0]
    return Gradient(
        _SIDES[found.gradient], "name-stack", f"{marked}; {_describe(found)}", found.forward
    )


def _by_shared_operand(shared: list[_Shared]) -> Gradient:
    if not shared or not shared[0].depends:
        return Gradient("none", "default", "no sign of a backward pass")
    found = shared[0]
    return Gradient(_SIDES[found.gradient], "shared-operand", _describe(found), found.forward)


def _describe(found: _Shared) -> str:
    place = format_location(found.forward.location)
    return f"its {_SIDES[1 - found.gradient]} is an operand of the forward op at {place}"


def backward_name(op: ir.Operation) -> str | None:
    """The transform in JAX's name stack that marks `op`, of any kind, as backward; else None."""
    names = list(location_names(op.location))
    if any(_RECOMPUTED in name for name in names):
        return None
    parts = [part for name in names for part in name.split("/")]
    return next((part for part in parts if _BACKWARD.search(part)), None)


def location_names(location: ir.Location) -> Iterator[str]:
    """All names in `location`, callee before caller."""
    if isinstance(location, ir.NameLoc):
        yield location.name_str
        yield from location_names(location.child_loc)
    elif isinstance(location, ir.CallSiteLoc):
        yield from location_names(location.callee)
        yield from location_names(location.caller)
    elif isinstance(location, ir.FusedLoc):
        for inner in cast(Sequence[ir.Location], location.locations):
            yield from location_names(inner)


class _Forward:
    """The forward ops so far, by what their operands come from."""

    def __init__(self, depends: dict[ir.Value, int]) -> None:
        self._depends = depends
        self._users: dict[ir.Value, list[tuple[int, ir.Operation, Dims]]] = {}

    def add(self, number: int, op: ir.Operation) -> None:
        for side in (0, 1):
            here = origin(op.operands[side], through_scaling=True)
            contracted = here.dims_of(contracting_dims(op, side))
            self._users.setdefault(here.value, []).append((number, op, contracted))

    def sharing_operand(self, op: ir.Operation) -> list[_Shared]:
        """Those that `op` may be the derivative of; first those that its gradient depends on."""
        found: list[_Shared] = []
        for side in (0, 1):
            here = origin(op.operands[side], through_scaling=True)
            contracted = here.dims_of(contracting_dims(op, side))
            other = op.operands[1 - side]
            for number, forward, forward_contracted in self._users.get(here.value, []):
                if contracted & forward_contracted or _size(other) != _size(forward.results[0]):
                    continue
                depends = bool(self._depends.get(other, 0) >> number & 1)
                found.append(_Shared(forward, 1 - side, depends))
        return sorted(found, key=lambda each: not each.depends)


def _size(value: ir.Value) -> int:
    return math.prod(ir.RankedTensorType(value.type).shape)


def _dependences(root: ir.Operation, products: list[ir.Operation]) -> dict[ir.Value, int]:
    """For each value the products that it depends on, a bit for each."""
    bits = {op: 1 << number for number, op in enumerate(products)}
    depends: dict[ir.Value, int] = {}

    def visit(op: ir.Operation) -> int:
        total = bits.get(op, 0)
        for operand in op.operands:
            total |= depends.get(operand, 0)
        incoming = total
        for block in (block for region in op.regions for block in region):
            depends.update((argument, incoming) for argument in block.arguments)
            for inner in block.operations:
                total |= visit(inner.operation)
        depends.update((result, total) for result in op.results)
        return total

    visit(root)
    return depends
