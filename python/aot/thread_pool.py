"""The thread pool of a library: thread_pool.mlir as part of its code."""

from collections.abc import Container

from torch_mlir import ir

from mlir_fp8.base.context import symbol_name
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.symbols import PARALLEL_FOR
from mlir_fp8.compiling.native.module_parts import is_declaration
from mlir_fp8.compiling.threads import MOST, pool_text

SET_THREADS = "set_threads"
_OF_LINUX = "keep_apart"
"""A function that calls the system by weak symbols, which linkers of other systems refuse."""


def require_threads(threads: int, triple: str) -> None:
    """Refuse what is no number of threads, and systems without POSIX threads."""
    if not 1 <= threads <= MOST:
        raise Fp8Error(f"--threads={threads}: give a number of threads from 1 to {MOST}")
    if threads > 1 and "windows" in triple:
        raise Fp8Error(f"--threads={threads}: {triple} has no POSIX threads, only --threads=1")


def add_pool(module: ir.Module, threads: int, triple: str, set_threads: str) -> None:
    """Give `module`, in the LLVM dialect, a pool of `threads` threads of its own.

    Its function `set_threads` gets that name; all others have internal linkage.
    """
    pool = _pool(module.context, "linux" in triple)
    declared = {symbol_name(op): op.operation for op in module.body.operations}
    with module.context:
        for op in [view.operation for view in pool.body.operations]:
            name = symbol_name(op)
            if name == "default_threads":
                i64 = ir.IntegerType.get_signless(64)
                op.attributes["value"] = ir.IntegerAttr.get(i64, threads)
            if name == SET_THREADS:
                ir.SymbolTable.set_symbol_name(op, set_threads)
            elif name != PARALLEL_FOR and not is_declaration(op):
                # The module may have loops of these names.
                ir.SymbolTable.replace_all_symbol_uses(name, f"pool.{name}", pool.operation)
                ir.SymbolTable.set_symbol_name(op, f"pool.{name}")
    if PARALLEL_FOR in declared:
        declared.pop(PARALLEL_FOR).erase()
    _move_into(module, pool, declared)


def _move_into(module: ir.Module, source: ir.Module, known: Container[str] = ()) -> None:
    """All that `source` has but declarations of what is `known`."""
    for op in [view.operation for view in source.body.operations]:
        if not (is_declaration(op) and symbol_name(op) in known):
            op.detach_from_parent()
            module.body.append(op)


def _pool(context: ir.Context, is_linux: bool) -> ir.Module:
    pool = ir.Module.parse(pool_text(), context)
    unused = {"address"} if is_linux else {"address", _OF_LINUX}
    for op in [view.operation for view in pool.body.operations]:
        is_weak = "extern_weak" in str(op.attributes.get("linkage", ""))
        if symbol_name(op) in unused or (is_weak and not is_linux):
            op.erase()
    if not is_linux:
        nothing = f"llvm.func internal @{_OF_LINUX}() {{ llvm.return }}"
        _move_into(pool, ir.Module.parse(nothing, context))
    return pool
