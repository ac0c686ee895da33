"""`linalg-tabulate-functions`: a function of one byte becomes a lookup table.

exp, tanh and the like have at most 256 results on an f8 array. A lookup takes a third of a
nanosecond; decoding, the function and encoding take four to twelve times as long. The results are
the same bits, as the same operations compute the table.
"""

import math
from dataclasses import dataclass, field

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from mlir_fp8.base.operations import clone_op, operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.loop_analysis.loop_annotations import is_expanded
from mlir_fp8.lowering.rewriting.linalg_ops import indexing_maps, yield_op
from mlir_fp8.lowering.rewriting.stablehlo import names

_CODES = 256
_LEAST_ELEMENTS = 32 * _CODES
"""Trip count from which a table pays."""
_PURE = ("arith.", "math.")
# The table covers codes that the array may not hold: a division by 0 would trap.
_TRAPPING = names("arith", "divsi divui remsi remui ceildivsi ceildivui floordivsi")


@dataclass(frozen=True)
class LinalgTabulateFunctions(ModulePass):
    """Replace functions of i8 in parallel `linalg.generic` ops by tables made at run time.

    On buffers: what depends on one i8 input and loop-invariant scalars alone, and has an op that
    `math-expand-in-f64` expands. Only in static loops of 8192 iterations and more, and for at most
    two live-outs of a body.
    """

    def run(self, module: ir.Operation) -> None:
        tables = _Tables()
        with module.context:
            for op in operations(module):
                if op.name == "linalg.generic" and _is_big_and_parallel(op):
                    parts = _parts(op)
                    kept = iter(tables.of(op, [v.type for part in parts for v in part.results]))
                    for part in parts:
                        _tabulate(op, part, [next(kept) for _ in part.results])


@dataclass
class _Part:
    """The ops of a body that depend on one i8 input."""

    code: ir.Value
    same: list[ir.Operation]
    """The loop-invariant ops of the body."""
    ops: list[ir.Operation] = field(default_factory=list)
    results: list[ir.Value] = field(default_factory=list)
    """Its live-outs."""

    def is_worth_it(self) -> bool:
        known = all(isinstance(v.type, ir.FloatType | ir.IntegerType) for v in self.results)
        return known and 0 < len(self.results) <= 2 and any(map(is_expanded, self.ops))


def _is_big_and_parallel(op: ir.Operation) -> bool:
    if len(op.results) or "reduction" in str(op.attributes["iterator_types"]):
        return False
    types = [value.type for value in op.operands if isinstance(value.type, ir.MemRefType)]
    is_static = all(type_.has_static_shape for type_ in types)
    return is_static and math.prod(op.operands[len(op.operands) - 1].type.shape) >= _LEAST_ELEMENTS


def _parts(op: ir.Operation) -> list[_Part]:
    block = op.regions[0].blocks[0]
    i8 = ir.IntegerType.get_signless(8)
    varying = [argument for argument in block.arguments if not _is_scalar(op, argument)]
    same: list[ir.Operation] = []
    parts = {code: _Part(code, same) for code in _inputs(op) if code in varying and code.type == i8}
    if not parts:
        return []
    sources: dict[ir.Value, frozenset[ir.Value]] = {each: frozenset([each]) for each in varying}
    body = [inner.operation for inner in block.operations]
    for inner in body:
        found = [sources.get(value, frozenset()) for value in inner.operands]
        source = frozenset().union(*found)
        is_pure = inner.name.startswith(_PURE) and inner.name not in _TRAPPING
        for result in inner.results:
            sources[result] = source if is_pure else frozenset([result])
        part = parts.get(next(iter(source))) if is_pure and len(source) == 1 else None
        if part is not None:
            part.ops.append(inner)
        elif is_pure and not source:
            same.append(inner)
    for part in parts.values():
        own = set(part.ops)
        part.results = [
            result
            for each in part.ops
            for result in each.results
            if any(use.owner.operation not in own for use in result.uses)
        ]
    return [part for part in parts.values() if part.is_worth_it()]


def _inputs(op: ir.Operation) -> list[ir.BlockArgument]:
    count = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    return list(op.regions[0].blocks[0].arguments)[:count]


def _is_scalar(op: ir.Operation, argument: ir.BlockArgument) -> bool:
    """Whether `argument` is a loop-invariant input."""
    is_input = argument.arg_number < len(_inputs(op))
    return is_input and not len(indexing_maps(op)[argument.arg_number].results)


class _Tables:
    """The tables of a module, reused by the ops of a function, which run one after the other."""

    def __init__(self) -> None:
        self._made: dict[ir.Block, dict[ir.Type, list[ir.Value]]] = {}

    def of(self, op: ir.Operation, types: list[ir.Type]) -> list[ir.Value]:
        """A table for each of `types`, allocated in the entry block, outside of all loops."""
        made = self._made.setdefault(_entry_block(op), {})
        taken: list[ir.Value] = []
        for type_ in types:
            free = [table for table in made.setdefault(type_, []) if table not in taken]
            if not free:
                with ir.InsertionPoint.at_block_begin(_entry_block(op)), op.location:
                    free = [memref.alloca(ir.MemRefType.get([_CODES], type_), [], [])]
                made[type_] += free
            taken.append(free[0])
        return taken


def _tabulate(op: ir.Operation, part: _Part, tables: list[ir.Value]) -> None:
    with ir.InsertionPoint(op), op.location:
        _fill(op, part, tables)
    with ir.InsertionPoint(part.ops[0]), op.location:
        wide = arith.extui(ir.IntegerType.get_signless(32), part.code)
        index = arith.index_cast(ir.IndexType.get(), wide)
        loaded = [memref.load(table, [index]) for table in tables]
    for result, value in zip(part.results, loaded, strict=True):
        result.replace_all_uses_with(value)
    for each in reversed(part.ops):
        each.erase()


def _entry_block(op: ir.Operation) -> ir.Block:
    holder = op
    while holder.name != "func.func":
        assert holder.parent is not None
        holder = holder.parent.operation
    return holder.regions[0].blocks[0]


def _fill(op: ir.Operation, part: _Part, tables: list[ir.Value]) -> None:
    scalars = [argument for argument in _inputs(op) if _is_scalar(op, argument)]
    inputs = [op.operands[argument.arg_number] for argument in scalars]
    maps = [ir.AffineMap.get(1, 0, [])] * len(inputs)
    maps += [ir.AffineMap.get_identity(1)] * len(tables)
    table_op = ir.Operation.create(
        "linalg.generic",
        operands=[*inputs, *tables],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps]),
            "iterator_types": ir.ArrayAttr.get(
                [ir.Attribute.parse("#linalg.iterator_type<parallel>")]
            ),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(inputs), len(tables)]),
        },
        regions=1,
    )
    types = [argument.type for argument in scalars] + [value.type for value in part.results]
    block = table_op.regions[0].blocks.append(*types)
    with ir.InsertionPoint(block):
        first = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)
        index = ir.IndexType.get()
        counter = ir.Operation.create("linalg.index", [index], attributes={"dim": first})
        mapping: dict[ir.Value, ir.Value] = dict(zip(scalars, block.arguments, strict=False))
        mapping[part.code] = arith.index_cast(part.code.type, counter.results[0])
        for each in [*part.same, *part.ops]:
            clone_op(each, mapping)
        yield_op([mapping[value] for value in part.results])
