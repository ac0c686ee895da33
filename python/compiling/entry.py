"""The entry function of a module: found, copied, isolated, and its signature."""

from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.artifacts.dense_resources import dense_copy
from mlir_fp8.base.context import make_context, op_error, symbol_name
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.uniform_types import storage_type
from mlir_fp8.lowering.frontend.stablehlo_flatten_signatures import flattened


def copy_of(module: ir.Module) -> ir.Module:
    """A copy with its locations and without resources, in a context of its own."""
    return dense_copy(module, make_context(), "module")


def entry_function(module: ir.Module, entry: str) -> ir.Operation:
    """The function `entry`, which has a body; `Fp8Error` where there is none."""
    found = functions(module)
    names = [symbol_name(op) for op in found]
    if entry not in names:
        known = ", ".join(names) or "none"
        raise Fp8Error(f"there is no function '{entry}' to compile (functions: {known})")
    function = found[names.index(entry)]
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
    """Arguments and results of a `func.func`; refuses types that numpy arrays cannot hold.

    Tuples are flattened, nested ones too; tokens are dropped.
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


def functions(module: ir.Module) -> list[ir.Operation]:
    return [op.operation for op in module.body.operations if op.operation.name == "func.func"]


def isolate_entry(module: ir.Module, entry: ir.Operation) -> None:
    """Make every other function private, so that symbol DCE drops what the entry does not call."""
    for function in functions(module):
        visibility = "public" if function == entry else "private"
        function.attributes["sym_visibility"] = ir.StringAttr.get(visibility)
