"""Functions of a module that are lowered and compiled concurrently with the others.

Their module has a context of its own, as a context here serves one thread.
"""

import io
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from mlir_fp8.base.context import mlir_error, symbol_name
from mlir_fp8.base.operations import operations
from mlir_fp8.compiling.native.module_parts import Part, declared
from mlir_fp8.lowering.rewriting.kernel_functions import APART, is_kernel, kernels_apart
from mlir_fp8.passes.unlocked import run_unlocked, verify_unlocked

_WORTH_IT = 16
"""Functions; the passes and LLVM take some 5 ms for a loop."""
_CALLED = re.compile(r"^func\.func @([\w.]+)\(", re.MULTILINE)
_REFERENCES = frozenset({"func.call", "memref.get_global"})


@dataclass(frozen=True)
class Apart:
    """A module of functions that were taken out of another, which only declares them."""

    source: str | bytes
    """Text or bytecode."""
    called: tuple[str, ...]
    """Its functions that the other module calls."""

    def mentions(self, name: str) -> bool:
        text = self.source
        return name in text if isinstance(text, str) else name.encode() in text


def take_kernels(module: ir.Module) -> Apart | None:
    """The kernels that `module`, at the end of `pipelines.to_kernels`, only declares."""
    text = kernels_apart(module.operation)
    if not text:
        return None
    del module.operation.attributes[APART]
    return Apart(text, tuple(_CALLED.findall(text)))


def take_loops(module: ir.Module, threads: int, *, are_busy: bool) -> list[Apart]:
    """Shares of the functions that `outline-loops` made, all but that of the calling thread. That
    one is two thirds of another, as the thread has their callers too, and links; half as much again
    as another where the others `are_busy` with kernels. `module`, at the end of
    `pipelines.kernels_to_loops`, only declares what was taken from then on. Functions that use
    other symbols stay, and all where they are few.
    """
    loops = [op.operation for op in module.body if _is_loops(op.operation)]
    threads = min(threads, len(loops) // _WORTH_IT)
    if threads < 2:
        return []
    own, each = (3, 2) if are_busy else (2, 3)
    round_ = [0] * own + [thread for thread in range(1, threads) for _ in range(each)]
    shares: list[list[ir.Operation]] = [[] for _ in range(threads)]
    for op, thread in zip(loops, itertools.cycle(round_), strict=False):
        if thread and _is_alone(op):
            shares[thread].append(op)
    return [_taken(share) for share in shares if share]


def _is_loops(op: ir.Operation) -> bool:
    return op.name == "func.func" and "llvm.no_inline" in op.attributes and not is_kernel(op)


def _is_alone(function: ir.Operation) -> bool:
    return not any(op.name in _REFERENCES for op in operations(function))


def _taken(functions: list[ir.Operation]) -> Apart:
    context = functions[0].context
    with context, ir.Location.unknown():
        taken = ir.Module.create()
        for op in functions:
            with ir.InsertionPoint(op):
                type_ = ir.TypeAttr(op.attributes["function_type"]).value
                func.FuncOp(symbol_name(op), type_, visibility="private")
            # Else symbol DCE would erase it.
            op.attributes["sym_visibility"] = ir.StringAttr.get("public")
            op.detach_from_parent()
            taken.body.append(op)
    bytecode = io.BytesIO()
    taken.operation.write_bytecode(bytecode)
    return Apart(bytecode.getvalue(), tuple(map(symbol_name, functions)))


def lowered(apart: Apart, passes: Sequence[str], context: ir.Context) -> Part:
    """The functions in the LLVM dialect, by the pipeline `passes`, in this thread's `context`."""
    try:
        module = ir.Module.parse(apart.source, context)
    except ir.MLIRError as error:
        raise mlir_error(error, "<functions>") from None
    run_unlocked(module, passes)
    verify_unlocked(module)
    external = ir.Attribute.parse("#llvm.linkage<external>", context)
    called = set(apart.called)
    for op in module.body:
        if symbol_name(op) in called:
            op.operation.attributes["linkage"] = external
    return Part(module, apart.called[0], declared(module))
