"""An `fp8.scaled_ragged_dot` taken apart: operands by name, what its dimensions are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.dialects._fp8_attributes import is_set
from mlir_fp8.dialects._fp8_product_parts import named_operands
from mlir_fp8.dialects.chlo_ragged_dots import ragged_numbers, read_numbers

OPERANDS = ("a", "b", "group_sizes", "a_scale", "b_scale")
SIZE_TYPES = ("i32", "i64")
"""Of sizes of groups."""


@dataclass(frozen=True)
class RaggedParts:
    """The parts of a valid `fp8.scaled_ragged_dot`; see `ScaledRaggedDot`."""

    op: ir.Operation
    a: ir.Value
    b: ir.Value
    group_sizes: ir.Value
    a_scale: ir.Value | None
    b_scale: ir.Value | None
    fast_accum: bool
    contracted: tuple[int, int]
    """A dimension of each operand."""
    group: int | None
    """That dimension of b; None where sums are ragged."""

    @property
    def free(self) -> tuple[int, int]:
        """The dimension of each operand that rows, and columns, of D are."""
        taken = (self.contracted[1], -1 if self.group is None else self.group)
        rank = 2 if self.group is None else 3
        return 1 - self.contracted[0], next(i for i in range(rank) if i not in taken)

    @property
    def groups(self) -> int:
        return ir.RankedTensorType(self.group_sizes.type).shape[0]


def ragged_parts(op: ir.Operation, operands: Sequence[ir.Value] | None = None) -> RaggedParts:
    """The parts of `op`, with other values in the place of its operands where they are given."""
    values = named_operands(op, list(op.operands) if operands is None else operands, OPERANDS)
    numbers = ragged_numbers(op)
    (left,), (right,) = numbers["lhs_contracting"], numbers["rhs_contracting"]
    return RaggedParts(
        op=op,
        a=values["a"],
        b=values["b"],
        group_sizes=values["group_sizes"],
        a_scale=values.get("a_scale"),
        b_scale=values.get("b_scale"),
        fast_accum=is_set(op, "fast_accum"),
        contracted=(left, right),
        group=next(iter(numbers["rhs_group"]), None),
    )


def numbers_refusal(numbers: Mapping[str, Sequence[int]], ranks: tuple[int, int]) -> str:
    """What keeps a ragged dot of these dimensions from being an `fp8.scaled_ragged_dot`."""
    if numbers["lhs_batching"] or numbers["rhs_batching"]:
        return "has batching dimensions: a ragged batch is an fp8.scaled_dot, others are dots of it"
    counts = [len(numbers[each]) for each in ("lhs_contracting", "rhs_contracting", "lhs_ragged")]
    if counts != [1, 1, 1]:
        return "has other than one contracting dimension of each operand and one ragged dimension"
    (left,), (right,), (ragged,) = (
        numbers[each] for each in ("lhs_contracting", "rhs_contracting", "lhs_ragged")
    )
    groups = list(numbers["rhs_group"])
    wanted = (2, 2) if ragged == left else (2, 3)
    if ranks != wanted or not (min(left, ragged) >= 0 and max(left, ragged) < ranks[0]):
        kind = "sums" if ragged == left else "rows"
        return f"has operands of ranks {ranks[0]} and {ranks[1]}: ragged {kind} have {wanted}"
    if len(groups) != wanted[1] - 2 or right in groups:
        return f"has the group dimensions {groups}, where there are {wanted[1] - 2} beside {right}"
    if not all(0 <= each < ranks[1] for each in (right, *groups)):
        return f"has dimensions {[right, *groups]} of b, which has rank {ranks[1]}"
    return ""


def ragged_shape(
    attribute: ir.Attribute, a: Sequence[int], b: Sequence[int], sizes: Sequence[int]
) -> list[int]:
    """The shape of a result; some other where the dimensions are refused."""
    numbers = read_numbers(attribute)
    taken = (*numbers["rhs_contracting"], *numbers["rhs_group"])
    rows = [size for dim, size in enumerate(a) if dim not in numbers["lhs_contracting"]]
    columns = [size for dim, size in enumerate(b) if dim not in taken]
    return [*([] if numbers["rhs_group"] else sizes), *rows, *columns]
