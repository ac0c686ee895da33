"""`outline-loops`: every outermost `scf.for` nest becomes a function; equal nests share one.

LLVM's loop analyses are quadratic in the loops of a function: a training step of 500 loop nests
compiles ten times faster as 500 functions. Parameters can also be marked `noalias`, which spares
vectorized loops their run-time alias checks, and lets threads share iterations.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from torch_mlir import ir
from torch_mlir.dialects import func, memref

from mlir_fp8.base.operations import clone_op, operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.loop_analysis.loop_annotations import Annotations, annotate_loops
from mlir_fp8.lowering.loop_analysis.parallel_loops import FRESH, PARALLEL, grain, has_own_origin
from mlir_fp8.lowering.rewriting.kernel_functions import is_kernel, symbols_of
from mlir_fp8.lowering.rewriting.stablehlo import names

# Cheap pure ops that are rematerialized in the function instead of passed.
_TAKEN_ALONG = names("arith", "constant") | names(
    "memref", "cast collapse_shape expand_shape get_global reinterpret_cast subview"
)
# Reshapes of contiguous buffers: passed as parameters, loops that differ in them alone are equal.
_RESHAPES = names("memref", "collapse_shape expand_shape")
_ENTERED = names("scf", "for if index_switch while")


@dataclass(frozen=True)
class OutlineLoops(ModulePass):
    """Outline the outermost `scf.for` ops of each function into private functions.

    Those in an `scf.while` or a branch too, and in an `scf.for` with results, which stays. With
    `parallel`, a big loop whose iterations are independent becomes a function of the first and the
    last iteration, whose attribute says how many are worth a thread; see `parallel-calls-to-llvm`.
    """

    parallel: bool = False

    def run(self, module: ir.Operation) -> None:
        outlined = _Outlined(module)
        # Loops of kernels are in their final form.
        functions = [
            op
            for op in (op.operation for op in module.regions[0].blocks[0])
            if op.name == "func.func" and not is_kernel(op)
        ]
        for function in functions:
            for loop in list(_outermost_loops(function)):
                _outline(module, loop, outlined, parallel=self.parallel)


def _outermost_loops(holder: ir.Operation) -> Iterator[ir.Operation]:
    for op in [op.operation for region in holder.regions for block in region for op in block]:
        if op.name == "scf.for" and not len(op.results):
            yield op
        elif op.name in _ENTERED:
            yield from _outermost_loops(op)


@dataclass(frozen=True)
class _Attributes:
    """The attributes of functions and their parameters, parsed once."""

    internal: ir.Attribute
    no_alias: ir.Attribute
    none: ir.Attribute
    loops: Annotations

    @classmethod
    def of(cls, context: ir.Context) -> Self:
        with context:
            internal = ir.Attribute.parse("#llvm.linkage<internal>")
            no_alias = ir.DictAttr.get({"llvm.noalias": ir.UnitAttr.get()})
            return cls(internal, no_alias, ir.DictAttr.get({}), Annotations.of(context))


class _Outlined:
    """The functions outlined so far, by their text."""

    def __init__(self, module: ir.Operation) -> None:
        self.attributes = _Attributes.of(module.context)
        self._taken = symbols_of(module)
        self._bodies: dict[str, str] = {}

    def new_name(self) -> str:
        number = len(self._bodies)
        while f"loops_{number}" in self._taken:
            number += 1
        return f"loops_{number}"

    def deduplicated(self, function: ir.Operation) -> str:
        """The name of the first function equal to `function`, which is dropped if it is another."""
        name = ir.StringAttr(function.attributes["sym_name"]).value
        # Verification is most of the time of printing.
        text = str(function.get_asm(use_local_scope=True, assume_verified=True))
        text = text.replace(f"@{name}(", "@(", 1)
        known = self._bodies.setdefault(text, name)
        if known == name:
            self._taken.add(name)
            annotate_loops(function, self.attributes.loops)
        else:
            function.erase()
        return known


def _outline(
    module: ir.Operation, loop: ir.Operation, outlined: _Outlined, *, parallel: bool
) -> None:
    taken, parameters, uses = _captures(loop, _RESHAPES)
    buffers = [_reshaped(value) for value in parameters]
    if len(set(buffers)) < len(buffers):
        taken, parameters, uses = _captures(loop, frozenset())
    if not all(map(_is_passed_bare, parameters)):
        return
    are_apart = all(map(has_own_origin, parameters))
    shared = grain(loop) if parallel and are_apart else None
    bounds = [] if shared is None else list(loop.operands)[:2]
    with ir.Location.unknown(module.context):
        function = func.FuncOp(
            outlined.new_name(),
            ir.FunctionType.get([value.type for value in (*parameters, *bounds)], []),
            visibility="private",
            ip=ir.InsertionPoint(module.regions[0].blocks[0]),
        )
        block = function.add_entry_block()
    mapping = dict(zip(parameters, block.arguments, strict=False))
    with ir.InsertionPoint(block), loop.location:
        for op in taken:
            if op.name in _TAKEN_ALONG:
                clone_op(op, mapping)
            else:
                mapping.update(zip(op.results, _empties(op), strict=True))
        returned = func.ReturnOp([])
    with ir.InsertionPoint(loop), loop.location:
        call = func.CallOp(
            [], ir.StringAttr(function.attributes["sym_name"]).value, [*parameters, *bounds]
        )
    loop.move_before(returned)
    for op, index, value in uses:
        op.operands[index] = mapping[value]
    _annotate(function.operation, [*parameters, *bounds], outlined.attributes, are_apart=are_apart)
    for index in range(len(bounds)):
        loop.operands[index] = block.arguments[len(parameters) + index]
    if shared is not None:
        function.attributes[PARALLEL] = ir.IntegerAttr.get(
            ir.IntegerType.get_signless(64, module.context), shared
        )
    name = outlined.deduplicated(function.operation)
    call.operation.attributes["callee"] = ir.FlatSymbolRefAttr.get(name, module.context)


def _captures(
    loop: ir.Operation, passed: frozenset[str]
) -> tuple[list[ir.Operation], list[ir.Value], list[tuple[ir.Operation, int, ir.Value]]]:
    """The live-ins of `loop`: ops to rematerialize, in order, values to pass, and their uses.

    Results of the ops `passed` are passed where they reshape a whole buffer.
    """
    ordered = operations(loop)
    inside = set(ordered)
    taken: dict[ir.Operation, None] = {}
    parameters: dict[ir.Value, None] = {}

    known: dict[ir.Value, bool] = {}

    def visit(value: ir.Value) -> bool:
        """Whether `value` is a live-in."""
        is_outside = known.get(value)
        if is_outside is None:
            is_outside = known[value] = new(value)
        return is_outside

    def new(value: ir.Value) -> bool:
        owner = value.owner
        if isinstance(owner, ir.Block):
            if owner.owner.operation in inside:
                return False
            parameters[value] = None
            return True
        owner = owner.operation
        if owner in inside:
            return False
        if owner in taken:
            return True
        is_passed = owner.name in passed and _is_whole_buffer(_reshaped(value))
        if (is_passed or owner.name not in _TAKEN_ALONG) and not _is_empty(value):
            parameters[value] = None
            return True
        for operand in owner.operands:
            visit(operand)
        taken[owner] = None
        return True

    uses = [
        (op, index, operand)
        for op in ordered
        for index, operand in enumerate(op.operands)
        if visit(operand)
    ]
    return list(taken), list(parameters), uses


def _reshaped(value: ir.Value) -> ir.Value:
    """The buffer that `value` reshapes."""
    while not isinstance(value.owner, ir.Block) and value.owner.name in _RESHAPES:
        value = value.owner.operands[0]
    return value


def _is_whole_buffer(value: ir.Value) -> bool:
    return isinstance(value.owner, ir.Block) or value.owner.name in FRESH


def _is_passed_bare(value: ir.Value) -> bool:
    """Whether the bare-pointer calling convention can pass `value`: a branch result may have any
    offset in a buffer."""
    return not isinstance(value.type, ir.MemRefType) or "?" not in str(value.type)


def _is_empty(value: ir.Value) -> bool:
    """Whether `value` is a buffer without elements, which the bare-pointer convention can't
    pass."""
    return isinstance(value.type, ir.MemRefType) and 0 in value.type.shape


def _empties(op: ir.Operation) -> list[ir.Value]:
    return [memref.alloca(result.type, [], []) for result in op.results]


def _annotate(
    function: ir.Operation, parameters: list[ir.Value], given: _Attributes, *, are_apart: bool
) -> None:
    """Internal, never inlined back, and `noalias` where every buffer has its own origin."""
    with function.context:
        function.attributes["llvm.no_inline"] = ir.UnitAttr.get()
        function.attributes["llvm.linkage"] = given.internal
        if not are_apart:
            return
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(
            [
                given.no_alias if isinstance(value.type, ir.MemRefType) else given.none
                for value in parameters
            ]
        )
