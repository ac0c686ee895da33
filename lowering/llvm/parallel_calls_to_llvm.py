"""`parallel-calls-to-llvm`: calls of parallel loops go to the thread pool.

The other end is `fp8_parallel_for` of python/compiling/thread_pool.mlir.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import symbol_name
from mlir_fp8.base.symbols import PARALLEL_FOR
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.loop_analysis.parallel_loops import PARALLEL


@dataclass(frozen=True)
class ParallelCallsToLlvm(ModulePass):
    """Let threads share calls of the functions that `outline-loops{parallel}` and kernels made.

    Such a function becomes `NAME.range`. Callers call a new `NAME`, which stores the arguments in
    memory and passes the pool `NAME.task`, a function of (arguments, begin, end) that calls
    `NAME.range` with them. `threads` is the most threads, the caller included; 0 leaves that to the
    pool.
    """

    threads: int = 0

    def run(self, module: ir.Operation) -> None:
        shared = {
            symbol_name(op): op.operation
            for op in module.regions[0].blocks[0]
            if op.operation.name == "llvm.func" and PARALLEL in op.attributes
        }
        if not shared:
            return
        ranges = {f"{name}.range" for name in shared}
        texts = [f"llvm.func @{PARALLEL_FOR}(!llvm.ptr, !llvm.ptr, i64, i64, i64)"]
        for name, function in shared.items():
            types = [str(argument.type) for argument in function.regions[0].blocks[0].arguments]
            grain = ir.IntegerAttr(function.attributes[PARALLEL]).value
            texts.append(_functions(name, types, grain, self.threads))
            texts.append(f'llvm.func @"{name}.range"({", ".join(types)})')
            ir.SymbolTable.set_symbol_name(function, f"{name}.range")
        # Parsed beside declarations of what they call, which the module has.
        parsed = ir.Module.parse("\n".join(texts), module.context)
        for op in list(parsed.body.operations):
            if symbol_name(op) not in ranges:
                op.operation.detach_from_parent()
                module.regions[0].blocks[0].append(op)


def _functions(name: str, types: list[str], grain: int, threads: int) -> str:
    """The caller of the pool, and the pool's callback, for a function of `types`, the range
    last."""
    passed = types[:-2]
    slots = [
        f"%p{index} = llvm.getelementptr %arguments[{index}] : (!llvm.ptr) -> !llvm.ptr, i64"
        for index in range(len(passed))
    ]
    stores = [f"llvm.store %a{i}, %p{i} : {type_}, !llvm.ptr" for i, type_ in enumerate(passed)]
    loads = [f"%a{i} = llvm.load %p{i} : !llvm.ptr -> {type_}" for i, type_ in enumerate(passed)]
    names = [*(f"%a{index}" for index in range(len(passed))), "%begin", "%end"]
    parameters = ", ".join(f"{n}: {type_}" for n, type_ in zip(names, types, strict=True))
    storing, loading = "\n  ".join([*slots, *stores]), "\n  ".join([*slots, *loads])
    return f"""
llvm.func internal @"{name}"({parameters}) attributes {{no_inline}} {{
  %count = llvm.mlir.constant({len(passed)} : i64) : i64
  %grain = llvm.mlir.constant({grain} : i64) : i64
  %threads = llvm.mlir.constant({threads} : i64) : i64
  %arguments = llvm.alloca %count x i64 : (i64) -> !llvm.ptr
  {storing}
  %task = llvm.mlir.addressof @"{name}.task" : !llvm.ptr
  llvm.call @{PARALLEL_FOR}(%task, %arguments, %end, %grain, %threads)
    : (!llvm.ptr, !llvm.ptr, i64, i64, i64) -> ()
  llvm.return
}}
llvm.func internal @"{name}.task"(%arguments: !llvm.ptr, %begin: i64, %end: i64) {{
  {loading}
  llvm.call @"{name}.range"({", ".join(names)}) : ({", ".join(types)}) -> ()
  llvm.return
}}
"""
