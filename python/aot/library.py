"""From a module to LLVM IR with one C function per public function."""

import dataclasses
import re
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.aot.llvm_ir import llvm_ir
from mlir_fp8.aot.thread_pool import SET_THREADS, add_pool
from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.context import op_error, symbol_name
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations
from mlir_fp8.base.symbols import PREFIX
from mlir_fp8.compiling.compile_options import CompileOptions
from mlir_fp8.compiling.entry import copy_of, signature
from mlir_fp8.compiling.execution import lower_functions
from mlir_fp8.compiling.shapes import leaves_sizes_open
from mlir_fp8.lowering.frontend._top_k_calls import called_computations

_WITH_SIZES = (
    "--legalize-sizes-to-stablehlo --inline --stablehlo-refine-arguments='types=TYPE,...' "
    "--stablehlo-refine-dynamism"
)


@dataclass(frozen=True)
class Function:
    """A C function: pointers to its arguments, then to its results."""

    name: str
    """In C, with the library's prefix."""
    source: str
    """In the module."""
    arguments: tuple[TensorSpec, ...]
    results: tuple[TensorSpec, ...]


@dataclass(frozen=True)
class Library:
    """All public functions of a module, and the code of them, in LLVM IR."""

    prefix: str
    functions: tuple[Function, ...]
    ir_text: str
    threads: int
    """The default number of threads of a call; with 1, C can't set another."""

    @property
    def set_threads(self) -> str:
        """The C function by which it says so."""
        return _set_threads(self.prefix)


def make_library(
    source: ir.Module, prefix: str, options: CompileOptions, *, threads: int = 1, triple: str = ""
) -> Library:
    """The public functions of `source` under C names; `options.entry` is not looked at.

    With more than one of `threads` the library has a thread pool of its own, for the system of
    `triple`. Raises `Fp8Error` where the module cannot be compiled or two names become one in C.
    """
    prefix = c_name(prefix)
    module = copy_of(source)
    functions: dict[str, Function] = {}
    with module.context:
        for op in _public_functions(module):
            name = f"{prefix}_{c_name(symbol_name(op))}"
            taken = functions.get(name)
            if taken is not None:
                raise op_error(op, f"is {name} in C, as '{taken.source}' is: rename one")
            if threads > 1 and name == _set_threads(prefix):
                raise op_error(op, f"is {name} in C, which sets the number of threads: rename it")
            if leaves_sizes_open(op):
                raise op_error(op, f"has dynamic shapes: give sizes first (fp8-opt {_WITH_SIZES})")
            takes, gives = signature(op)
            functions[name] = Function(name, symbol_name(op), tuple(takes), tuple(gives))
    if not functions:
        raise Fp8Error("the module has no public function to compile")
    # With 0 the pool says how many.
    of_pool = dataclasses.replace(options, threads=1 if threads == 1 else 0)
    lower_functions(
        module,
        of_pool,
        lambda *_: None,
        check_lapack=_refuse_lapack,
        huge_pages="linux" in triple,
    )
    if threads > 1:
        add_pool(module, threads, triple, _set_threads(prefix))
    _export(module, functions, kept=_set_threads(prefix))
    return Library(prefix, tuple(functions.values()), llvm_ir(module), threads)


def _refuse_lapack(symbol: str) -> None:
    raise Fp8Error("no library brings that, but scipy in Python: use mlir_fp8.compile or fp8-run")


def _set_threads(prefix: str) -> str:
    return f"{prefix}_{SET_THREADS}"


def c_name(name: str) -> str:
    """`name` with an underscore for everything that a C identifier does not have."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    return plain if plain[:1].isalpha() else f"m{plain}"  # C keeps _Names for itself


def _public_functions(module: ir.Module) -> list[ir.Operation]:
    found = []
    calls = operations(module.operation, "stablehlo.custom_call")
    parts = {name for op in calls for name in called_computations(op)}
    for op in (each.operation for each in module.body.operations):
        is_function = op.name == "func.func" and len(op.regions[0].blocks)
        if is_function and symbol_name(op) in parts:  # a comparator, say, which JAX leaves public
            op.attributes["sym_visibility"] = ir.StringAttr.get("private")
        elif is_function and str(op.attributes.get("sym_visibility", "")) in ("", '"public"'):
            found.append(op)
    return found


def _export(module: ir.Module, functions: dict[str, Function], kept: str) -> None:
    """Give all but the C functions, under their C names, and `kept` internal linkage."""
    with module.context:
        internal = ir.Attribute.parse("#llvm.linkage<internal>")
        for op in [each.operation for each in module.body.operations]:
            is_function = op.name == "llvm.func" and len(op.regions[0].blocks)
            if is_function and symbol_name(op) != kept:
                op.attributes["linkage"] = internal
        table = ir.SymbolTable(module.operation)
        external = ir.Attribute.parse("#llvm.linkage<external>")
        for function in functions.values():
            op = table[PREFIX + function.source].operation
            op.attributes["linkage"] = external
            ir.SymbolTable.replace_all_symbol_uses(
                PREFIX + function.source, function.name, module.operation
            )
            ir.SymbolTable.set_symbol_name(op, function.name)
