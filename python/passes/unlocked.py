"""Pipelines whose passes let other threads of Python work, where they are MLIR's own.

The bindings' pass manager holds Python's lock while it runs. MLIR's C function, called by ctypes,
does not.
"""

from collections.abc import Sequence
from itertools import groupby

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from mlir_fp8.context import diagnostics
from mlir_fp8.errors import Fp8Error
from mlir_fp8.lowering import pass_class, pass_names
from mlir_fp8.native.c_api import c_pointer, library
from mlir_fp8.passes.pipeline_text import parse_element, parse_options


def run_unlocked(module: ir.Module, pipeline: Sequence[str]) -> None:
    """Run `pipeline` on `module`, which is in a context of this thread's own, and verify it then.

    Raises `Fp8Error` with the first error. Elements are those of `pipelines.py`, which are known to
    be right, in MLIR's own nesting.
    """
    for is_own, elements in groupby(pipeline, _is_own):
        if is_own:
            for element in elements:
                _run_own(module, element)
        else:
            _run_upstream(module, ",".join(elements))
    with diagnostics(module.context) as errors:
        if not library().mlirOperationVerify(c_pointer(module.operation)):
            raise Fp8Error(errors[0] if errors else "the passes left a module that is not valid")


def _is_own(element: str) -> bool:
    return element.partition("{")[0] in pass_names()


def _run_own(module: ir.Module, text: str) -> None:
    element = parse_element(text)
    options = parse_options(element.name, element.options)
    with module.context:
        pass_class(element.name).from_options(element.name, options).run(module.operation)


def _run_upstream(module: ir.Module, elements: str) -> None:
    manager = PassManager.parse(f"builtin.module({elements})", module.context)
    manager.enable_verifier(False)
    with diagnostics(module.context) as errors:
        if library().mlirPassManagerRunOnOp(c_pointer(manager), c_pointer(module.operation)).value:
            return
        raise Fp8Error(errors[0] if errors else f"MLIR's passes {elements} failed")
