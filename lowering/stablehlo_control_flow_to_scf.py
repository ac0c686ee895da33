"""`stablehlo.while`, `if` and `case` to scf.

`stablehlo-legalize-to-linalg` has no pattern for them. What their regions hold stays StableHLO, for
the passes after this one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf, tensor

from mlir_fp8.context import op_error
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering._retype import operations
from mlir_fp8.lowering._stablehlo import names

_CONTROL_FLOW = names("stablehlo", "case if while")
_LEFT_OVER = names("stablehlo", "after_all create_token tuple")
_REDUCTIONS = names("stablehlo", "reduce reduce_window select_and_scatter")


@dataclass(frozen=True)
class StablehloControlFlowToScf(ModulePass):
    """Replace `while` by `scf.while`, `if` by `scf.if` and `case` by `scf.index_switch`.

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
    """The body of a reduction becomes that of one linalg op, which holds scalar ops alone."""
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
    """Give `block` arguments of `types` in the place of those it has, tokens aside."""
    old = list(block.arguments)
    new = iter([block.add_argument(type_, location) for type_ in types])
    with ir.InsertionPoint.at_block_begin(block):
        for argument in old:
            argument.replace_all_uses_with(_from_scalar(argument.type, new))
    for _ in old:
        block.erase_argument(0)


def _if(op: ir.Operation) -> None:
    _branches(op, "scf.if", _scalar(op.operands[0]), list(op.regions), {})


def _case(op: ir.Operation) -> None:
    index = arith.index_cast(ir.IndexType.get(), _scalar(op.operands[0]))
    *cases, last = op.regions
    numbers = ir.DenseI64ArrayAttr.get(list(range(len(cases))))
    _branches(op, "scf.index_switch", index, [last, *cases], {"cases": numbers})


def _branches(
    op: ir.Operation,
    name: str,
    selector: ir.Value,
    regions: Sequence[ir.Region],
    attributes: dict[str, ir.Attribute],
) -> None:
    kept = [place for place, value in enumerate(op.results) if not _is_token(value)]
    types = [_scalar_type(op.results[place].type) for place in kept]
    branch = ir.Operation.create(
        name, types, [selector], attributes=attributes, regions=len(regions)
    )
    for old, new in zip(regions, branch.regions, strict=True):
        block = old.blocks[0]
        block.append_to(new)
        _yield(block, kept)
    _replace_results(op, branch)


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
