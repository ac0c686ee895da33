"""From a module to native code in this process."""

import ctypes
import functools
import io
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from torch_mlir import ir
from torch_mlir.execution_engine import ExecutionEngine

from mlir_fp8 import pipelines
from mlir_fp8.arrays import TensorSpec
from mlir_fp8.compile_options import CompileOptions
from mlir_fp8.compiled_module import PREFIX, CompiledModule
from mlir_fp8.context import make_context, mlir_error, op_error, symbol_name
from mlir_fp8.errors import Fp8Error
from mlir_fp8.lowering._quantized import storage_type
from mlir_fp8.lowering.stablehlo_flatten_signatures import flattened
from mlir_fp8.native.code_generator import is_usable, let_threads_translate, library, object_of
from mlir_fp8.native.module_parts import parts_of
from mlir_fp8.native.object_code import object_file
from mlir_fp8.native.stored_module import is_linkable, linked
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.threads import PARALLEL_FOR, share_pool, thread_count

Stage = Callable[[str, float, ir.Module], None]
"""Called after each stage with its name, its seconds and the module as it then is."""


def compile_module(
    source: ir.Module, options: CompileOptions, on_stage: Stage | None = None
) -> tuple[CompiledModule, Callable[[], list[bytes]]]:
    """Native code for a module, which is left as it is, and what gives the object files of it.

    Raises `Fp8Error` naming the op, its place and the reason where it cannot be compiled.
    """
    report = on_stage or (lambda *_: None)
    module, arguments, results = lower_to_llvm(source, options, report)
    started = time.perf_counter()
    objects = compiled_parts(module, options.opt_level, options.threads or thread_count())
    if objects and is_linkable(objects):
        compiled = CompiledModule(linked(objects), options.entry, arguments, results)
        report("to native code", time.perf_counter() - started, module)
        return compiled, lambda: objects
    engine = native_code(module, options.opt_level)
    compiled = CompiledModule(engine, options.entry, arguments, results)
    report("to native code", time.perf_counter() - started, module)
    return compiled, lambda: [object_file(engine)]


def lower_to_llvm(
    source: ir.Module, options: CompileOptions, report: Stage
) -> tuple[ir.Module, list[TensorSpec], list[TensorSpec]]:
    """`source` in the LLVM dialect, one pointer per argument and result of its entry function."""
    module = copy_of(source)
    with module.context:
        function = entry_function(module, options.entry)
        arguments, results = signature(function)
        isolate_entry(module, function)
    lower_functions(module, options, report)
    return module, arguments, results


def lower_functions(module: ir.Module, options: CompileOptions, report: Stage) -> None:
    """Lower every public function of `module`, in place and under prefixed names."""
    with module.context:
        _prefix_functions(module)
    stages = {
        "to linalg": pipelines.to_linalg(
            rounding=options.rounding,
            seed=options.seed,
            saturate=options.saturate,
            allow_excess_precision=options.allow_excess_precision,
        ),
        "to LLVM": pipelines.to_llvm(
            saturate=options.saturate, threads=options.threads, kernels=options.kernels
        ),
    }
    for name, passes in stages.items():
        started = time.perf_counter()
        _run_stage(module, passes)
        _refuse_declarations(module)
        report(name, time.perf_counter() - started, module)


def compiled_parts(module: ir.Module, opt_level: int, threads: int) -> list[bytes]:
    """Object files of a module in the LLVM dialect, for the processor that runs this, by up to
    `threads` threads; none where that is not worth it."""
    parts = parts_of(module, threads) if is_usable() else []
    if not parts:
        return []
    _set_llvm_options()
    let_threads_translate(module.context)
    with ThreadPoolExecutor(len(parts), thread_name_prefix="mlir-fp8-compile") as pool:
        return list(
            pool.map(lambda part: object_of(part.module, opt_level, part.shown, part.others), parts)
        )


def native_code(module: ir.Module, opt_level: int) -> ExecutionEngine:
    """Machine code of a module in the LLVM dialect, for the processor that runs this."""
    _set_llvm_options()
    with module.context:
        engine = ExecutionEngine(module, opt_level=opt_level)
        if PARALLEL_FOR in ir.SymbolTable(module.operation):
            share_pool(engine)
        return engine


def _run_stage(module: ir.Module, passes: Sequence[str]) -> None:
    """Verified at the end: after each pass, as the lit tests do, it takes a third of the time."""
    run_pipeline(module, passes, verify_each=False)
    try:
        module.operation.verify()
    except ir.MLIRError as error:
        raise mlir_error(error, "<module>") from None


@functools.cache
def _set_llvm_options() -> None:
    """Options of LLVM's command line, which may be given once per process.

    The SLP vectorizer narrows `smin(smax(x, 0), 1)` wrongly: it made -1 of a 1. The scheduler after
    register allocation takes a seventh of code generation, for processors that order instructions
    themselves.
    """
    options = [b"mlir-fp8", b"-vectorize-slp=false", b"-post-RA-scheduler=false"]
    arguments = (ctypes.c_char_p * len(options))(*options)
    library().LLVMParseCommandLineOptions(len(options), arguments, None)


def bytecode(module: ir.Module) -> bytes:
    """What tells `module` from every other."""
    stream = io.BytesIO()
    module.operation.write_bytecode(stream)
    return stream.getvalue()


def copy_of(module: ir.Module) -> ir.Module:
    """A copy with its locations and without resources, in a context of its own."""
    from mlir_fp8.artifacts.dense_resources import dense_copy

    return dense_copy(module, make_context(), "module")


def entry_function(module: ir.Module, entry: str) -> ir.Operation:
    """The function `entry`, which has a body; `Fp8Error` where there is none."""
    functions = _functions(module)
    names = [symbol_name(op) for op in functions]
    if entry not in names:
        known = ", ".join(names) or "none"
        raise Fp8Error(f"there is no function '{entry}' to compile (functions: {known})")
    function = functions[names.index(entry)]
    if not len(function.regions[0].blocks):
        raise op_error(function, f"'{entry}' is only declared: it has no body to compile")
    return function


def entry_signature(
    module: ir.Module, entry: str = "main"
) -> tuple[list[TensorSpec], list[TensorSpec]]:
    """Arguments and results of the function `entry`; raises `Fp8Error` where `compile` would."""
    with module.context:
        return signature(entry_function(module, entry))


def signature(function: ir.Operation) -> tuple[list[TensorSpec], list[TensorSpec]]:
    """Arguments and results of a `func.func`; refuses what cannot cross to numpy.

    Those of tuples stand in their place, nested ones too; tokens are left out.
    """
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    return (
        [_spec(function, f"argument {i}", t) for i, t in enumerate(flattened(type_.inputs))],
        [_spec(function, f"result {i}", t) for i, t in enumerate(flattened(type_.results))],
    )


def _spec(function: ir.Operation, what: str, type_: ir.Type) -> TensorSpec:
    if not isinstance(type_, ir.RankedTensorType):
        raise op_error(function, f"{what} is {type_}: only ranked tensors can be run")
    if type_.encoding is not None:
        raise op_error(function, f"{what} is {type_}: only dense, unbounded tensors can be run")
    if not type_.has_static_shape:
        way_out = "give every dimension a size, or compile with shapes= (fp8-run: --args)"
        raise op_error(function, f"{what} is {type_}: {way_out}")
    spec = TensorSpec(tuple(type_.shape), str(storage_type(type_.element_type)))
    try:
        _ = spec.dtype
    except Fp8Error as error:
        raise op_error(function, f"{what}: {error}") from None
    return spec


def _functions(module: ir.Module) -> list[ir.Operation]:
    return [op.operation for op in module.body.operations if op.operation.name == "func.func"]


def isolate_entry(module: ir.Module, entry: ir.Operation) -> None:
    """Make every other function private, so that what the entry does not call is dropped."""
    for function in _functions(module):
        visibility = "public" if function == entry else "private"
        function.attributes["sym_visibility"] = ir.StringAttr.get(visibility)


def _prefix_functions(module: ir.Module) -> None:
    # Longest first: the new name of one may be the old name of another, which is longer.
    for function in sorted(_functions(module), key=lambda op: len(symbol_name(op)), reverse=True):
        old = symbol_name(function)
        ir.SymbolTable.replace_all_symbol_uses(old, PREFIX + old, module.operation)
        ir.SymbolTable.set_symbol_name(function, PREFIX + old)


def _refuse_declarations(module: ir.Module) -> None:
    """What is only declared would be looked for in the process itself, whatever it is there."""
    for function in _functions(module):
        if not len(function.regions[0].blocks):
            name = symbol_name(function).removeprefix(PREFIX)
            raise op_error(function, f"'{name}' is called, but only declared: give it a body")
