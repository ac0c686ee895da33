"""`mlir_fp8.apply_checkpoint`: a wide module as the FP8 module of a checkpoint, and its arrays."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import TensorSpec, element_name
from mlir_fp8.artifacts.dense_resources import dense_copy
from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.checkpoints.f8_weight import Activation, Checkpoint, F8Weight
from mlir_fp8.checkpoints.matching import Names, matched
from mlir_fp8.checkpoints.reading import load_checkpoint
from mlir_fp8.failures.internal_error import public
from mlir_fp8.lowering.fp8.scaling.entry import find_entry
from mlir_fp8.lowering.fp8.weights.names import own_names, scale_name
from mlir_fp8.lowering.fp8.weights.schemes import WeightScheme, quantize_by_schemes
from mlir_fp8.lowering.frontend.arith_constant_to_stablehlo import ArithConstantToStablehlo
from mlir_fp8.quantized import Quantized
from mlir_fp8.reading.loader import loaded


@public
def apply_checkpoint(
    module: ir.Module | str | Path | bytes,
    checkpoint: Checkpoint | str | os.PathLike[str],
    *,
    names: Names | None = None,
    ignore: Sequence[str] = (),
    transpose: Sequence[str] = (),
    activation: Activation | None = None,
    entry: str = "main",
) -> tuple[Quantized, dict[str, np.ndarray]]:
    """`module`, which has wide weights, with those of `checkpoint` in f8, and all its tensors.

    `module` is a module or whatever `mlir_fp8.load` takes and is left as it is; `checkpoint` may be
    the path that `mlir_fp8.load_checkpoint` takes. Tensors are arguments by name (docs/inference.md
    has what arguments are called): `names` renames those of the checkpoint, a mapping or function;
    `ignore` has patterns of tensors that are not used; `transpose` patterns of arguments that are
    the transposed matrices, as those of JAX are.

    The products of each weight take activations as the checkpoint says, wide where it does not say,
    or as `activation` says of all: "wide", "static" (by the `input_scale` of each), "tensor",
    "token" or "group" (by their own amax), in the f8 type of the weight, which need not be that of
    others; in f8E4M3FN with f8E5M2. The arrays are by name, codes and scales as they are in
    the checkpoint: `compiled(*made.arguments(arrays, *inputs))`.

    Raises `Fp8Error` in one line that names a tensor that is no argument, or of another shape.
    """
    held = checkpoint if isinstance(checkpoint, Checkpoint) else load_checkpoint(checkpoint)
    made = dense_copy(loaded(module), make_context(), "module")
    operation = made.operation
    ArithConstantToStablehlo().run(operation)
    function = find_entry(operation, entry)
    weights, others = matched(held, _arguments(function), names, ignore, transpose)
    if not weights:
        raise Fp8Error(f"'{held.path}': no f8 weight is left: see ignore=")
    schemes = {name: _scheme(name, each, activation) for name, each in weights.items()}
    decisions, decided = quantize_by_schemes(operation, entry, schemes)
    arrays: dict[str, np.ndarray] = dict(others)
    for name, weight in weights.items():
        arrays[name] = weight.codes
        arrays[scale_name(name)] = weight.scale
    return Quantized(made, {}, tuple(decisions), entry, tuple(decided)), arrays


def _arguments(function: ir.Operation) -> dict[str, TensorSpec]:
    """Those of static shape by name."""
    names = own_names(function)
    found: dict[str, TensorSpec] = {}
    for name, argument in zip(names, function.regions[0].blocks[0].arguments, strict=True):
        type_ = argument.type
        if isinstance(type_, ir.RankedTensorType) and type_.has_static_shape:
            if name in found:
                raise Fp8Error(f"two arguments are named '{name}': give each a mlir_fp8.name")
            found[name] = TensorSpec(tuple(type_.shape), str(type_.element_type))
    return found


def _scheme(name: str, weight: F8Weight, wanted: Activation | None) -> WeightScheme:
    activation = wanted or weight.activation or "wide"
    if activation == "static" and weight.input_scale is None:
        raise Fp8Error(f"'{name}' has no input_scale for static activations: take another")
    scale = None if weight.input_scale is None else float(weight.input_scale)
    return WeightScheme(str(element_name(weight.codes.dtype)), weight.block, activation, scale)
