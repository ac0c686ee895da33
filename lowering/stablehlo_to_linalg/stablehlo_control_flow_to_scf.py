"""`stablehlo.while`, `if` and `case` to scf.

`stablehlo-legalize-to-linalg` has no pattern for them. What their regions hold stays StableHLO, for
the passes after this one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf, tensor

from mlir_fp8.base.operations import operations, replace_op, terminator
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import names, renew_arguments, take_tuples_apart
from mlir_fp8.lowering.stablehlo_to_linalg._scalar_body import refuse_in_reduction

_LEFT_OVER = names("stablehlo", "after_all create_token tuple")
_IN_REDUCTION = "in the body of {} has no lowering: compute both sides and select"


@dataclass(frozen=True)
class StablehloControlFlowToScf(ModulePass):
    """Replace `while` by `scf.while`, `if` by `scf.if` and `case` by several of them.

    Rank-0 tensors are carried and yielded as scalars, other tensors as they are. An index of `case`
    that is out of range takes the last branch, as the StableHLO specification asks. Tokens, which
    only order ops that regions keep in order anyway, are not carried; tuples are taken apart.
    """

    def run(self, module: ir.Operation) -> None:
        take_tuples_apart(module)
        control_flow = operations(module, *_LOWERINGS, inner_first=True)
        for op in control_flow:
            refuse_in_reduction(op, _IN_REDUCTION)
        for op in control_flow:
            with op.location, ir.InsertionPoint(op):
                _LOWERINGS[op.name](op)
        for op in operations(module, *_LEFT_OVER, inner_first=True)[::-1]:
            if not any(len(list(value.uses)) for value in op.results):
                op.erase()


def _while(op: ir.Operation) -> None:
    kept = [place for place, value in enumerate(op.operands) if not _is_token(value)]
    inits = _to_scalars([op.operands[place] for place in kept])
    types = [value.type for value in inits]
    loop = ir.Operation.create("scf.while", types, inits, regions=2)
    for old, new in zip(op.regions, loop.regions, strict=True):
        block = old.blocks[0]
        block.append_to(new)
        renew_arguments(block, types, op.location, _from_scalar)
    condition, carried = loop.regions[0].blocks[0], loop.regions[1].blocks[0]
    returned = terminator(condition)
    with returned.location, ir.InsertionPoint(returned):
        scf.ConditionOp(_scalar(returned.operands[0]), list(condition.arguments))
    returned.erase()
    _yield(carried, kept)
    _replace_results(op, loop)


def _if(op: ir.Operation) -> None:
    kept, types = _kept_results(op)
    _replace_results(op, _branch(_scalar(op.operands[0]), list(op.regions), kept, types))


def _case(op: ir.Operation) -> None:
    """A binary search by `scf.if`: one-shot-bufferize does not know that results of
    `scf.index_switch` alias what its regions yield, and lets others overwrite them."""
    if len(op.regions) == 1:
        _inline(op, op.regions[0].blocks[0])
        return
    index = _scalar(op.operands[0])
    last = arith.constant(index.type, len(op.regions) - 1)
    # Unsigned: negative indices are large.
    known = arith.minui(index, last)
    _replace_results(op, _choice(known, list(op.regions), 0, *_kept_results(op)))


def _inline(op: ir.Operation, block: ir.Block) -> None:
    *body, returned = [each.operation for each in block.operations]
    for inner in body:
        inner.move_before(op)
    replace_op(op, returned.operands)


def _choice(
    index: ir.Value,
    regions: Sequence[ir.Region],
    first: int,
    kept: Sequence[int],
    types: Sequence[ir.Type],
) -> ir.Operation:
    """The region of two or more that `index` is the number of, counted from `first`."""
    half = len(regions) // 2
    limit = arith.constant(index.type, first + half)
    is_below = arith.cmpi(arith.CmpIPredicate.ult, index, limit)
    below, above = regions[:half], regions[half:]
    branch = ir.Operation.create("scf.if", types, [is_below], regions=2)
    for region, part, start in zip(
        branch.regions, (below, above), (first, first + half), strict=True
    ):
        if len(part) == 1:
            _move_branch(part[0], region, kept)
            continue
        block = region.blocks.append()
        with ir.InsertionPoint(block):
            scf.YieldOp(list(_choice(index, part, start, kept, types).results))
    return branch


def _kept_results(op: ir.Operation) -> tuple[list[int], list[ir.Type]]:
    """The results that are no tokens, and their types in scf."""
    kept = [place for place, value in enumerate(op.results) if not _is_token(value)]
    return kept, [_scalar_type(op.results[place].type) for place in kept]


def _branch(
    condition: ir.Value,
    regions: Sequence[ir.Region],
    kept: Sequence[int],
    types: Sequence[ir.Type],
) -> ir.Operation:
    branch = ir.Operation.create("scf.if", types, [condition], regions=len(regions))
    for old, new in zip(regions, branch.regions, strict=True):
        _move_branch(old, new, kept)
    return branch


def _move_branch(old: ir.Region, new: ir.Region, kept: Sequence[int]) -> None:
    block = old.blocks[0]
    block.append_to(new)
    _yield(block, kept)


def _yield(block: ir.Block, kept: Sequence[int]) -> None:
    returned = terminator(block)
    with returned.location, ir.InsertionPoint(returned):
        scf.YieldOp(_to_scalars([returned.operands[place] for place in kept]))
    returned.erase()


def _replace_results(op: ir.Operation, new: ir.Operation) -> None:
    results = iter(new.results)
    replace_op(op, [_from_scalar(result.type, results) for result in op.results])


def _is_token(value: ir.Value) -> bool:
    return str(value.type) == "!stablehlo.token"


def _scalar_type(type_: ir.Type) -> ir.Type:
    """The element type of a rank-0 tensor of plain numbers; any other type itself."""
    if not isinstance(type_, ir.RankedTensorType) or type_.rank:
        return type_
    element = type_.element_type
    plain = isinstance(element, ir.IntegerType | ir.FloatType | ir.ComplexType)
    return element if plain else type_


def _scalar(value: ir.Value) -> ir.Value:
    return value if _scalar_type(value.type) == value.type else tensor.extract(value, [])


def _to_scalars(values: Sequence[ir.Value]) -> list[ir.Value]:
    return [_scalar(value) for value in values]


def _from_scalar(type_: ir.Type, values: Iterator[ir.Value]) -> ir.Value:
    """A value of the type that StableHLO had: the next of `values`, or a new token."""
    if str(type_) == "!stablehlo.token":
        return ir.Operation.create("stablehlo.create_token", [type_]).results[0]
    value = next(values)
    return value if value.type == type_ else tensor.from_elements(type_, [value])


_LOWERINGS = {"stablehlo.case": _case, "stablehlo.if": _if, "stablehlo.while": _while}
