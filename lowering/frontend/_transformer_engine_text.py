"""What a custom call of TransformerEngine becomes, as StableHLO text."""

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import call_target

WIDE, DELAYED, MX, CURRENT, NVFP4, NVFP4_SQUARES = range(6)
"""`JAXX_Scaling_Mode` of TransformerEngine."""


class CallText:
    """A function of the operands and results of `op`, `%a0` and on."""

    def __init__(self, op: ir.Operation) -> None:
        self.op = op
        self.lines: list[str] = []
        self.types = [str(each.type) for each in op.operands]
        self.options = _options(op)

    def let(self, text: str) -> str:
        self.lines.append(f"%v{len(self.lines)} = {text}")
        return f"%v{len(self.lines) - 1}"

    def shape(self, index: int) -> list[int]:
        return list(ir.RankedTensorType(self.op.operands[index].type).shape)

    def element(self, index: int) -> str:
        return str(ir.RankedTensorType(self.op.operands[index].type).element_type)

    def reshaped(self, name: str, old: str, new: str) -> str:
        return name if old == new else self.let(f"stablehlo.reshape {name} : ({old}) -> {new}")

    def unused(self, index: int) -> str:
        """A result that nothing reads: ones, which every type has."""
        type_ = ir.RankedTensorType(self.op.results[index].type)
        one = "1" if isinstance(type_.element_type, ir.IntegerType) else "1.0"
        return self.let(f"stablehlo.constant dense<{one}> : {type_}")

    def refuse(self, reason: str) -> Exception:
        return op_error(self.op, f"calls '{call_target(self.op)}' {reason}")

    def function(self, results: Sequence[str]) -> str:
        arguments = ", ".join(f"%a{i}: {each}" for i, each in enumerate(self.types))
        types = ", ".join(str(each.type) for each in self.op.results)
        body = "\n".join(self.lines)
        given = f"return {', '.join(results)} : {types}"
        return f"func.func @body({arguments}) -> ({types}) {{\n{body}\n{given}\n}}"


def _options(op: ir.Operation) -> dict[str, Any]:
    """The attributes of a call, those of `config` too."""
    found: dict[str, Any] = {}
    for name in ("backend_config", "mhlo.backend_config"):
        if name in op.attributes and isinstance(op.attributes[name], ir.DictAttr):
            found |= _entries(ir.DictAttr(op.attributes[name]))
    return found


def _entries(held: ir.DictAttr) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for index in range(len(held)):
        name, value = held[index].name, held[index].attr
        if isinstance(value, ir.DictAttr):
            found |= _entries(value)
        else:
            found[name] = getattr(value, "value", None)
    return found
