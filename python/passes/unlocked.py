"""Pipelines that run without the GIL, where the passes are MLIR's own.

The bindings' pass manager holds the GIL while it runs. MLIR's C function, called by ctypes, does
not.
"""

from collections.abc import Sequence
from itertools import groupby

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from mlir_fp8.base.context import diagnostics, mlir_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.source_place import split_place
from mlir_fp8.compiling.native.c_api import c_pointer, library
from mlir_fp8.failures.trace import tracing
from mlir_fp8.lowering import pass_class, pass_names
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.passes.pipeline_text import parse_element, parse_options

_NAME = "<module>"
"""What errors call a module whose file is not known."""


def run_unlocked(module: ir.Module, pipeline: Sequence[str]) -> None:
    """Run `pipeline` on `module`, which is in a context of this thread's own, unverified.

    Raises `Fp8Error` with the first error. Elements are those of `pipelines.py`, which are known to
    be right, in MLIR's own nesting.
    """
    if tracing() is not None:
        run_pipeline(module, pipeline, verify_each=False)
        return
    for is_own, elements in groupby(pipeline, _is_own):
        if is_own:
            for element in elements:
                _run_own(module, element)
        else:
            _run_upstream(module, ",".join(elements))


def verify_unlocked(module: ir.Module) -> None:
    """Raises `Fp8Error` with the first error."""
    with diagnostics(module.context) as errors:
        if not library().mlirOperationVerify(c_pointer(module.operation)):
            raise _first(errors, "the module is not valid")


def _is_own(element: str) -> bool:
    return element.partition("{")[0] in pass_names()


def _run_own(module: ir.Module, text: str) -> None:
    element = parse_element(text)
    options = parse_options(element.name, element.options)
    with module.context:
        try:
            pass_class(element.name).from_options(element.name, options).run(module.operation)
        except Fp8Error as error:
            raise _first([str(error)]) from None
        except ir.MLIRError as error:
            raise mlir_error(error, _NAME) from None


def _run_upstream(module: ir.Module, elements: str) -> None:
    manager = PassManager.parse(f"builtin.module({elements})", module.context)
    manager.enable_verifier(False)
    with diagnostics(module.context) as errors:
        if library().mlirPassManagerRunOnOp(c_pointer(manager), c_pointer(module.operation)).value:
            return
        raise _first(errors, f"MLIR's passes {elements} failed")


def _first(errors: list[str], otherwise: str = "") -> Fp8Error:
    """As `mlir_error` has it, of messages that may begin with a place."""
    message = errors[0].partition("\n")[0] if errors else otherwise
    place, reason = split_place(message)
    if place is None or not place.line:
        return Fp8Error(f"{_NAME}: {reason.removeprefix('unknown: ')}")
    return Fp8Error(f"{_NAME}{message[1:]}" if message.startswith("-:") else message)
