"""Products with what follows them: a quantization, or the gate of a SwiGLU."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.gpu.xla.gates import gate_of
from mlir_fp8.lowering.gpu.xla.products import ScaledProduct, checked, sized_product_of
from mlir_fp8.lowering.gpu.xla.quantizers import source_of
from mlir_fp8.lowering.gpu.xla.tails import Tail, tail_of
from mlir_fp8.lowering.rewriting.stablehlo import element_type


def quantized_product_of(op: ir.Operation) -> ScaledProduct | None:
    """An `fp8.scaled_dot` that `op`, an `fp8.quantize`, is the only reader of, with that."""
    y = source_of(op.operands[0])
    dot = producer(y)
    if dot is None or dot.name != "fp8.scaled_dot" or len(dot.results) != 1:
        return None
    tail, found = tail_of(y), sized_product_of(dot)
    if tail is None or isinstance(found, str) or found.parts.d_scale is not None:
        return None
    return _with_tail(found, tail, str(element_type(y)))


def gated_product_of(op: ir.Operation) -> ScaledProduct | None:
    """The gated product that `op`, a `stablehlo.multiply`, ends, with its quantization if any."""
    gate = gate_of(op)
    found = None if gate is None else sized_product_of(gate.dot.op)
    if gate is None or found is None or isinstance(found, str) or found.blocks is not None:
        return None
    stored = found.shape.epilogue.result
    epilogue = dataclasses.replace(
        found.shape.epilogue,
        activation="silu",
        gate=gate.type,
        stored="" if stored == found.shape.epilogue.type else stored,
        result=gate.type,
    )
    n, up = found.shape.n, "apart"
    if gate.up is None and len(found.dims.free[1]) != 1:
        return None
    if gate.up is None:
        n, up = n // 2, "below"
    shape = dataclasses.replace(found.shape, n=n, up=up, epilogue=epilogue)
    found = dataclasses.replace(found, shape=shape, gate=gate)
    tail = tail_of(op.results[0])
    if tail is not None and (quantized := _with_tail(found, tail, stored)) is not None:
        return quantized
    made = checked(found)
    return None if isinstance(made, str) else made


def _with_tail(found: ScaledProduct, tail: Tail, stored: str) -> ScaledProduct | None:
    if tail.has_transpose and len(found.dims.free[1]) != 1:
        return None
    epilogue = tail.added_to(found.shape.epilogue, stored)
    shape = dataclasses.replace(found.shape, epilogue=epilogue)
    made = checked(dataclasses.replace(found, shape=shape, tail=tail))
    return None if isinstance(made, str) else made
