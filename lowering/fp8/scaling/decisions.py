"""What was decided about each dot and convolution, and why."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import format_location


@dataclass(frozen=True)
class Decision:
    """One dot or convolution.

    `name` is the op's ("stablehlo.dot_general"), `signature` its types. `gradient` is "lhs", "rhs"
    or "none", found by `rule`, see `mlir_fp8.lowering.fp8.scaling.gradients`; `reason` says why.
    `formats` are what its operands are quantized to, `quantizers` the names of their scales (two
    tensors in one are quantized once); both are None where the op was left as it is, for `left`.
    """

    name: str
    location: ir.Location
    signature: str
    gradient: str
    rule: str
    reason: str
    formats: tuple[str, str] | None = None
    quantizers: tuple[str, str] | None = None
    left: str = ""
    wide: str = ""
    """Why an operand of a product with a weight is not quantized."""

    def __str__(self) -> str:
        if self.formats is None or self.quantizers is None:
            return f"'{self.name}' {self.signature} is left as it is: it {self.left}"
        operands = " x ".join(map(" ".join, zip(self.formats, self.quantizers, strict=True)))
        kind = "forward" if self.gradient == "none" else f"backward, {self.gradient} is a gradient"
        why = f"{kind} ({self.rule}: {self.reason})"
        why += f"; wide is what {self.wide}" if self.wide else ""
        return f"'{self.name}' {self.signature} becomes {operands}: {why}"


@dataclass(frozen=True)
class OpDecision:
    """One op that was surrounded by quantizers, or was to be.

    `operands` and `results` have for each the name of its scale, "" where it stays wide; `left`
    says why the op was left as it is.
    """

    name: str
    location: ir.Location
    signature: str
    operands: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    left: str = ""

    def __str__(self) -> str:
        if self.left:
            return f"'{self.name}' {self.signature} is left as it is: it {self.left}"
        operands, results = (
            ", ".join(name or "wide" for name in names) for names in (self.operands, self.results)
        )
        return f"'{self.name}' {self.signature} in scaled FP8: ({operands}) -> ({results})"


def signature(op: ir.Operation) -> str:
    operands = ", ".join(str(operand.type) for operand in op.operands)
    return f"({operands}) -> {', '.join(str(result.type) for result in op.results)}"


def print_remarks(remarks: Iterable[tuple[ir.Location, str]]) -> None:
    """`file:line:column: remark: ...` on stderr, a line each, as MLIR prints its own."""
    for location, text in remarks:
        print(f"{format_location(location)}: remark: {text}", file=sys.stderr)
