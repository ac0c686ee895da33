"""`stablehlo-lapack-to-calls`: JAX's `lapack_*_ffi` become calls of the Fortran routines.

The routines stay outside of the module, as functions of LLVM's that it only declares: see
python/compiling/native/lapack.py for who brings them.
"""

import math
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func, tensor

from mlir_fp8.base.context import symbol_name
from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.buffers import allocated, copied, tensor_of
from mlir_fp8.lowering.rewriting.kernel_functions import KernelFunctions, symbols_of
from mlir_fp8.lowering.rewriting.stablehlo import build
from mlir_fp8.lowering.stablehlo_to_linalg.lapack.arguments import Operand, Result, Routine, Tensor
from mlir_fp8.lowering.stablehlo_to_linalg.lapack.kernel import declarations, kernel_text
from mlir_fp8.lowering.stablehlo_to_linalg.lapack.packed_vectors import unpacked
from mlir_fp8.lowering.stablehlo_to_linalg.lapack.problem import Problem, checked_types
from mlir_fp8.lowering.stablehlo_to_linalg.lapack.routines import routine_of


@dataclass(frozen=True)
class StablehloLapackToCalls(ModulePass):
    """Replace `custom_call @lapack_*_ffi` by calls of LAPACK, one for each matrix of a batch.

    Operands and results are in memory as the layouts of the call say, which for JAX's are
    column-major. `info` is what the routine gives; where sizes are zero it is 0.
    """

    def run(self, module: ir.Operation) -> None:
        calls = operations(module, "stablehlo.custom_call")
        problems = [problem for problem in map(Problem.of, calls) if problem]
        if not problems:
            return
        routines = [routine_of(problem) for problem in problems]
        for problem, routine in zip(problems, routines, strict=True):
            _check(problem, routine)
        functions = KernelFunctions(symbols_of(module))
        declared: dict[str, ir.Location] = {}
        for problem, routine in zip(problems, routines, strict=True):
            for text in declarations(problem, routine):
                declared.setdefault(text, problem.op.location)
            with problem.op.location, ir.InsertionPoint(problem.op):
                results = _lower(problem, routine, functions)
            replace_op(problem.op, results)
        functions.texts += declared
        functions.add_to(module)
        _locate(module, declared)


def _locate(module: ir.Operation, declared: dict[str, ir.Location]) -> None:
    """A routine that cannot be linked is refused where it is first called."""
    for op in [each.operation for each in module.regions[0].blocks[0]]:
        for text, location in declared.items():
            if op.name == "llvm.func" and f"@{symbol_name(op)}(" in text:
                op.location = location


def _type(problem: Problem, tensor_: Tensor, *, given: bool) -> ir.Type:
    """Of all problems; `given` as the custom call has it, else as the routine does."""
    element = {"T": problem.element, "R": problem.real, "I": "i32", "P": problem.real}
    if given:
        element["P"] = f"complex<{problem.real}>"
    sizes = "x".join(map(str, (*problem.batch(), *tensor_.sizes, element[tensor_.kind])))
    return ir.Type.parse(f"tensor<{sizes}>", problem.op.context)


def _check(problem: Problem, routine: Routine) -> None:
    for side, values, tensors in (
        ("operand", list(problem.op.operands), routine.operands),
        ("result", list(problem.op.results), routine.results),
    ):
        wanted = [str(_type(problem, each, given=True)) for each in tensors]
        checked_types(problem, side, values, wanted)


def _lower(problem: Problem, routine: Routine, functions: KernelFunctions) -> list[ir.Value]:
    """The results of the call, after it at the insertion point."""
    types = [result.type for result in problem.op.results]
    if not problem.count():
        return [_without_elements(type_) for type_ in types]
    buffers: dict[Operand | Result, ir.Value] = {}
    for number, operand in enumerate(problem.op.operands):
        order = problem.order("operand", number, len(operand.type.shape))
        if math.prod(operand.type.shape):
            buffers[Operand(number)] = copied(_transposed(operand, order))
    orders = [problem.order("result", i, len(type_.shape)) for i, type_ in enumerate(types)]
    for number, (order, tensor_) in enumerate(zip(orders, routine.results, strict=True)):
        type_ = ir.RankedTensorType(_type(problem, tensor_, given=False))
        if math.prod(type_.shape) and number not in routine.in_place:
            buffers[Result(number)] = allocated(_permuted(type_, order))
    text = kernel_text(problem, routine, {key: str(buffer.type) for key, buffer in buffers.items()})
    name = functions.name_of(f"lapack_{problem.letter}{problem.routine}", text)
    func.CallOp([], name, list(buffers.values()))
    return [
        _result(problem, routine, buffers, number, order) for number, order in enumerate(orders)
    ]


def _result(
    problem: Problem,
    routine: Routine,
    buffers: dict[Operand | Result, ir.Value],
    number: int,
    order: list[int],
) -> ir.Value:
    key = Operand(routine.in_place[number]) if number in routine.in_place else Result(number)
    if key not in buffers:
        return _without_elements(problem.op.results[number].type)
    value = tensor_of(buffers[key])
    if routine.results[number].kind == "P":
        # Of real matrices: 0 and 1 are the parts of the eigenvalues.
        value = unpacked(tensor_of(buffers[Result(1)]), value)
    inverse = [order.index(dim) for dim in range(len(order))]
    return _transposed(value, inverse)


def _without_elements(type_: ir.Type) -> ir.Value:
    """A tensor without elements."""
    tensor_ = ir.RankedTensorType(type_)
    return tensor.empty(tensor_.shape, tensor_.element_type)


def _permuted(type_: ir.Type, order: list[int]) -> ir.RankedTensorType:
    tensor_ = ir.RankedTensorType(type_)
    return ir.RankedTensorType.get([tensor_.shape[dim] for dim in order], tensor_.element_type)


def _transposed(value: ir.Value, order: list[int]) -> ir.Value:
    if order == sorted(order):
        return value
    permutation = ir.DenseI64ArrayAttr.get(order)
    return build("transpose", _permuted(value.type, order), [value], {"permutation": permutation})
