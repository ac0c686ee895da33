"""Weights made f8 once, by compiled code: what a quantized module takes in their place."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.compilation import compile as compile_module
from mlir_fp8.compiling.compiled_module import CompiledModule
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.inference.argument_checks import check_array
from mlir_fp8.inference.packing import Packing
from mlir_fp8.lowering.fp8.ops.scaling import rescale
from mlir_fp8.lowering.fp8.scaling.block_insertion import block_scaled
from mlir_fp8.lowering.fp8.weights.layouts import Blocks
from mlir_fp8.lowering.fp8.weights.names import QuantizedWeight
from mlir_fp8.lowering.fp8.weights.packed import Layout
from mlir_fp8.lowering.fp8.weights.scale_rules import F32
from mlir_fp8.lowering.fp8.weights.scaled import block_amax
from mlir_fp8.lowering.rewriting.stablehlo import convert
from mlir_fp8.tensors.foreign import as_array, kind_of

_Key = tuple[str, Blocks, str, tuple[tuple[int, ...], ...], str, tuple[int, ...]]


class Preparation:
    """The code that quantizes and packs weights: compiled once for each kind of these."""

    def __init__(self) -> None:
        self._code: dict[_Key, CompiledModule] = {}
        self.packing = Packing()

    def quantized(self, weight: QuantizedWeight, wide: str, array: Any) -> tuple[Any, list[Any]]:
        """The codes, packed where the module takes them so, and scales of `array`, of type `wide`.

        The scales are those of blocks, and with NVFP4 the number of the tensor or its numbers.
        `Fp8Error` where it is of another shape or dtype, infinite or NaN.
        """
        factors = [] if weight.smoothing is None else [weight.smoothing]
        shapes = tuple(each.shape for each in factors)
        key = (wide, weight.blocks, weight.format, shapes, weight.rule, weight.apart)
        if key not in self._code:
            self._code[key] = compile_module(preparing_module(*key))
        code = self._code[key]
        check_array(weight.name, code.arguments[0], array)
        codes, *scales, largest = code(array, *factors)
        if not math.isfinite(float(largest)):
            reason = "has infinite or NaN elements"
            raise Fp8Error(f"weight '{weight.name}' {reason}: leave it out of weights")
        if weight.packed is not None:
            codes = self.packing.packed(weight.name, weight.format, weight.packed, codes)
        return codes, scales


def preparing_module(
    wide: str,
    blocks: Blocks,
    format_: str,
    factors: Sequence[Sequence[int]] = (),
    rule: str = F32,
    apart: Sequence[int] = (),
    *,
    largest: bool = True,
) -> ir.Module:
    """A module that gives of a weight its codes, its scales, and the largest magnitude in it.

    Without `largest` it leaves that out.

    It takes factors of these shapes, f32, that the weight is multiplied by before, in f32.
    """
    context = make_context()
    load_fp8_dialect(context)
    module = ir.Module.parse(f"func.func @main(%w: {wide}) {{ return }}", context)
    function = module.body.operations[0].operation
    block = function.regions[0].blocks[0]
    block.operations[0].operation.erase()
    with context, ir.Location.unknown(), ir.InsertionPoint(block):
        f32 = ir.F32Type.get()
        x = convert(block.arguments[0], f32)
        for shape in factors:
            factor = ir.RankedTensorType.get(list(shape), f32)
            x = rescale(x, block.add_argument(factor, ir.Location.unknown()), divide=False)
        made = block_scaled(x, blocks, format_, rule, apart=apart)
        results = [made.codes, made.scale, *([] if made.factor is None else [made.factor])]
        results += [block_amax(x, (0,) * len(blocks))] if largest else []
        ir.Operation.create("func.return", operands=results)
        types = [each.type for each in block.arguments]
        type_ = ir.FunctionType.get(types, [each.type for each in results])
        function.attributes["function_type"] = ir.TypeAttr.get(type_)
    return module


def prepared(
    weights: Sequence[QuantizedWeight],
    wide: Mapping[str, str],
    names: Sequence[str],
    given: Mapping[str, Any],
    preparation: Preparation,
    packed: Mapping[str, tuple[str, Layout]],
) -> dict[str, Any]:
    """`given` with the codes and scales of `weights` in the place of the wide ones, by name.

    `wide` are the types of the wide weights, `names` those of all arguments; `packed` are the
    element types and layouts of those that the module takes in panels. Tensors that share
    their memory, as tied weights do, share their codes, where `given` is a dict or a view of one.
    Of another mapping, which may read or make each tensor when it is asked for, one is held at a
    time.
    """
    of_scales = {name for each in weights for name in each.scale_names}
    unknown = [each for each in given if each not in names or each in of_scales]
    if unknown:
        known = ", ".join(name for name in names if name not in of_scales)
        raise Fp8Error(f"no argument is named '{unknown[0]}' (arguments: {known})")
    missing = [each.name for each in weights if each.name not in given]
    if missing:
        raise Fp8Error(f"weight '{missing[0]}' is missing: give all of {', '.join(wide)}")
    by_name = {each.name: each for each in weights}
    shared: dict[tuple[Any, ...], tuple[Any, Sequence[Any], Any]] = {}
    found: dict[str, Any] = {}
    for name, tensor in given.items():
        array = _detached(tensor)
        weight = by_name.get(name)
        if weight is None and name not in packed:
            found[name] = array
            continue
        held = as_array(f"weight '{name}'", array)
        kind: tuple[Any, ...] | None = packed.get(name)
        if weight is not None:
            facts = (weight.format, weight.rule, weight.blocks, weight.packed, weight.apart)
            kind = (wide[name], *facts, _bytes(weight.smoothing))
        key = (*_memory(held), kind)
        made: tuple[Any, Sequence[Any]] | None = shared[key][:2] if key in shared else None
        if made is None and weight is not None:
            made = preparation.quantized(weight, wide[name], array)
        elif made is None:
            made = (preparation.packing.packed(name, *packed[name], array), ())
        if isinstance(given, dict | MappingProxyType):  # else it may let go of arrays
            # Held, so that no other array gets its memory in between.
            shared[key] = (made[0], made[1], held)
        found[name], scales = made
        if weight is not None:
            found.update(zip(weight.scale_names, scales, strict=True))
    return found


def _detached(array: Any) -> Any:
    """A parameter of PyTorch without its gradients."""
    return array.detach() if kind_of(array) == "torch" else array


def _bytes(factors: np.ndarray | None) -> bytes:
    return b"" if factors is None else factors.tobytes()


def _memory(held: Any) -> tuple[Any, ...]:
    if not isinstance(held, np.ndarray):
        return (id(held),)
    return (held.__array_interface__["data"][0], held.strides, held.shape)
