"""MLIR contexts with the dialects of all pipelines loaded, and diagnostics as errors."""

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType
from typing import Any, cast

from torch_mlir import ir, passmanager
from torch_mlir._mlir_libs import _stablehlo, _torchMlir

from mlir_fp8.base.errors import Fp8Error

_stablehlo.register_stablehlo_passes()

# The bindings look up the Python module of each op's dialect, and where the wheel has none they
# search the disk every time: most of the cost of a walk over a module.
for _module in (f"torch_mlir.dialects.{dialect}" for dialect in ("chlo", "stablehlo", "vhlo")):
    if _module not in sys.modules and find_spec(_module) is None:
        sys.modules[_module] = ModuleType(_module, "No classes for the ops of this dialect.")
# Classes of ops that nothing here asks for, which take a tenth of a second to import.
_NOT_ASKED_FOR = ["torch_mlir.dialects.linalg", "torch_mlir.dialects.llvm"]


# The classes of a dialect's ops are registered anew for each context, in one table for all.
_loading = threading.Lock()


def _renew_lock() -> None:
    """A child may be forked while another thread holds the lock."""
    global _loading
    _loading = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


def make_context(*, allow_unregistered_dialects: bool = False, threads: bool = False) -> ir.Context:
    """A context that knows StableHLO, VHLO, CHLO and all upstream dialects.

    One thread by default: modules here are small, and a thread pool costs more than it gains.
    """
    context = ir.Context()
    context.enable_multithreading(threads)
    context.allow_unregistered_dialects = allow_unregistered_dialects
    _stablehlo.register_dialect(context)
    _torchMlir.register_dialect(context)
    # The bindings register CHLO and VHLO nowhere; passes that depend on them load them.
    with context, ir.Location.unknown():
        load = "builtin.module(func.func(convert-torch-to-stablehlo),stablehlo-legalize-to-vhlo)"
        passmanager.PassManager.parse(load).run(ir.Module.create().operation)
    _do_without_classes(context)
    return context


def registering_classes() -> threading.Lock:
    """What to hold while the classes of a dialect's ops are registered."""
    return _loading


def _do_without_classes(context: ir.Context) -> None:
    """Let the bindings take the classes `_NOT_ASKED_FOR` for loaded; who imports them has them."""
    with _loading:
        while _NOT_ASKED_FOR:
            module = _NOT_ASKED_FOR.pop()
            if module in sys.modules:
                continue
            sys.modules[module] = ModuleType(module)
            try:
                _ = context.dialects[module.rpartition(".")[2]]
            finally:
                del sys.modules[module]


def check_module(module: object, *others: type) -> None:
    """Refuse what is no module of these bindings (nor one of `others`), another library's too."""
    if not isinstance(module, (ir.Module, *others)):
        kind = f"{type(module).__module__}.{type(module).__name__}"
        raise Fp8Error(f"module is a {kind}: give what mlir_fp8.load returns")


def file_position(location: ir.Location) -> ir.FileLineColLoc | None:
    """The first position in a file inside `location`, in MLIR's order of looking."""
    if isinstance(location, ir.FileLineColLoc):
        return location if location.start_line else None
    inner: Sequence[ir.Location] = []
    if isinstance(location, ir.CallSiteLoc):
        inner = [location.callee, location.caller]
    elif isinstance(location, ir.NameLoc):
        inner = [location.child_loc]
    elif isinstance(location, ir.FusedLoc):
        inner = cast(Sequence[ir.Location], location.locations)
    return next((found for each in inner if (found := file_position(each))), None)


def format_location(location: ir.Location) -> str:
    """`file:line:column` where the location holds one, else MLIR's own spelling."""
    found = file_position(location)
    if found is not None:
        return f"{found.filename}:{found.start_line}:{found.start_col}"
    return str(location).removeprefix("loc(").removesuffix(")").replace('"', "")


def op_error(op: ir.Operation | ir.OpView, reason: str) -> Fp8Error:
    """An error about `op`: `location: 'dialect.op' reason`."""
    op = op.operation
    return Fp8Error(f"{format_location(op.location)}: '{op.name}' {reason}")


def symbol_name(op: ir.Operation | ir.OpView) -> str:
    """The name that `op` defines; MLIR takes any bytes for it, of which only UTF-8 is accepted."""
    try:
        return ir.StringAttr(op.operation.attributes["sym_name"]).value
    except RuntimeError:
        raise op_error(op, "has a name that is not UTF-8: rename it") from None


@contextmanager
def diagnostics(context: ir.Context) -> Iterator[list[str]]:
    """Collect the errors that a library prints, as `location: message`, instead of printing them.

    Those that the bindings raise come as `MLIRError`; see `mlir_error`.
    """
    collected: list[str] = []

    def collect(diagnostic: ir.Diagnostic) -> bool:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            collected.append(f"{format_location(diagnostic.location)}: {diagnostic.message}")
        return True

    handler: Any = context.attach_diagnostic_handler(collect)
    try:
        yield collected
    finally:
        handler.detach()


def mlir_error(error: ir.MLIRError, name: str) -> Fp8Error:
    """One line from an MLIR exception: the first diagnostic, its place named after `name`."""
    if not error.error_diagnostics:
        return Fp8Error(f"{name}: {str(error).splitlines()[0]}")
    first = error.error_diagnostics[0]
    place = format_location(first.location)
    if place in ("-:0:0", "unknown"):
        place = name
    elif place.startswith("-:"):
        place = name + place[1:]
    return Fp8Error(f"{place}: {first.message.splitlines()[0]}")
