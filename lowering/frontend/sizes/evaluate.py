"""Constant folding of sizes through ops that upstream's refinement does not evaluate.

That folds integers only, while PyTorch computes the size of an `arange` in f64. StableHLO's
reference interpreter evaluates the rest: one run for all such sizes.
"""

from torch_mlir import ir
from torch_mlir.dialects import func

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import clone_op, operations
from mlir_fp8.interpreter.dense_values import dense
from mlir_fp8.interpreter.run import evaluate
from mlir_fp8.lowering.frontend.sizes.dynamic import size_operands
from mlir_fp8.lowering.rewriting.stablehlo import build, has_static_shape, names

_MOST_SECONDS = 60.0
_OF_NO_CONSTANT = names(
    "stablehlo", "custom_call infeed partition_id recv replica_id rng rng_bit_generator"
)


def evaluate_sizes(module: ir.Operation) -> bool:
    """Replace operands that determine sizes by constants; whether any were."""
    ops = operations(module)
    is_closed: dict[ir.Value, bool] = {}
    uses = [
        (op, index)
        for op in ops
        for index in size_operands(op)
        if not _is_constant(op.operands[index]) and follows(op.operands[index], is_closed)
    ]
    if not uses:
        return False
    values = list(dict.fromkeys(op.operands[index] for op, index in uses))
    try:
        constants = dict(zip(values, evaluated(ops, values), strict=True))
    except Fp8Error:  # what the interpreter does not know: the caller refuses what stays dynamic
        return False
    for op, index in uses:
        value = op.operands[index]
        with module.context, ir.InsertionPoint(op), op.location:
            op.operands[index] = build("constant", value.type, [], {"value": constants[value]})
    return True


def _is_constant(value: ir.Value) -> bool:
    return isinstance(value, ir.OpResult) and value.owner.name == "stablehlo.constant"


def follows(value: ir.Value, is_closed: dict[ir.Value, bool]) -> bool:
    """Whether `value` depends on nothing but constants."""
    stack = [value]
    while stack:
        last = stack[-1]
        if last not in is_closed and isinstance(last, ir.OpResult):
            pending = [each for each in _inputs(last.owner) if each not in is_closed]
            if _is_evaluable(last.owner) and pending:
                stack += pending
                continue
        if last not in is_closed:
            is_closed[last] = (
                isinstance(last, ir.OpResult)
                and _is_evaluable(last.owner)
                and all(is_closed[each] for each in _inputs(last.owner))
            )
        stack.pop()
    return is_closed[value]


def _is_evaluable(op: ir.Operation | ir.OpView) -> bool:
    ops = operations(op.operation)
    return all(
        each.name.startswith("stablehlo.") and each.name not in _OF_NO_CONSTANT for each in ops
    ) and all(has_static_shape(result) for each in ops for result in each.results)


def _inputs(op: ir.Operation | ir.OpView) -> list[ir.Value]:
    """What `op` and its regions take from outside."""
    if not op.regions:
        return list(op.operands)
    ops = operations(op.operation)
    inside = {result for each in ops[1:] for result in each.results}
    inside |= {
        argument
        for each in ops
        for region in each.regions
        for block in region
        for argument in block.arguments
    }
    return [operand for each in ops for operand in each.operands if operand not in inside]


def evaluated(ops: list[ir.Operation], values: list[ir.Value]) -> list[ir.Attribute]:
    needed: set[ir.Value] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        if value not in needed:
            owner = ir.OpResult(value).owner
            needed.update(owner.operation.results)
            stack += _inputs(owner)
    context = values[0].context
    with context, ir.Location.unknown():
        module = ir.Module.create()
        results = [value.type for value in values]
        with ir.InsertionPoint(module.body):
            function = func.FuncOp("main", ir.FunctionType.get([], results))
        block = function.add_entry_block()
        copies: dict[ir.Value, ir.Value] = {}
        for op in ops:
            if op.results and op.results[0] in needed and op.results[0] not in copies:
                clone_op(op, copies, ir.InsertionPoint(block))
        with ir.InsertionPoint(block):
            func.ReturnOp([copies[value] for value in values])
        evaluation = evaluate(module, lambda _: [], seconds=_MOST_SECONDS)
        return [dense(each.array, each.spec.element, context) for each in evaluation.results]
