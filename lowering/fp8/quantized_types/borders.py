"""Public functions keep quantized signatures: values are quantized anew where they cross."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch_mlir import ir

from mlir_fp8.base.context import op_error, symbol_name
from mlir_fp8.base.operations import callee, function_type, is_used, read_instead
from mlir_fp8.lowering.arithmetic._quantized import is_quantized, quantization
from mlir_fp8.lowering.fp8.quantized_types.storage import Storage
from mlir_fp8.lowering.rewriting.stablehlo import build_op, with_element


@dataclass
class Borders:
    """What crosses the signatures of public functions; `kept` are values of quantized types."""

    storage: Storage
    kept: set[ir.Value] = field(default_factory=set)
    _public: dict[str, ir.FunctionType] = field(default_factory=dict)

    def add(self, function: ir.Operation) -> None:
        """Note the signature of `function`, if it is public."""
        if is_private(function):
            return
        signature = function_type(function)
        for type_ in (*signature.inputs, *signature.results):
            if isinstance(type_, ir.TupleType) and "!quant." in str(type_):
                reason = f"has {type_}: take tuples apart first (stablehlo-flatten-signatures)"
                raise op_error(function, reason)
        self._public[symbol_name(function)] = signature

    def call(self, op: ir.Operation) -> None:
        """A `func.call`: of a public function in its own types."""
        signature = self._public.get(callee(op))
        if signature is None:
            return
        self._leave(op, signature.inputs)
        with ir.InsertionPoint.after(op):
            for result in op.results:
                self._enter(op, result)

    def returned(self, op: ir.Operation) -> None:
        """A `func.return`: of a public function in its own types."""
        function = op.parent
        assert function is not None
        signature = self._public.get(symbol_name(function))
        if signature is not None:
            self._leave(op, signature.results)

    def arguments(self, function: ir.Operation) -> None:
        """The arguments of `function`, if it is public, as its body takes them."""
        if is_private(function):
            return
        for block in list(function.regions[0].blocks)[:1]:
            with function.location, ir.InsertionPoint.at_block_begin(block):
                for argument in block.arguments:
                    self._enter(function, argument)

    def _enter(self, op: ir.Operation, value: ir.Value) -> None:
        """Let what uses `value`, which keeps its type, read what stands for it."""
        q = quantization(op, value) if is_quantized(value) else None
        if q is None:
            return
        self.kept.add(value)
        if not is_used(value):
            return
        name = "quant.dcast" if q.blocks or q.is_float else "stablehlo.uniform_dequantize"
        wide = with_element(value.type, q.expressed)
        read_instead(
            value, lambda each: self.storage.stored(build_op(name, wide, [each]), q, each.type)
        )

    def _leave(self, op: ir.Operation, types: Sequence[ir.Type]) -> None:
        """Give `op` operands of the quantized `types` that a signature has."""
        for index, type_ in enumerate(types):
            if "!quant." not in str(type_):
                continue
            number = self.storage.number(op, op.operands[index])
            made = build_op("quant.qcast", type_, [number])
            q = quantization(op, made)
            if q is not None and not q.blocks and not q.is_float:
                ir.OpResult(made).owner.operation.erase()
                made = build_op("stablehlo.uniform_quantize", type_, [number])
            self.kept.add(made)
            op.operands[index] = made


def is_private(function: ir.Operation) -> bool:
    return str(function.attributes.get("sym_visibility")) == '"private"'
