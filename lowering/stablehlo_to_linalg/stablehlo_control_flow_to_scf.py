"""`stablehlo.while`, `if` and `case` to scf.

`stablehlo-legalize-to-linalg` has no pattern for them. What their regions hold stays StableHLO, for
the passes after this one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf, tensor

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import names

_CONTROL_FLOW = names("stablehlo", "case if while")
_LEFT_OVER = names("stablehlo", "after_all create_token tuple")
_REDUCTIONS = names("stablehlo", "reduce reduce_window select_and_scatter")


@dataclass(frozen=True)
class StablehloControlFlowToScf(ModulePass):
    """Replace `while` by `scf.while`, `if` by `scf.if` and `case` by several of them.

    Rank-0 tensors are carried and yielded as scalars, other tensors as they are. An index of `case`
    that is out of range takes the last branch, as the StableHLO specification asks. Tokens, which
    only order ops that regions keep in order anyway, are not carried; tuples are taken apart.
    """

    def run(self, module: ir.Operation) -> None:
        for op in _named(module, names("stablehlo", "get_tuple_element")):
            _take_apart(op)
        control_flow = _named(module, _CONTROL_FLOW)
        for op in control_flow:
            _refuse_in_reduction(op)
        for op in control_flow:
            with op.location, ir.InsertionPoint(op):
                _LOWERINGS[op.name](op)
        for op in _named(module, _LEFT_OVER)[::-1]:
            if not any(len(list(value.uses)) for value in op.results):
                op.erase()


def _named(module: ir.Operation, wanted: frozenset[str]) -> list[ir.Operation]:
    return [op for op in operations(module, inner_first=True) if op.name in wanted]


def _refuse_in_reduction(op: ir.Operation) -> None:
    """The body of a reduction becomes the body of one linalg op, which takes scalar ops only."""
    parent = op.block.owner.operation
    while parent.name != "func.func":
        if parent.name in _REDUCTIONS:
            raise op_error(
                op,
                f"in the body of {parent.name} has no lowering: compute both sides and select",
            )
        parent = parent.block.owner.operation


def _take_apart(op: ir.Operation) -> None:
    made = op.operands[0].owner
    if isinstance(made, ir.Block) or made.name != "stablehlo.tuple":
        return
    index = ir.IntegerAttr(op.attributes["index"]).value
    op.results[0].replace_all_uses_with(made.operands[index])
    op.erase()


def _while(op: ir.Operation) -> None:
    kept = [place for place, value in enumerate(op.operands) if not _is_token(value)]
    inits = _to_scalars([op.operands[place] for place in kept])
    types = [value.type for value in inits]
    loop = ir.Operation.create("scf.while", types, inits, regions=2)
    for old, new in zip(op.regions, loop.regions, strict=True):
        block = old.blocks[0]
        block.append_to(new)
        _retype_arguments(block, types, op.location)
    condition, carried = loop.regions[0].blocks[0], loop.regions[1].blocks[0]
    returned = _terminator(condition)
    with returned.location, ir.InsertionPoint(returned):
        scf.ConditionOp(_scalar(returned.operands[0]), list(condition.arguments))
    returned.erase()
    _yield(carried, kept)
    _replace_results(op, loop)


def _retype_arguments(block: ir.Block, types: Sequence[ir.Type], location: ir.Location) -> None:
    """Replace the arguments of `block`, tokens aside, by arguments of `types`."""
    old = list(block.arguments)
    new = iter([block.add_argument(type_, location) for type_ in types])
    with ir.InsertionPoint.at_block_begin(block):
        for argument in old:
            argument.replace_all_uses_with(_from_scalar(argument.type, new))
    for _ in old:
        block.erase_argument(0)


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
    for result, value in zip(op.results, returned.operands, strict=True):
        result.replace_all_uses_with(value)
    op.erase()


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
    returned = _terminator(block)
    with returned.location, ir.InsertionPoint(returned):
        scf.YieldOp(_to_scalars([returned.operands[place] for place in kept]))
    returned.erase()


def _replace_results(op: ir.Operation, new: ir.Operation) -> None:
    results = iter(new.results)
    for result in op.results:
        result.replace_all_uses_with(_from_scalar(result.type, results))
    op.erase()


def _terminator(block: ir.Block) -> ir.Operation:
    return list(block.operations)[-1].operation


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
