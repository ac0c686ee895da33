"""`fp8-remove-quantizers`: a program with quantized operands as it was before quantization."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from mlir_fp8.base.context import format_location
from mlir_fp8.base.operations import is_used, operations, producer
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8._quantizers import MOVES, Quantizer, quantizer
from mlir_fp8.lowering.fp8._scales import (
    Scale,
    dialect_scale,
    scale_of,
    small_format,
    widens_or_rounds,
)
from mlir_fp8.lowering.fp8.composite_to_fp8 import CompositeToFp8
from mlir_fp8.lowering.rewriting.inlining import inline_calls
from mlir_fp8.lowering.rewriting.stablehlo import convert, names, with_element

_DEQUANTIZE = "fp8.dequantize"

_ERASED = (
    MOVES
    | names("stablehlo", "clamp constant convert divide maximum minimum multiply")
    | names("fp8", "convert dequantize quantize")
)
"""What quantizers and dequantizers are made of."""

Path = tuple[ir.Operation, ...]
"""Ops that lead from a value to another, first one first; each moves or converts its operand 0."""


@dataclass(frozen=True)
class Fp8RemoveQuantizers(ModulePass):
    """Put x in the place of dequantize(quantize(x)): the wide program that was quantized.

    This changes values, by what rounding and clamping to f8 had changed them. A pair to remove is
    convert(x / s) to f8, f6 or f4, clamped to the format's ends or not, and back: converted up,
    times the same s. Between the two may stand moves (reshape, transpose, slice, ...). It may be
    x * s and / s, or a reciprocal of s, or s rounded to another wide type; s may be missing; it may
    be `fp8.quantize` and `fp8.dequantize`. In its place comes x, moved likewise, converted to the
    types that the dequantizer converts to. Whatever else uses the f8 value keeps it; arguments
    stay, scales that nothing uses any more among them.

    Calls are inlined and equal values merged first. Option: `remarks` prints to stderr which
    dequantized values stay, and why.
    """

    remarks: bool = False

    def run(self, module: ir.Operation) -> None:
        for kept in remove_quantizers(module):
            if self.remarks:
                print(kept, file=sys.stderr)


@dataclass(frozen=True)
class Kept:
    """A use of a dequantized value that stays as it is, and why."""

    location: ir.Location
    reason: str

    def __str__(self) -> str:
        return f"{format_location(self.location)}: remark: {self.reason}"


def remove_quantizers(module: ir.Operation) -> list[Kept]:
    """Remove the pairs of quantizer and dequantizer from `module`; gives what was left."""
    CompositeToFp8().run(module)
    with module.context:
        inline_calls(module, "cse")
        kept = [
            each
            for op in operations(module)
            if op.name == _DEQUANTIZE or _widens(op)
            for each in _remove(op)
        ]
        for op in reversed(operations(module)):
            if op.name in _ERASED and not is_used(op.results[0]):
                op.erase()
        PassManager.parse("builtin.module(cse)").run(module)
        kept.extend(each for op in operations(module) for each in _small_operand(op))
    return kept


def _widens(op: ir.Operation) -> bool:
    fmt = small_format(op.operands[0]) if widens_or_rounds(op) else None
    return fmt is not None and fmt.signed  # the others are scales


def _small_operand(op: ir.Operation) -> Iterator[Kept]:
    """That `op`, which neither moves nor converts, takes a small float."""
    if op.name in _ERASED or op.name == "func.return":
        return
    fmt = next((fmt for each in op.operands if (fmt := small_format(each))), None)
    if fmt is not None:
        yield Kept(op.location, f"'{op.name}' takes {fmt.name}")


def _remove(op: ir.Operation) -> Iterator[Kept]:
    """Bypass the dequantizers that start with `op`, a convert up or an `fp8.dequantize`."""
    q, moves = op.operands[0], ()
    while (source := producer(q)) is not None and source.name in MOVES:
        q, moves = source.operands[0], (source, *moves)
    found = quantizer(q)
    if isinstance(found, str):
        yield Kept(op.location, f"'{op.name}' stays: its operand {found}")
        return
    if op.name == _DEQUANTIZE:
        yield from _bypass(op, dialect_scale(op), moves, found)
    elif not found.origins:
        _replace(op, found.value, (*found.moves, *moves, op))
    else:
        for end, scale, path in list(_ends(op.results[0], (*moves, op))):
            yield from _bypass(end, scale, path, found)


def _ends(value: ir.Value, path: Path) -> Iterator[tuple[ir.Operation, Scale | None, Path]]:
    """The ops that use `value`, moved or not, and the scale that each multiplies it by."""
    for use in reversed(list(value.uses)):
        op, at = use.owner.operation, use.operand_number
        if at == 0 and (op.name in MOVES or widens_or_rounds(op)):
            yield from _ends(op.results[0], (*path, op))
        elif op.name == "stablehlo.multiply":
            yield op, scale_of(op.operands[1 - at]), path
        elif op.name == "stablehlo.divide" and at == 0:
            yield op, scale_of(op.operands[1], inverse=True), path
        else:
            yield op, None, path


def _bypass(op: ir.Operation, scale: Scale | None, path: Path, found: Quantizer) -> Iterator[Kept]:
    """Put an origin of `found` in the place of `op`, which scales it back, if it does."""
    if scale is None or not scale.is_plausible:
        yield Kept(op.location, f"'{op.name}' takes a quantized value that is not scaled back")
        return
    x = next((x for x, divisor in found.origins if scale.undoes(divisor)), None)
    if x is None:
        place = format_location(found.value.location)
        yield Kept(op.location, f"'{op.name}' stays: it scales by another value than {place}")
        return
    path = (*found.moves, *path)
    if scale.spread and any(each.name in MOVES - {"stablehlo.reshape"} for each in path):
        reason = "its scale is not one number, and the data is moved before"
        yield Kept(op.location, f"'{op.name}' stays: {reason}")
        return
    _replace(op, x, path)


def _replace(op: ir.Operation, value: ir.Value, path: Path) -> None:
    """Give the users of `op` what `value` is after `path`, in the element type of `op`."""
    for each in path:
        element = ir.ShapedType(value.type).element_type
        with ir.InsertionPoint(each), each.location:
            if each.name not in MOVES:
                value = convert(value, ir.ShapedType(each.results[0].type).element_type)
                continue
            copy = each.clone().operation
        copy.operands[0] = value
        copy.results[0].set_type(with_element(each.results[0].type, element))
        value = copy.results[0]
    with ir.InsertionPoint(op), op.location:
        value = convert(value, ir.ShapedType(op.results[0].type).element_type)
    op.results[0].replace_all_uses_with(value)
