"""Sizes that a module leaves open (`?`), made static for arguments of known shapes."""

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir

from mlir_fp8.context import mlir_error, op_error
from mlir_fp8.execution import copy_of, entry_function, isolate_entry
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.pipelines import small_floats_as_codes

_REFINABLE = (
    "composite-to-fp8",
    "fp8-legalize-to-stablehlo",
    "func.func(stablehlo-legalize-composite-to-call)",
)
"""StableHLO's refinement goes through calls, not through composites and ops of other dialects."""


def takes_open_sizes(module: ir.Module, entry: str) -> bool:
    """Whether the function `entry` takes tensors with sizes that are not declared."""
    return any(
        isinstance(type_, ir.RankedTensorType) and not type_.has_static_shape
        for type_ in _argument_types(entry_function(module, entry))
    )


def with_shapes(
    module: ir.Module, entry: str, shapes: Sequence[Any], *, saturate: bool = False
) -> ir.Module:
    """A copy of `module` whose function `entry` takes arguments of `shapes` (or of arrays' shapes).

    `saturate` is that of the compilation to come: upstream's passes fold on the way.
    What follows from them is static in it, too. Raises `Fp8Error` where a shape does not fit the
    declared type, and where what the module says of shapes is then wrong.
    """
    from mlir_fp8.lowering._retype import operations
    from mlir_fp8.lowering.stablehlo_refine_dynamism import refine, refuse_dynamic

    module = copy_of(module)
    with module.context, ir.Location.unknown():
        function = entry_function(module, entry)
        types = _argument_types(function)
        if len(shapes) != len(types):
            reason = f"takes {len(types)} arguments, {len(shapes)} shapes were given"
            raise op_error(function, reason)
        refined = [
            _refined(function, index, type_, tuple(getattr(shape, "shape", shape)))
            for index, (type_, shape) in enumerate(zip(types, shapes, strict=True))
        ]
        isolate_entry(module, function)
        run_pipeline(module, ["symbol-dce", small_floats_as_codes(saturate=saturate), *_REFINABLE])
        try:
            refine(module.operation, refined)
        except ir.MLIRError as error:
            raise mlir_error(error, "<module>") from None
        for op in operations(function):
            refuse_dynamic(op)
    return module


def _refined(function: ir.Operation, index: int, type_: ir.Type, shape: Sequence[int]) -> ir.Type:
    what = f"argument {index} is {type_}"
    if not isinstance(type_, ir.RankedTensorType):
        raise op_error(function, f"{what}: only ranked tensors have a shape to give")
    if type_.encoding is not None:
        raise op_error(function, f"{what}: only dense, unbounded tensors can be run")
    sizes = [None if type_.is_dynamic_dim(i) else type_.shape[i] for i in range(type_.rank)]
    fits = len(sizes) == len(shape) and all(
        size in (None, given) for size, given in zip(sizes, shape, strict=True)
    )
    if not fits:
        raise op_error(function, f"{what}, not of the given shape {list(shape)}")
    return ir.RankedTensorType.get(shape, type_.element_type)


def _argument_types(function: ir.Operation) -> list[ir.Type]:
    return list(ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs)
