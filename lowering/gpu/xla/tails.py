"""Quantizations behind a product, which its kernel computes too."""

import dataclasses
from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.base.operations import erase_with_producers
from mlir_fp8.dialects._fp8_attributes import is_set
from mlir_fp8.lowering.fp8.scaled_dot.uses import only_user, users
from mlir_fp8.lowering.gpu.kernels.product.shape import Epilogue
from mlir_fp8.lowering.gpu.xla.quantizers import CodeUses, Quantizer, quantizer_of
from mlir_fp8.lowering.rewriting.stablehlo import element_type, names

_DEAD = names("stablehlo", "abs convert logistic multiply slice") | {"fp8.scaled_dot"}
"""What may go with a product whose numbers a kernel has."""


@dataclasses.dataclass(frozen=True)
class Tail:
    """An `fp8.quantize` by a scale that is known before, and amax: all that reads a product."""

    quantizer: Quantizer

    @property
    def has_transpose(self) -> bool:
        return bool(self.quantizer.turned or self.quantizer.transposes)

    @property
    def scale(self) -> ir.Value:
        return self.quantizer.op.operands[1]

    @property
    def result(self) -> ir.RankedTensorType:
        return ir.RankedTensorType(self.quantizer.op.results[0].type)

    def added_to(self, epilogue: Epilogue, stored: str) -> Epilogue:
        """The steps of a product whose numbers are rounded to `stored`, and these."""
        return dataclasses.replace(
            epilogue,
            stored="" if stored == epilogue.type else stored,
            amax=self.quantizer.amax is not None,
            d_scale="multiply" if is_set(self.quantizer.op, "inverse") else "divide",
            d_type="f32",
            result=str(self.result.element_type),
            transposed=self.has_transpose,
        )

    def replace(self, codes: ir.Value, transposed: ir.Value | None, amax: ir.Value | None) -> None:
        """Let what reads the quantization, its transposes and its amax read these."""
        found = self.quantizer
        gone: list[ir.Operation] = []
        if found.amax is not None and amax is not None:
            found.amax.results[0].replace_all_uses_with(amax)
            gone.append(found.amax)
        if transposed is not None:
            CodeUses(found.plain, found.turned, found.transposes).take(transposed)
        found.op.results[0].replace_all_uses_with(codes)
        erase_unread([*gone, found.op])


def erase_unread(ops: Sequence[ir.Operation]) -> None:
    """Erase `ops`, which nothing reads, and what was there for them alone."""
    for each in ops:
        erase_with_producers(each, lambda op: op.name in _DEAD)


def tail_of(y: ir.Value) -> Tail | None:
    """The quantization of a product `y`, if that and its amax are all that reads it."""
    x = y
    if str(element_type(y)) != "f32":
        widening = only_user(y)
        if widening is None or widening.name != "stablehlo.convert":
            return None
        x = widening.results[0]
        if str(element_type(x)) != "f32":
            return None
    readers = users(x)
    quantizes = [each for each in readers if each.name == "fp8.quantize"]
    block = ir.OpResult(y).owner.operation.block
    if len(quantizes) != 1 or quantizes[0].block != block:
        return None
    found = quantizer_of(quantizes[0])
    if isinstance(found, str):
        return None
    others = [each for each in readers if each != found.op]
    if found.amax is None:
        return Tail(found) if not others else None
    magnitudes = found.amax.operands[0]
    if len(others) != 1 or others[0].results[0] != magnitudes or only_user(magnitudes) is None:
        return None
    return Tail(found)
