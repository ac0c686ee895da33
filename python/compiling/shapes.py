"""Dynamic shapes (`?`) made static for arguments of known shapes."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.context import mlir_error, op_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import function_type
from mlir_fp8.compiling.entry import copy_of, entry_function, isolate_entry
from mlir_fp8.lowering.frontend.stablehlo_flatten_signatures import flattened
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.pipelines import small_floats_as_codes
from mlir_fp8.tensors.foreign import declared_shape

_REFINABLE = (
    "quant-legalize-to-fp8",
    "composite-to-ragged-dot",
    "composite-to-fp8",
    "fp8-legalize-to-stablehlo",
    "verify-convertible",
    "func.func(stablehlo-legalize-composite-to-call)",
    "legalize-sizes-to-stablehlo",
    "inline",
    "symbol-dce",
    "stablehlo-flatten-signatures",
    "legalize-sizes-to-stablehlo",  # what calls took as scalars
)
"""StableHLO's refinement goes neither through ops of other dialects nor through composites, and
through calls of a function with the same sizes alone."""


_LARGEST = 2**31 - 1


def takes_open_sizes(module: ir.Module, entry: str) -> bool:
    """Whether the function `entry` takes tensors of dynamic shape."""
    return any(map(_is_open, flattened(_argument_types(entry_function(module, entry)))))


def leaves_sizes_open(function: ir.Operation) -> bool:
    """Whether `function` takes or gives tensors with sizes that are not declared."""
    type_ = function_type(function)
    return any(map(_is_open, flattened([*type_.inputs, *type_.results])))


def _is_open(type_: ir.Type) -> bool:
    if not isinstance(type_, ir.RankedTensorType):
        return False
    return type_.encoding is None and not type_.has_static_shape


def with_shapes(
    module: ir.Module, entry: str, shapes: Sequence[Any], *, saturate: bool = False
) -> ir.Module:
    """A copy of `module` whose function `entry` takes arguments of `shapes` (or of arrays' shapes).

    `saturate` is that of the compilation to come: upstream's passes fold on the way.
    Shapes that follow from them are static in it, too. Raises `Fp8Error` where a shape does not
    fit the declared type, and where a shape constraint of the module does not hold.
    """
    from mlir_fp8.base.operations import operations
    from mlir_fp8.lowering.frontend.stablehlo_refine_dynamism import refuse_dynamic

    module = copy_of(module)
    with module.context, ir.Location.unknown():
        function = entry_function(module, entry)
        types = list(flattened(_argument_types(function)))
        if not isinstance(shapes, Sequence):
            raise Fp8Error(f"shapes is {shapes!r}: give a list of one for each argument")
        if len(shapes) != len(types):
            reason = f"takes {len(types)} arguments, {len(shapes)} shapes were given"
            raise op_error(function, reason)
        refined = [
            _refined(function, index, type_, _shape(index, shape))
            for index, (type_, shape) in enumerate(zip(types, shapes, strict=True))
        ]
        make_static(module, function, refined, saturate=saturate)
        for op in operations(function):
            refuse_dynamic(op)
    return module


def with_sizes_of(
    module: ir.Module, entry: str, arrays: Sequence[Any], *, saturate: bool = False
) -> ir.Module:
    """`module` itself, or where `entry` has dynamic shapes, a copy with those of `arrays`."""
    if not takes_open_sizes(module, entry):
        return with_result_sizes(module, entry, saturate=saturate)
    return with_shapes(module, entry, [np.shape(array) for array in arrays], saturate=saturate)


def with_result_sizes(module: ir.Module, entry: str, *, saturate: bool = False) -> ir.Module:
    """`module` itself, or where only results of `entry` have dynamic shapes, a static copy."""
    function = entry_function(module, entry)
    types = list(flattened(_argument_types(function)))
    is_known = all(isinstance(type_, ir.RankedTensorType) for type_ in types)
    if not is_known or any(map(_is_open, types)) or not leaves_sizes_open(function):
        return module
    return with_shapes(module, entry, types, saturate=saturate)


def make_static(
    module: ir.Module, entry: ir.Operation, types: Sequence[ir.Type], *, saturate: bool = False
) -> None:
    """Make the function `entry` take `types`, in place, its calls inlined, tuples flattened.

    What follows from `types` is static then. Raises `Fp8Error` where they contradict the module.
    """
    from mlir_fp8.lowering.frontend.stablehlo_refine_dynamism import refine

    isolate_entry(module, entry)
    run_pipeline(module, ["symbol-dce", small_floats_as_codes(saturate=saturate), *_REFINABLE])
    try:
        refine(module.operation, types)
    except ir.MLIRError as error:
        raise mlir_error(error, "<module>") from None


def _shape(index: int, given: Any) -> tuple[int, ...]:
    shape = declared_shape(given)
    try:
        sizes = tuple(operator.index(size) for size in shape)
    except TypeError:
        raise Fp8Error(f"shape {index} is {given!r}: give a tuple of sizes, or an array") from None
    if any(size < 0 or size > _LARGEST for size in sizes):
        raise Fp8Error(f"shape {index} is {sizes}: a size is from 0 to 2^31 - 1, StableHLO's i32")
    return sizes


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
    return list(function_type(function).inputs)
