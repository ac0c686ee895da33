"""From a module to native code in this process."""

import contextlib
import ctypes
import gc
import io
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from torch_mlir import ir
from torch_mlir.execution_engine import ExecutionEngine

from mlir_fp8 import pipelines
from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.artifacts.dense_resources import make_dense
from mlir_fp8.base.context import format_location, mlir_error, op_error, symbol_name
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.symbols import EXCHANGE, LAPACK, PARALLEL_FOR, PREFIX
from mlir_fp8.compiling.compile_options import CompileOptions
from mlir_fp8.compiling.compiled_module import CompiledModule
from mlir_fp8.compiling.donation import donated_pairs, passed_pairs
from mlir_fp8.compiling.entry import copy_of, entry_function, functions, isolate_entry, signature
from mlir_fp8.compiling.native.exchange import exchange_address
from mlir_fp8.compiling.native.lapack import addresses, is_lapack, require
from mlir_fp8.compiling.native.llvm_options import set_llvm_options
from mlir_fp8.compiling.native.module_parts import declared
from mlir_fp8.compiling.native.object_code import object_file
from mlir_fp8.compiling.native.part_compiler import PartCompiler
from mlir_fp8.compiling.native.stored_module import is_linkable, linked, prepare_linking
from mlir_fp8.compiling.shapes import with_result_sizes
from mlir_fp8.compiling.threads import share_pool, thread_count
from mlir_fp8.failures.trace import step, tracing
from mlir_fp8.lowering.buffers._donations import donate
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.passes.unlocked import run_unlocked

Pairs = tuple[tuple[int, int], ...]
Stage = Callable[[str, float, ir.Module], None]
"""Called after each stage with its name, its seconds and the module as it then is."""


class Taker(Protocol):
    """Takes functions that are ready out of a module and lowers them concurrently."""

    def take_kernels(self, module: ir.Module) -> None:
        """`module` is at the end of `pipelines.to_kernels`."""

    def take_loops(self, module: ir.Module) -> None:
        """`module` is at the end of `pipelines.kernels_to_loops`."""


def compile_module(
    source: ir.Module | Callable[[], ir.Module],
    options: CompileOptions,
    on_stage: Stage | None = None,
) -> tuple[CompiledModule, Callable[[], list[bytes]]]:
    """Native code for a module, which is not changed, and a function that gives its object files.

    `source` may also be what makes the module, each time it is called a new one.

    Raises `Fp8Error` naming the op, its place and the reason where it cannot be compiled.
    """
    report = on_stage or (lambda *_: None)
    threads = options.threads or thread_count()
    with _uncollected(), PartCompiler(options.opt_level, threads, options.threads) as compiler:
        # `on_stage` sees stages one after the other.
        taker = compiler if compiler.is_worth_it and tracing() is None else None
        module, arguments, results, donated = lower_to_llvm(source, options, report, taker)
        started = time.perf_counter()
        objects = compiler.objects(module, prepare_linking)
    if objects and is_linkable(objects):
        compiled = CompiledModule(linked(objects), options.entry, arguments, results, donated)
        report("to native code", time.perf_counter() - started, module)
        return compiled, lambda: objects
    if compiler.has_taken:
        module, *_ = lower_to_llvm(source, options)
    engine = native_code(module, options.opt_level)
    compiled = CompiledModule(engine, options.entry, arguments, results, donated)
    report("to native code", time.perf_counter() - started, module)
    return compiled, lambda: [object_file(engine)]


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Without Python's cyclic garbage collector: passes leave no cycles, and it takes 3% of the
    time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def lower_to_llvm(
    source: ir.Module | Callable[[], ir.Module],
    options: CompileOptions,
    report: Stage = lambda *_: None,
    taker: Taker | None = None,
) -> tuple[ir.Module, list[TensorSpec], list[TensorSpec], Pairs]:
    """`source` in the LLVM dialect, one pointer per argument and result of its entry function.

    Then these, and the pairs of an argument and a result that share one pointer.
    """
    if isinstance(source, ir.Module):
        module = copy_of(source)
    else:
        module = source()
        make_dense(module.operation, "module")
    with module.context:
        module = with_result_sizes(module, options.entry, saturate=options.saturate)
    with module.context:
        function = entry_function(module, options.entry)
        arguments, results = signature(function)
        isolate_entry(module, function)
        donated = donated_pairs(module, options.entry, options.donate)
    lower_functions(
        module, options, report, taker, donated=passed_pairs(donated, arguments, results)
    )
    return module, arguments, results, donated


def lower_functions(
    module: ir.Module,
    options: CompileOptions,
    report: Stage = lambda *_: None,
    taker: Taker | None = None,
    check_lapack: Callable[[str], None] = require,
    *,
    huge_pages: bool = sys.platform == "linux",
    donated: Sequence[tuple[int, int]] = (),
) -> None:
    """Lower every public function of `module`, in place and under prefixed names.

    `donated` are of its entry function, of arguments and results that have elements.

    What `taker`, if given, takes out of the module is then only declared there. `check_lapack`
    raises `Fp8Error` for a routine of LAPACK that is not there when the code runs.
    """
    with module.context:
        _prefix_functions(module)
    started = time.perf_counter()
    to_linalg = pipelines.to_linalg(
        rounding=options.rounding,
        seed=options.seed,
        saturate=options.saturate,
        allow_excess_precision=options.allow_excess_precision,
        outline_layers=options.outline_layers,
        devices=options.devices,
    )
    run_pipeline(module, to_linalg, verify_each=False)
    _verify(module)
    _refuse_declarations(module)
    for routine in declared(module):
        _check_routine(module, routine, check_lapack)
    if donated:
        with module.context:
            donate(entry_function(module, PREFIX + options.entry), donated)
    report("to linalg", time.perf_counter() - started, module)
    started = time.perf_counter()
    to_kernels = pipelines.to_kernels(
        saturate=options.saturate,
        threads=options.threads,
        kernels=options.kernels,
        apart=taker is not None,
    )
    run_pipeline(module, to_kernels, verify_each=False)
    if taker is not None:
        taker.take_kernels(module)
    to_loops = pipelines.kernels_to_loops(threads=options.threads, huge_pages=huge_pages)
    to_llvm = pipelines.loops_to_llvm(threads=options.threads)
    if taker is None:
        run_pipeline(module, [*to_loops, *to_llvm], verify_each=False)
    else:
        run_unlocked(module, to_loops)
        taker.take_loops(module)
        run_unlocked(module, to_llvm)
    _verify(module)
    report("to LLVM", time.perf_counter() - started, module)


def _check_routine(module: ir.Module, symbol: str, check: Callable[[str], None]) -> None:
    """Where `symbol` is a routine of LAPACK: its declaration is at the place of the first call."""
    if not is_lapack(symbol):
        return
    try:
        check(symbol)
    except Fp8Error as error:
        place = format_location(ir.SymbolTable(module.operation)[symbol].operation.location)
        reason = f"'stablehlo.custom_call' calls {symbol.removeprefix(LAPACK)} of LAPACK"
        raise Fp8Error(f"{place}: {reason}: {error}") from None


def native_code(module: ir.Module, opt_level: int) -> ExecutionEngine:
    """Machine code of a module in the LLVM dialect, for the processor that runs this."""
    set_llvm_options()
    with module.context, step("native code"):
        engine = ExecutionEngine(module, opt_level=opt_level)
        if PARALLEL_FOR in ir.SymbolTable(module.operation):
            share_pool(engine)
        register: Any = engine.raw_register_runtime  # pyright: ignore[reportAttributeAccessIssue]
        outside = addresses(filter(is_lapack, declared(module)))
        if EXCHANGE in declared(module):
            outside[EXCHANGE] = exchange_address()
        for name, address in outside.items():
            register(name, ctypes.c_void_p(address))
        return engine


def _verify(module: ir.Module) -> None:
    """Verify at the end of a stage; after each pass, as in the lit tests, it takes a third of the
    time."""
    try:
        module.operation.verify()
    except ir.MLIRError as error:
        raise mlir_error(error, "<module>") from None


def bytecode(module: ir.Module) -> bytes:
    """What tells `module` from every other."""
    stream = io.BytesIO()
    module.operation.write_bytecode(stream)
    return stream.getvalue()


def _prefix_functions(module: ir.Module) -> None:
    # Longest first: the new name of one may be the old name of another, which is longer.
    for function in sorted(functions(module), key=lambda op: len(symbol_name(op)), reverse=True):
        old = symbol_name(function)
        ir.SymbolTable.replace_all_symbol_uses(old, PREFIX + old, module.operation)
        ir.SymbolTable.set_symbol_name(function, PREFIX + old)


def _refuse_declarations(module: ir.Module) -> None:
    """Refuse declarations: the loader would bind them to any symbol of that name in the process."""
    for function in functions(module):
        if not len(function.regions[0].blocks):
            name = symbol_name(function).removeprefix(PREFIX)
            raise op_error(function, f"'{name}' is called, but only declared: give it a body")
