"""`legalize-sizes-to-stablehlo`: sizes computed in other dialects are computed in StableHLO.

PyTorch's exports hold them: shape, tensor.dim, tensor.from_elements, arith on scalars, cf.assert.
StableHLO's own shape refinement then sees one dialect. Upstream's `shape-legalize-to-stablehlo`
has patterns for few of these ops.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import is_used, operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.frontend.sizes import arithmetic, shapes, tensors
from mlir_fp8.lowering.frontend.sizes.dynamic import is_dynamic
from mlir_fp8.lowering.rewriting.retype import element_type

Lowering = Callable[[ir.Operation, list[ir.Value]], ir.Value | None]
_LOWERINGS: dict[str, Lowering] = (
    dict.fromkeys(arithmetic.ARITHMETIC, arithmetic.lower)
    | dict.fromkeys(shapes.SHAPES, shapes.lower)
    | dict.fromkeys(tensors.TENSORS, tensors.lower)
)
_ASSUMING = "shape.assuming"
_SIZE_DIALECTS = ("shape.", "cf.assert")
_SIZE_OPS = frozenset({"tensor.cast", "tensor.dim", "tensor.rank"})
_PARENTS = ("func.", "stablehlo.", "shape.", "chlo.")


@dataclass(frozen=True)
class LegalizeSizesToStablehlo(ModulePass):
    """Legalize ops on sizes to StableHLO: of shape, and of tensor, arith, math and cf with them.

    Scalars become tensors of rank 0, index i64, witnesses `shape_assertion`s. In a module without
    dynamic shapes and such ops, arith stays as it is.
    """

    def run(self, module: ir.Operation) -> None:
        if not holds_sizes(operations(module)):
            return
        for op in operations(module, _ASSUMING, inner_first=True):
            _inline(op)
        legalize(module)


def holds_sizes(ops: list[ir.Operation]) -> bool:
    """Whether there is something to legalize among `ops`, those of a module."""
    candidates = [op for op in ops if is_candidate(op)]
    return any(map(_is_of_sizes, candidates)) or (bool(candidates) and any(map(is_dynamic, ops)))


def is_candidate(op: ir.Operation) -> bool:
    """Whether `op` is one that is legalized in modules of which `holds_sizes` is true."""
    return op.name in _LOWERINGS or op.name == _ASSUMING


def _is_of_sizes(op: ir.Operation) -> bool:
    return op.name.startswith(_SIZE_DIALECTS) or op.name in _SIZE_OPS


def _inline(op: ir.Operation) -> None:
    """Put the body of `shape.assuming` into its place: its witness is an assertion before it."""
    *body, terminator = op.regions[0].blocks[0].operations
    for each in body:
        each.operation.move_before(op)
    replace_op(op, terminator.operation.operands)


def legalize(module: ir.Operation) -> None:
    """Replace the ops of `_LOWERINGS` that stand among StableHLO's, in place."""
    values: dict[ir.Value, ir.Value] = {}
    witnesses: set[ir.Value] = set()
    replaced: list[ir.Operation] = []
    for op in operations(module):
        lowering = _LOWERINGS.get(op.name)
        if lowering is None or op.parent is None or not op.parent.name.startswith(_PARENTS):
            _use(op, values)
            continue
        operands = [_tensor(operand, values) for operand in op.operands if operand not in witnesses]
        known = [operand for operand in operands if operand is not None]
        if len(known) < len(operands):
            continue
        with op.context, ir.InsertionPoint(op), op.location:
            value = lowering(op, known)
        if value is not None:
            values[op.results[0]] = value
        elif shapes.gives_witness(op):
            witnesses.add(op.results[0])
        elif op.results:
            continue
        replaced.append(op)
    for op in reversed(replaced):
        if not any(map(is_used, op.results)):
            op.erase()


def _tensor(value: ir.Value, values: dict[ir.Value, ir.Value]) -> ir.Value | None:
    """What stands for `value`; itself where it is a tensor that StableHLO has."""
    if value in values:
        return values[value]
    is_tensor = isinstance(value.type, ir.RankedTensorType)
    return value if is_tensor and not isinstance(element_type(value.type), ir.IndexType) else None


def _use(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
    """Let `op` take what stands for its operands, where these are tensors."""
    for index, operand in enumerate(op.operands):
        if operand in values and isinstance(operand.type, ir.RankedTensorType):
            op.operands[index] = values[operand]
