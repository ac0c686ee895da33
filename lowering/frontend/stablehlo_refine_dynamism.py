"""`stablehlo-refine-dynamism`: shapes that follow from others become static, dynamic ops with them.

Upstream's passes do the work. They are the slowest on StableHLO, so they run only on modules with
dynamic shapes.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from torch_mlir import ir, passmanager

from mlir_fp8.base.context import op_error, symbol_name
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.frontend.boolean_add_to_or import BooleanAddToOr
from mlir_fp8.lowering.frontend.sizes.assertions import check_assertions
from mlir_fp8.lowering.frontend.sizes.dynamic import (
    DYNAMIC,
    is_assertion,
    is_dynamic,
    is_dynamic_type,
    is_static_signature,
)
from mlir_fp8.lowering.frontend.sizes.dynamic_calls import replace_dynamic_calls
from mlir_fp8.lowering.frontend.sizes.evaluate import evaluate_sizes
from mlir_fp8.lowering.frontend.sizes.static_results import expand_static_results

_PASSES = "stablehlo-refine-shapes,func.func(stablehlo-canonicalize-dynamism)"


@dataclass(frozen=True)
class StablehloRefineDynamism(ModulePass):
    """Make shapes static where constants and argument types determine them, and the dynamic ops.

    In a module whose entry has static arguments and results, what stays dynamic is refused.
    """

    def run(self, module: ir.Operation) -> None:
        if not any(map(is_dynamic, operations(module))):
            return
        _refuse_bounded(module)
        refine(module)
        ops = operations(module)
        if all(is_static_signature(op) for op in ops if _is_public(op)):
            for op in ops:
                refuse_dynamic(op)


def refine(module: ir.Operation, arguments: Sequence[ir.Type] | None = None) -> None:
    """Make the shapes static that follow from constants and the entry's argument types.

    The entry is `main`, or the only public function; `arguments` are its types from now on.
    Raises `ir.MLIRError` where they do not fit, `Fp8Error` where an assertion of sizes fails.
    """
    BooleanAddToOr().run(module)  # upstream evaluates it as a sum modulo 2
    # In braces: quantized types have commas and spaces in them.
    types = ",".join(f"{{{each}}}" for each in arguments or ())
    passes = (
        _PASSES
        if arguments is None
        else f"stablehlo-refine-arguments{{types={{{types}}}}},{_PASSES}"
    )
    with _named_main(module):
        _run(module, passes)
        while evaluate_sizes(module) or replace_dynamic_calls(module):
            _run(module, _PASSES)
        check_assertions(operations(module))
        expand_static_results(operations(module))


def _run(module: ir.Operation, passes: str) -> None:
    try:
        passmanager.PassManager.parse(f"builtin.module({passes})", module.context).run(module)
    except ir.MLIRError:
        check_assertions(operations(module))  # whose text tells more
        raise


@contextmanager
def _named_main(module: ir.Operation) -> Iterator[None]:
    """With `main` as the name of the entry, the only one that upstream refines."""
    functions = operations(module, "func.func")
    public = [op for op in functions if _is_public(op)]
    if len(public) != 1 or any(symbol_name(op) == "main" for op in functions):
        yield
        return
    name = symbol_name(public[0])
    _rename(module, name, "main")
    try:
        yield
    finally:
        _rename(module, "main", name)


def _rename(module: ir.Operation, old: str, new: str) -> None:
    ir.SymbolTable.replace_all_symbol_uses(old, new, module)
    ir.SymbolTable.set_symbol_name(ir.SymbolTable(module)[old], new)


def _is_public(op: ir.Operation) -> bool:
    if op.name != "func.func":
        return False
    visibility = op.attributes.get("sym_visibility")
    return visibility is None or ir.StringAttr(visibility).value == "public"


def _refuse_bounded(module: ir.Operation) -> None:
    for op in operations(module):
        for value in (*op.operands, *op.results):
            if "#stablehlo.bounds" in str(value.type):
                reason = f"is of {value.type}, which is bounded: declare the size itself"
                raise op_error(op, reason)


def refuse_dynamic(op: ir.Operation) -> None:
    """Raise `Fp8Error` where `op`, no function, has operands, results or sizes that are dynamic."""
    if op.name == "func.func":
        return
    for value in (*op.operands, *op.results):
        if is_dynamic_type(value.type):
            reason = f"is of {value.type}, whose sizes do not follow from the arguments' shapes"
            raise op_error(op, f"{reason}: compute them of constants and of sizes")
    if is_assertion(op):
        text = ir.StringAttr(op.attributes["error_message"]).value
        reason = f"asserts what is known at run time alone ({text!r}): nothing stops native code"
        raise op_error(op, f"{reason}, so leave it out")
    if op.name in DYNAMIC:
        raise op_error(op, "has sizes that are known at run time alone: compute them of constants")
