"""Compile a module to native code and call it on numpy arrays."""

import ctypes
import functools
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import _mlir_libs, ir
from torch_mlir.execution_engine import ExecutionEngine

from mlir_fp8 import pipelines
from mlir_fp8.arrays import TensorSpec, sound, spell
from mlir_fp8.context import make_context, mlir_error, op_error, symbol_name
from mlir_fp8.errors import Fp8Error
from mlir_fp8.lowering._quantized import storage_type
from mlir_fp8.lowering.parallel_calls_to_llvm import PARALLEL_FOR
from mlir_fp8.lowering.stablehlo_flatten_signatures import flattened
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.reading.loader import load
from mlir_fp8.scalars import scalar_array
from mlir_fp8.threads import check_threads, share_pool

# Before every function's name in native code, so that none is taken for one of the C library.
_PREFIX = "fp8."

Stage = Callable[[str, float, ir.Module], None]
"""Called after each stage with its name, its seconds and the module as it then is."""


class CompiledModule:
    """Native code for one entry function.

    Calling it takes one array per argument, of exactly the declared shape and dtype (float8,
    bfloat16, i4 and i2 as ml_dtypes arrays; Python scalars where a rank-0 tensor is declared), and
    gives a tuple with one new array per result. C-contiguous arguments are used in place and never
    written.
    Calls from several threads are independent.
    """

    def __init__(
        self,
        engine: ExecutionEngine,
        entry: str,
        arguments: Sequence[TensorSpec],
        results: Sequence[TensorSpec],
    ) -> None:
        self.entry = entry
        self.arguments = tuple(arguments)
        self.results = tuple(results)
        self._engine = engine  # owns the code
        address = engine.raw_lookup(_PREFIX + entry)
        if not address:
            raise Fp8Error(f"entry function '{entry}' has no code")
        self._function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)

    def __call__(self, *arrays: Any) -> tuple[np.ndarray, ...]:
        if len(arrays) != len(self.arguments):
            raise Fp8Error(
                f"'{self.entry}' takes {len(self.arguments)} arguments, {len(arrays)} were given"
            )
        inputs = [
            argument_array(index, spec, array)
            for index, (spec, array) in enumerate(zip(self.arguments, arrays, strict=True))
        ]
        outputs = [np.empty(spec.shape, spec.dtype) for spec in self.results]
        # Arrays without elements are not passed (drop-empty-arguments).
        buffers = [array for array in inputs + outputs if array.size]
        # The packed calling convention: an array of pointers to the arguments, themselves pointers.
        pointers = (ctypes.c_void_p * len(buffers))(*(b.ctypes.data for b in buffers))
        size = ctypes.sizeof(ctypes.c_void_p)
        start = ctypes.addressof(pointers)
        packed = (ctypes.c_void_p * len(buffers))(*(start + i * size for i in range(len(buffers))))
        self._function(ctypes.addressof(packed))
        return tuple(outputs)


def argument_array(index: int, spec: TensorSpec, array: Any) -> np.ndarray:
    """`array` as native code takes it; raises `Fp8Error` where it is not of the declared type."""
    if isinstance(array, np.ma.MaskedArray):
        raise Fp8Error(f"argument {index} is masked: fill it (numpy.ma.filled), or pass its data")
    if not isinstance(array, np.ndarray | np.generic):
        if spec.shape:
            raise Fp8Error(f"argument {index} is a {type(array).__name__}, not an array of {spec}")
        return scalar_array(f"argument {index}", spec.element, array)
    array = np.asarray(array)
    if array.dtype != spec.dtype or array.shape != spec.shape:
        raise Fp8Error(f"argument {index} is {spell(array)}, declared {spec}")
    array = np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED"])
    return sound(f"argument {index}", array)


def compile(  # noqa: A001 - the verb of the domain, used as `mlir_fp8.compile`
    module: ir.Module | str | Path | bytes,
    *,
    entry: str = "main",
    shapes: Sequence[Any] | None = None,
    saturate: bool = False,
    rounding: str = pipelines.NEAREST_EVEN,
    seed: int = 0,
    allow_excess_precision: bool = False,
    threads: int | None = None,
    opt_level: int = 2,
    on_stage: Stage | None = None,
) -> CompiledModule:
    """Compile `entry` of a StableHLO, CHLO or MHLO module; the module itself is left as it is.

    `module` is a module or whatever `mlir_fp8.load` takes. Where arguments have sizes that are not
    declared (`?`), `shapes` gives one per argument, or an array that has it. `saturate` rounds
    numbers beyond a small float's range to its largest value instead of to infinity or NaN.
    `rounding` is how f8, f6 and f4 are rounded to: nearest-even, toward-zero, or stochastic, where
    `seed` tells which random bits (docs/numerics.md); an `fp8.convert` says so for itself.
    Up to `threads` threads share big loops, by default as many as the process may use cores, or as
    MLIR_FP8_NUM_THREADS says; results do not depend on it.
    `allow_excess_precision` keeps f32 where the module rounds to bf16 or f16 between two ops.
    Raises `Fp8Error` naming the op, its place and the reason where the module cannot be compiled.
    """
    check_threads(threads)
    source = module if isinstance(module, ir.Module) else load(module)
    if shapes is not None:
        from mlir_fp8.shapes import with_shapes

        source = with_shapes(source, entry, shapes)
    module = copy_of(source)
    report = on_stage or (lambda *_: None)
    with module.context:
        function = entry_function(module, entry)
        arguments, results = signature(function)
        isolate_entry(module, function)
        _prefix_functions(module)
    stages = {
        "to linalg": pipelines.to_linalg(
            rounding=rounding,
            seed=seed,
            saturate=saturate,
            allow_excess_precision=allow_excess_precision,
        ),
        "to LLVM": pipelines.to_llvm(saturate=saturate, threads=threads or 0),
    }
    for name, passes in stages.items():
        started = time.perf_counter()
        _run_stage(module, passes)
        _refuse_declarations(module)
        report(name, time.perf_counter() - started, module)
    _disable_slp_vectorizer()
    started = time.perf_counter()
    with module.context:
        engine = ExecutionEngine(module, opt_level=opt_level)
        if PARALLEL_FOR in ir.SymbolTable(module.operation):
            share_pool(engine)
        compiled = CompiledModule(engine, entry, arguments, results)
    report("to native code", time.perf_counter() - started, module)
    return compiled


def _run_stage(module: ir.Module, passes: Sequence[str]) -> None:
    """Verified at the end: after each pass, as the lit tests do, it takes a third of the time."""
    run_pipeline(module, passes, verify_each=False)
    try:
        module.operation.verify()
    except ir.MLIRError as error:
        raise mlir_error(error, "<module>") from None


@functools.cache
def _disable_slp_vectorizer() -> None:
    """LLVM's SLP vectorizer narrows `smin(smax(x, 0), 1)` wrongly: it made -1 of a 1.

    Its switch is a command-line option of LLVM, which may be given once per process.
    """
    (library,) = Path(_mlir_libs.__file__).parent.glob("libTorchMLIRAggregateCAPI.*")
    arguments = (ctypes.c_char_p * 2)(b"mlir-fp8", b"-vectorize-slp=false")
    ctypes.CDLL(str(library)).LLVMParseCommandLineOptions(2, arguments, None)


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
        ir.SymbolTable.replace_all_symbol_uses(old, _PREFIX + old, module.operation)
        ir.SymbolTable.set_symbol_name(function, _PREFIX + old)


def _refuse_declarations(module: ir.Module) -> None:
    """What is only declared would be looked for in the process itself, whatever it is there."""
    for function in _functions(module):
        if not len(function.regions[0].blocks):
            name = symbol_name(function).removeprefix(_PREFIX)
            raise op_error(function, f"'{name}' is called, but only declared: give it a body")
