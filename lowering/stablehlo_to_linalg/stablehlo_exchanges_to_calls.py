"""`stablehlo-exchanges-to-calls`: what simulated devices exchange, as calls of the host.

The function that is called is not in the module: see python/compiling/native/exchange.py.
"""

from dataclasses import dataclass, replace

from torch_mlir import ir
from torch_mlir.dialects import func

from mlir_fp8.base.context import format_location
from mlir_fp8.base.operations import replace_op
from mlir_fp8.base.symbols import EXCHANGE
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.buffers import allocated, copied, tensor_of
from mlir_fp8.lowering.rewriting.exchange_calls import EXCHANGES, exchange_of, exchanges
from mlir_fp8.lowering.rewriting.kernel_functions import KernelFunctions, symbols_of


@dataclass(frozen=True)
class StablehloExchangesToCalls(ModulePass):
    """Replace each `custom_call @mlir_fp8.exchange` by a call with its number and two pointers.

    The module then has the list of them, in the order of their numbers, as an attribute.
    """

    def run(self, module: ir.Operation) -> None:
        calls = exchanges(module)
        if not calls:
            return
        functions = KernelFunctions(symbols_of(module))
        listed: list[str] = []
        for number, call in enumerate(calls):
            listed.append(
                replace(exchange_of(call), place=format_location(call.location)).to_json()
            )
            with call.location, ir.InsertionPoint(call):
                replace_op(call, [_lowered(call, number, functions)])
        functions.texts.append(f"llvm.func @{EXCHANGE}(i64, !llvm.ptr, !llvm.ptr)")
        functions.add_to(module)
        with module.context:
            module.attributes[EXCHANGES] = ir.ArrayAttr.get(list(map(ir.StringAttr.get, listed)))


def _lowered(call: ir.Operation, number: int, functions: KernelFunctions) -> ir.Value:
    given = [copied(operand) for operand in call.operands]
    result = allocated(ir.RankedTensorType(call.results[0].type))
    buffers = [*given, result]
    name = functions.name_of("exchange", _text(number, [str(each.type) for each in buffers]))
    func.CallOp([], name, buffers)
    return tensor_of(result)


def _text(number: int, types: list[str]) -> str:
    parameters = ", ".join(f"%b{place}: {type_}" for place, type_ in enumerate(types))
    lines = [f"%n = llvm.mlir.constant({number} : i64) : i64"]
    for place, type_ in enumerate(types):
        lines += [
            f"%i{place} = memref.extract_aligned_pointer_as_index %b{place} : {type_} -> index",
            f"%a{place} = arith.index_cast %i{place} : index to i64",
            f"%p{place} = llvm.inttoptr %a{place} : i64 to !llvm.ptr",
        ]
    pointers = [f"%p{place}" for place in range(len(types))]
    if len(types) == 1:
        lines.append("%nothing = llvm.mlir.zero : !llvm.ptr")
        pointers.insert(0, "%nothing")
    passed = ", ".join(["%n", *pointers])
    lines.append(f"llvm.call @{EXCHANGE}({passed}) : (i64, !llvm.ptr, !llvm.ptr) -> ()")
    body = "\n  ".join([*lines, "return"])
    return f"""func.func private @NAME({parameters}) attributes {{
  no_inline, llvm.no_inline, llvm.linkage = #llvm.linkage<internal>
}} {{
  {body}
}}"""
