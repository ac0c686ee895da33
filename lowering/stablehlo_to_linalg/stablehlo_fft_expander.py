"""`stablehlo-fft-expander`: Fourier transforms in products, which have a lowering."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.text_expansion import expand_all
from mlir_fp8.lowering.rewriting.text_writer import Pair, Writer
from mlir_fp8.lowering.stablehlo_to_linalg._fourier import transform


@dataclass(frozen=True)
class StablehloFftExpander(ModulePass):
    """Replace `fft` of each of its four types, along one to three axes of any length.

    n points take O(n * (sum of the factors of n)) operations, O(n log n) where n has a prime factor
    beyond 256. Inverse transforms divide by n. IRFFT ignores the imaginary parts that a real
    signal's spectrum lacks.
    """

    def run(self, module: ir.Operation) -> None:
        expand_all(module, {"stablehlo.fft": _program})


def _program(op: ir.Operation) -> str:
    kind = _stablehlo.FftTypeAttr(op.attributes["fft_type"]).value
    lengths = list(ir.DenseI64ArrayAttr(op.attributes["fft_length"]))
    operand, result = (ir.RankedTensorType(each.type) for each in (op.operands[0], op.results[0]))
    element = "f64" if "f64" in str(operand.element_type) else "f32"
    writer = Writer(element)
    axes = range(operand.rank - len(lengths), operand.rank)
    shape = list(operand.shape)
    if kind == "RFFT":
        zeros = writer.emit(f"constant dense<0.0> : {writer.type(shape)}")
        value = _along(writer, ("%x", zeros), shape, axes[-1])
        value = _first_half(writer, value, shape, result.shape[-1])
        shape[-1] = result.shape[-1]
    else:
        given = f"({operand}) -> {writer.type(shape)}"
        real, imaginary = (writer.emit(f"{part} %x : {given}") for part in ("real", "imag"))
        value = real, imaginary
    inverse = kind in ("IFFT", "IRFFT")
    if inverse:
        value = value[1], value[0]
    others = axes if kind in ("FFT", "IFFT") else axes[:-1]
    for axis in others:
        value = _along(writer, value, shape, axis)
    if kind == "IRFFT":
        value = _whole(writer, value, shape, lengths[-1])
        shape[-1] = lengths[-1]
        value = _along(writer, value, shape, axes[-1])
    if inverse:
        count = math.prod(lengths)
        imaginary, real = (writer.scaled(part, 1 / count, shape) for part in value)
        value = real, imaginary
    last = value[0]
    if kind != "IRFFT":
        last = writer.emit(f"complex {value[0]}, {value[1]} : {result}")
    body = "\n".join(writer.lines)
    return f"func.func @fft(%x: {operand}) -> {result} {{\n{body}\nreturn {last} : {result}\n}}"


def _along(writer: Writer, value: Pair, shape: Sequence[int], axis: int) -> Pair:
    """The transform along one axis of `shape`."""
    order = [dim for dim in range(len(shape)) if dim != axis] + [axis]
    back = [order.index(dim) for dim in range(len(shape))]
    moved = [shape[dim] for dim in order]
    flat = [math.prod(moved[:-1]), moved[-1]]
    rows = [writer.reshape(writer.transpose(part, shape, order), moved, flat) for part in value]
    given = transform(writer, (rows[0], rows[1]), *flat)
    real, imaginary = (
        writer.transpose(writer.reshape(part, flat, moved), moved, back) for part in given
    )
    return real, imaginary


def _first_half(writer: Writer, value: Pair, shape: Sequence[int], kept: int) -> Pair:
    cuts = ", ".join([*(f"0:{size}" for size in shape[:-1]), f"0:{kept}"])
    types = f"({writer.type(shape)}) -> {writer.type([*shape[:-1], kept])}"
    real, imaginary = (writer.emit(f"slice {part} [{cuts}] : {types}") for part in value)
    return real, imaginary


def _whole(writer: Writer, swapped: Pair, shape: Sequence[int], length: int) -> Pair:
    """The spectrum of a real signal from its first half: X[n - k] is the conjugate of X[k].

    Real and imaginary part are in each other's place, so it is the first that changes sign.
    """
    half, last = shape[-1], (length - 1) // 2
    cuts = ", ".join([*(f"0:{size}" for size in shape[:-1]), f"1:{last + 1}"])
    tail = writer.type([*shape[:-1], last])
    axis = len(shape) - 1

    def mirrored(part: str, *, negate: bool) -> str:
        if not last:
            return part
        rest = writer.emit(f"slice {part} [{cuts}] : ({writer.type(shape)}) -> {tail}")
        rest = writer.emit(f"reverse {rest}, dims = [{axis}] : {tail}")
        if negate:
            rest = writer.emit(f"negate {rest} : {tail}")
        full = writer.type([*shape[:-1], half + last])
        return writer.emit(
            f"concatenate {part}, {rest}, dim = {axis} : ({writer.type(shape)}, {tail}) -> {full}"
        )

    return mirrored(swapped[0], negate=True), mirrored(swapped[1], negate=False)
