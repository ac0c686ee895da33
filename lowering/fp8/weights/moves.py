"""How the scale of a tensor follows ops that move its elements.

`blocks_after` decides, `moved` builds: the same op on the codes, and on the scale what gives each
element at its new place the scale that it had.
"""

from collections.abc import Sequence
from dataclasses import replace

from torch_mlir import ir

from mlir_fp8.base.shardings import read_sharding
from mlir_fp8.lowering.fp8.ops.scaling import with_shape
from mlir_fp8.lowering.fp8.weights.gathers import gather_blocks, gathered_scale
from mlir_fp8.lowering.fp8.weights.layouts import Blocks, scale_shape
from mlir_fp8.lowering.fp8.weights.scaled import Scaled
from mlir_fp8.lowering.rewriting.shardings import constrain, is_constraint, leaves_dims_open
from mlir_fp8.lowering.rewriting.stablehlo import build, element_type, has_static_shape, names

FOLLOWED = names(
    "stablehlo",
    "broadcast_in_dim convert dynamic_slice gather optimization_barrier reshape reverse slice"
    " transpose",
)
_SAME = names("stablehlo", "convert optimization_barrier")
_WIDE = ("f32", "f64", "bf16", "f16")


def moved_result(op: ir.Operation, number: int) -> ir.Value | None:
    """What `op` makes of its operand `number`, if it only moves or converts that."""
    if is_constraint(op):
        return op.results[0]
    if op.name not in FOLLOWED or not all(map(has_static_shape, (*op.operands, *op.results))):
        return None
    if op.name == "stablehlo.optimization_barrier":
        return op.results[0] if len(op.operands) == 1 else None
    is_wide = str(element_type(op.results[0])) in _WIDE
    return op.results[0] if number == 0 and is_wide else None


def blocks_after(op: ir.Operation, number: int, blocks: Blocks) -> Blocks | None:
    """The blocks of what `op` makes of its operand `number`; None where scales cannot follow."""
    if moved_result(op, number) is None:
        return None
    if op.name in _SAME or is_constraint(op):
        return blocks
    if op.name == "stablehlo.gather":
        return gather_blocks(op, blocks)
    before, after = _shape(op.operands[0]), _shape(op.results[0])
    if op.name == "stablehlo.transpose":
        order = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
        return tuple(blocks[dim] for dim in order)
    if op.name == "stablehlo.broadcast_in_dim":
        places = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
        kept = {at: dim for dim, at in enumerate(places) if before[dim] == after[at]}
        return tuple(blocks[kept[at]] if at in kept else 0 for at in range(len(after)))
    if op.name == "stablehlo.reshape":
        return _reshaped(before, after, blocks)
    changed = [a != b for a, b in zip(before, after, strict=True)]
    if op.name == "stablehlo.reverse":
        reversed_ = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
        changed = [dim in reversed_ for dim in range(len(before))]
    moves = zip(changed, blocks, strict=True)
    return None if any(is_changed and block > 1 for is_changed, block in moves) else blocks


def moved(op: ir.Operation, number: int, scaled: Scaled) -> Scaled | None:
    """What `op` makes of its operand `number`, built right after `op`; None as `blocks_after`."""
    blocks = blocks_after(op, number, scaled.blocks)
    if blocks is None or op.name in _SAME:
        return None if blocks is None else replace(scaled, blocks=blocks)
    if is_constraint(op):
        return _constrained(op, scaled)
    result = ir.RankedTensorType(op.results[0].type)
    codes = with_shape(scaled.codes, result.shape)
    with ir.InsertionPoint.after(op), op.location:
        scale = scaled.scale
        if ir.RankedTensorType(scale.type).rank:
            scale = _scale(op, scaled, blocks)
        name = op.name.removeprefix("stablehlo.")
        others = list(op.operands)[1:]
        value = build(name, codes, [scaled.codes, *others], _attributes(op))
        factor = _factor(op, number, scaled)
        return replace(scaled, codes=value, scale=scale, blocks=blocks, factor=factor)


def _factor(op: ir.Operation, number: int, scaled: Scaled) -> ir.Value | None:
    """`scaled.factor` after `op`, which keeps apart what has a number of its own."""
    if scaled.factor is None or not ir.RankedTensorType(scaled.factor.type).rank:
        return scaled.factor
    blocks = tuple(int(size > 1) for size in _shape(scaled.factor))
    after = blocks_after(op, number, blocks)
    assert after is not None  # `numbers_apart` has seen to that
    return _scale(op, replace(scaled, scale=scaled.factor, blocks=blocks), after)


def _constrained(op: ir.Operation, scaled: Scaled) -> Scaled:
    """Codes under the sharding that `op` names; scales of their own as the dimensions they have."""
    sharding = read_sharding(op.attributes)
    assert sharding is not None
    with ir.InsertionPoint.after(op), op.location:
        codes = build("custom_call", scaled.codes.type, [scaled.codes], _attributes(op))
        scale = scaled.scale
        if ir.RankedTensorType(scale.type).rank and not leaves_dims_open(op):
            sizes = zip(_shape(scale), _shape(codes), strict=True)
            scale = constrain(scale, sharding.along([a == b for a, b in sizes]))
    return replace(scaled, codes=codes, scale=scale)


def _scale(op: ir.Operation, scaled: Scaled, blocks: Blocks) -> ir.Value:
    """`scaled.scale`, which has the rank of the codes, after `op`."""
    scale, name = scaled.scale, op.name.removeprefix("stablehlo.")
    sizes = scale_shape(_shape(op.results[0]), blocks) or [1] * len(blocks)
    type_ = with_shape(scale, sizes)
    attributes = _attributes(op)
    whole = [not block for block in scaled.blocks]
    if name == "gather":
        return gathered_scale(op, scale, scaled.blocks, type_)
    if name == "broadcast_in_dim":
        # Dimensions of one block stay of size 1, where the codes have become more.
        return build(name, type_, [scale], attributes)
    if name == "reverse":
        dims = [dim for dim in ir.DenseI64ArrayAttr(op.attributes["dimensions"]) if not whole[dim]]
        return build(name, type_, [scale], {"dimensions": ir.DenseI64ArrayAttr.get(dims)})
    if name == "slice":
        for key, start in (("start_indices", 0), ("limit_indices", None), ("strides", 1)):
            given = list(ir.DenseI64ArrayAttr(op.attributes[key]))
            kept = [
                each if block == 1 else (size if start is None else start)
                for each, block, size in zip(given, scaled.blocks, _shape(scale), strict=True)
            ]
            attributes[key] = ir.DenseI64ArrayAttr.get(kept)
        return build(name, type_, [scale], attributes)
    if name == "dynamic_slice":
        attributes["slice_sizes"] = ir.DenseI64ArrayAttr.get(sizes)
        return build(name, type_, [scale, *list(op.operands)[1:]], attributes)
    return build(name, type_, [scale], attributes)


def _attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    return {name: op.attributes[name] for name in op.attributes}


def _shape(value: ir.Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)


def _reshaped(before: Sequence[int], after: Sequence[int], blocks: Blocks) -> Blocks | None:
    """The blocks after a reshape: dimensions of one kind of block split and merge."""
    if 0 in before:
        return (0,) * len(after) if not any(blocks) else None
    found = [0] * len(after)
    i = j = 0
    while i < len(before) or j < len(after):
        first_i, first_j = i, j
        size_i = size_j = 1
        while size_i != size_j or (i, j) == (first_i, first_j):
            if size_i <= size_j and i < len(before):
                size_i, i = size_i * before[i], i + 1
            elif j < len(after):
                size_j, j = size_j * after[j], j + 1
            else:
                break
        sizes = [(before[d], blocks[d]) for d in range(first_i, i) if before[d] > 1]
        own = [(size, block if block < size else 0) for size, block in sizes]
        new = [d for d in range(first_j, j) if after[d] > 1]
        made = _regrouped(own, [after[d] for d in new])
        if made is None:
            return None
        for dim, block in zip(new, made, strict=True):
            found[dim] = block
    return tuple(found)


def _regrouped(own: list[tuple[int, int]], new: list[int]) -> list[int] | None:
    """The blocks of dimensions of sizes `new` that have the elements of `own`, sizes and blocks."""
    if len({block for _, block in own}) <= 1 and all(block <= 1 for _, block in own):
        return [own[0][1] if own else 0] * len(new)
    if len(own) == 1 and len(new) == 1:
        return [own[0][1]]
    # The inner of several dimensions has whole blocks, of the others each element its own.
    *outer, (size, block) = own
    inner = new[-1] if len(own) == 1 else size
    if len(own) > 1 and len(new) == 1:
        block = block or size  # a whole inner dimension is a block of the new one
    if block and inner % block == 0 and all(each == 1 for _, each in outer):
        if len(own) == 1:
            return [*([1] * (len(new) - 1)), block]
        if len(new) == 1:
            return [block]
    return None
