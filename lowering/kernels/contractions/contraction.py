"""Contractions among the linalg ops on buffers, as sizes and strides, for the kernels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir

from mlir_fp8.lowering.kernels.contractions.bit_packed import packed_leaf
from mlir_fp8.lowering.kernels.contractions.buffer_uses import BlockOrder, are_distinct
from mlir_fp8.lowering.kernels.contractions.leaves import buffer_leaf, operand_leaf
from mlir_fp8.lowering.kernels.contractions.panels import panel_leaf
from mlir_fp8.lowering.kernels.contractions.producers import producer_of, zero_fill
from mlir_fp8.lowering.kernels.vector_code.expression import Expression, Leaf, body_slice
from mlir_fp8.lowering.rewriting.linalg_ops import indexing_maps


@dataclass(frozen=True)
class Contraction:
    """`out[outer, m, n] = sum over k of left[outer, m, k] * right[outer, k, n]`, in f32; or in i32,
    of operands that are bytes.

    Dimensions index `sizes` and the strides of every `Leaf`. One operand may be broadcast along an
    outer dimension (stride 0).
    """

    sizes: tuple[int, ...]
    outer: tuple[int, ...]
    m: int
    n: int
    k: int
    left: Expression
    right: Expression
    out: Leaf
    fill: ir.Operation
    """The zero fill of the result, which the kernels make redundant."""
    in_f32: bool = False
    """Whether numbers are multiplied as f32 whatever they are."""

    @property
    def is_integer(self) -> bool:
        """Whether bytes are multiplied, and sums are i32, which wrap."""
        return self.out.element == "i32"

    def swapped(self) -> "Contraction":
        return replace(self, m=self.n, n=self.m, left=self.right, right=self.left)


def contraction(op: ir.Operation, order: BlockOrder, *, panels: bool = False) -> Contraction | None:
    """`op` as a contraction with a zero init; None for any other op.

    With `panels`, what is copied from panels is read there, see `panel_leaf`.
    """
    if op.name != "linalg.generic" or len(op.results) or result_count(op) != 1:
        return None
    block = op.regions[0].blocks[0]
    total = list(block.arguments)[-1]
    is_integer = str(total.type) == "i32"
    is_summed = is_integer or isinstance(total.type, ir.F32Type)
    factors = factors_of(block, total) if is_summed else None
    if factors is None:
        return None
    maps = indexing_maps(op)
    if not all(map_.is_projected_permutation for map_ in maps):
        return None
    out = buffer_leaf(op.operands[len(maps) - 1], maps[-1])
    fill = None if out is None else zero_fill(op, order, out.buffer)
    if out is None or fill is None:
        return None
    left, right = (expression_of(factor, op, order, maps, panels=panels) for factor in factors)
    if left is None or right is None:
        return None
    if is_integer and None in (left.byte_extension, right.byte_extension):
        return None
    leaves = [*left.leaves, *right.leaves]
    if not all(are_distinct(leaf.buffer, out.buffer) for leaf in leaves):
        return None
    return _grouped(loop_sizes(op, maps), left, right, out, fill)


def result_count(op: ir.Operation) -> int:
    return ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[1]


def factors_of(block: ir.Block, total: ir.Value) -> list[ir.Value] | None:
    """The factors of a multiply-add body that accumulates into `total`; None for other bodies."""
    yielded = list(block.operations)[-1].operation.operands[0]
    letter = "i" if isinstance(total.type, ir.IntegerType) else "f"
    addition = _made_by(f"arith.add{letter}", yielded)
    if addition is None or len(list(total.uses)) != 1:
        return None
    terms = [term for term in addition.operands if term != total]
    product = _made_by(f"arith.mul{letter}", terms[0]) if len(terms) == 1 else None
    return None if product is None else list(product.operands)


def _made_by(name: str, value: ir.Value) -> ir.Operation | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != name:
        return None
    return value.owner.operation


def loop_sizes(op: ir.Operation, maps: list[ir.AffineMap]) -> list[int]:
    """The trip count of each loop of a linalg op on buffers of static shape."""
    sizes = [1] * maps[0].n_dims
    for value, map_ in zip(op.operands, maps, strict=True):
        if not isinstance(value.type, ir.MemRefType):
            continue
        for result, size in zip(map_.results, value.type.shape, strict=True):
            if isinstance(result, ir.AffineDimExpr):
                sizes[result.position] = size
    return sizes


def expression_of(
    root: ir.Value,
    op: ir.Operation,
    order: BlockOrder,
    maps: list[ir.AffineMap],
    *,
    panels: bool = False,
) -> Expression | None:
    """`root`, of the body of `op`, with the fused producers of the buffers that it reads."""
    found = body_slice(root)
    arguments = list(op.regions[0].blocks[0].arguments)
    if found is None or not found[1] or arguments[-1] in found[1]:
        return None
    sources: dict[ir.Value, Leaf | ir.Value] = {}
    for argument in found[1]:
        number = arguments.index(argument)
        produced = producer_of(op, order, op.operands[number], maps[number], panels=panels)
        if produced is not None:
            sources[argument] = produced.root
            sources.update(produced.sources)
            continue
        leaf = panel_leaf(op.operands[number], maps[number], order, op, op) if panels else None
        leaf = leaf or operand_leaf(op.operands[number], maps[number])
        if leaf is None:
            return None
        sources[argument] = packed_leaf(leaf, order, op, op)
    return Expression(root, sources)


def _grouped(
    sizes: Sequence[int], left: Expression, right: Expression, out: Leaf, fill: ir.Operation
) -> Contraction | None:
    """Dimensions by role; those of one role are collapsed where every buffer has one stride."""
    if any(size == 0 for size in sizes):
        return None

    def reads(expression: Expression) -> set[int]:
        return {d for d in kept if any(leaf.strides[d] for leaf in expression.leaves)}

    kept = [d for d, size in enumerate(sizes) if size > 1]
    in_left, in_right, in_out = reads(left), reads(right), {d for d in kept if out.strides[d]}
    everything = (*left.leaves, *right.leaves, out)
    roles: dict[tuple[bool, bool, bool], list[int]] = {}
    for d in kept:
        roles.setdefault((d in in_left, d in in_right, d in in_out), []).append(d)
    expected = {
        (True, True, True): "batch", (True, False, True): "m", (False, True, True): "n",
        (True, True, False): "k",
    }  # fmt: skip
    if not set(roles) <= set(expected):
        return None
    merged: dict[str, list[int]] = {"batch": [], "m": [], "n": [], "k": []}
    new_sizes = [*sizes, 1, 1, 1]
    for role, members in roles.items():
        # By descending strides: of the result or, for reductions, of an operand.
        first = out if role[2] else left.leaves[0]
        members.sort(key=lambda d: -first.strides[d])
        group = merged[expected[role]]
        for d in members:
            last = group[-1] if group else None
            if last is not None and all(
                leaf.strides[last] == leaf.strides[d] * sizes[d]
                and leaf.group(last) == leaf.group(d) == 1
                for leaf in everything
            ):
                new_sizes[d] *= new_sizes[last]
                group[-1] = d
            else:
                group.append(d)
    if len(merged["k"]) > 1:
        return None
    chosen = {}
    for place, role in enumerate("mnk"):
        group = merged[role]
        best = max(
            group, key=lambda d: (out.strides[d] == 1, new_sizes[d]), default=len(sizes) + place
        )
        chosen[role] = best
        merged["batch"] += [d for d in group if d != best]
    if any(leaf.group(d) > 1 for leaf in everything for d in merged["batch"]):
        return None

    def extended(expression: Expression) -> Expression:
        return replace(
            expression,
            sources={
                key: _extended(value) if isinstance(value, Leaf) else value
                for key, value in expression.sources.items()
            },
        )

    return Contraction(
        tuple(new_sizes), tuple(merged["batch"]), chosen["m"], chosen["n"], chosen["k"],
        extended(left), extended(right), _extended(out), fill,
    )  # fmt: skip


def _extended(leaf: Leaf) -> Leaf:
    """Append three unit dimensions, which stand for m, n or k where an op lacks it."""
    groups = (*leaf.groups, 1, 1, 1) if leaf.groups else ()
    steps = (*leaf.steps, 0, 0, 0) if leaf.steps else ()
    return replace(leaf, strides=(*leaf.strides, 0, 0, 0), groups=groups, steps=steps)
