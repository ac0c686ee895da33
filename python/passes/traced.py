"""Runs a pipeline pass by pass, each a step of the trace with its reproducer."""

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.failures.reproducer import module_text, reproducer_text
from mlir_fp8.failures.trace import Trace
from mlir_fp8.passes.pass_manager import build_pass_manager, run_manager
from mlir_fp8.passes.pipeline_text import Element, parse_element


def run_traced(trace: Trace, manager: PassManager, module: ir.Operation, *, verify: bool) -> None:
    """Run on `module` what `manager` would, its passes as steps of `trace`.

    Raises what `run_manager` raises.
    """
    whole = parse_element(str(manager))
    passes = [each for element in whole.nested or () for each in _single(element)]
    for index, (name, _) in enumerate(passes):
        rest = ",".join(text for _, text in passes[index:])

        def reproducer(rest: str = rest) -> str:
            pipeline = f"{whole.name}({rest})"
            return reproducer_text(module_text(module), pipeline, verify_each=verify)

        with trace.within(name, reproducer):
            run_manager(_manager(whole.name, passes[index][1], module, verify=verify), module)


def _single(element: Element) -> list[tuple[str, str]]:
    """Name and text of each pass in `element`, nested as it is there."""
    if element.nested is None:
        return [(element.name, element.text)]
    inner = [each for nested in element.nested for each in _single(nested)]
    return [(name, f"{element.name}({text})") for name, text in inner]


def _manager(anchor: str, text: str, module: ir.Operation, *, verify: bool) -> PassManager:
    try:
        manager = build_pass_manager(f"{anchor}({text})", module.context)
    except Fp8Error as error:  # MLIR prints some option as it does not read it
        raise AssertionError(f"{text} is not read back: {error}") from None
    manager.enable_verifier(verify)
    return manager
