"""`stablehlo-refine-dynamism`: shapes that follow from others become static, dynamic ops with them.

Upstream's passes do the work. They cost more than all others on StableHLO, so they run on modules
that hold such shapes alone.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from torch_mlir import ir, passmanager

from mlir_fp8.context import op_error, symbol_name
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering._retype import operations
from mlir_fp8.lowering._stablehlo import names

_DYNAMIC = (
    names(
        "stablehlo",
        "dynamic_broadcast_in_dim dynamic_conv dynamic_gather dynamic_iota dynamic_pad"
        " dynamic_reshape get_dimension_size real_dynamic_slice set_dimension_size",
    )
    | names("chlo", "dynamic_reshape")
)  # fmt: skip
_ASSERTION = "shape_assertion"
_PASSES = (
    "stablehlo-refine-shapes,"
    "func.func(stablehlo-canonicalize-dynamism,stablehlo-check-shape-assertions)"
)


@dataclass(frozen=True)
class StablehloRefineDynamism(ModulePass):
    """Make shapes static where constants and arguments tell them, and dynamic ops with them.

    In a module whose entry has static arguments and results, what stays dynamic is refused.
    """

    def run(self, module: ir.Operation) -> None:
        if not any(map(_is_dynamic, operations(module))):
            return
        _refuse_bounded(module)
        refine(module)
        ops = operations(module)
        if all(_is_static_signature(op) for op in ops if _is_public(op)):
            for op in ops:
                refuse_dynamic(op)


def refine(module: ir.Operation, arguments: Sequence[ir.Type] | None = None) -> None:
    """Make the shapes static that follow from constants and the entry's argument types.

    The entry is `main`, or the only public function; `arguments` are its types from now on.
    Raises `ir.MLIRError` where they do not fit.
    """
    passes = _PASSES
    if arguments is not None:
        types = ",".join(map(str, arguments))
        passes = f"stablehlo-refine-arguments{{types={types}}},{passes}"
    with _named_main(module):
        passmanager.PassManager.parse(f"builtin.module({passes})", module.context).run(module)


@contextmanager
def _named_main(module: ir.Operation) -> Iterator[None]:
    """With `main` as the name of the entry, the only one that upstream refines."""
    functions = [op for op in operations(module) if op.name == "func.func"]
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


def _is_dynamic_type(type_: ir.Type) -> bool:
    return isinstance(type_, ir.ShapedType) and not (type_.has_rank and type_.has_static_shape)


def _is_static_signature(function: ir.Operation) -> bool:
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    return not any(map(_is_dynamic_type, (*type_.inputs, *type_.results)))


def _is_dynamic(op: ir.Operation) -> bool:
    if op.name in _DYNAMIC or any(_is_dynamic_type(result.type) for result in op.results):
        return True
    if op.name == "stablehlo.custom_call":
        target = ir.StringAttr(op.attributes["call_target_name"]).value
        return target == _ASSERTION or target.startswith("stablehlo.dynamic_")
    return op.name == "func.func" and not _is_static_signature(op)


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
        if _is_dynamic_type(value.type):
            reason = f"is of {value.type}, whose sizes do not follow from the arguments' shapes"
            raise op_error(op, f"{reason}: compute them of constants and of sizes")
    if op.name in _DYNAMIC:
        raise op_error(op, "has sizes that are known at run time alone: compute them of constants")
