"""Runs pipelines on modules; a failed run is repeated pass by pass to find the failing one."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from mlir_fp8.base.context import mlir_error
from mlir_fp8.failures.trace import tracing
from mlir_fp8.passes.pass_manager import build_pass_manager, run_manager


def run_pipeline(
    module: ir.Module,
    pipeline: str | Sequence[str],
    *,
    name: str = "<module>",
    verify_each: bool = True,
) -> None:
    """Run `pipeline` on `module` in place; see `build_pass_manager`.

    Raises `Fp8Error` with MLIR's first error; `name` stands for the module where that error has no
    place. The module is then left as the failing pass left it.
    """
    manager = build_pass_manager(pipeline, module.context)
    try:
        run_passes(manager, module.operation, verify_each=verify_each)
    except ir.MLIRError as error:
        raise mlir_error(error, name) from None


def run_passes(manager: PassManager, module: ir.Operation, *, verify_each: bool) -> None:
    """As `run_manager`, each pass as a step of the trace where one watches."""
    trace = tracing()
    if trace is not None:
        from mlir_fp8.passes.traced import run_traced  # while what failed runs once more

        run_traced(trace, manager, module, verify=verify_each)
        return
    manager.enable_verifier(verify_each)
    run_manager(manager, module)
