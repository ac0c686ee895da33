"""The bridge to jaxlib's MLIR, the only home of the MHLO dialect.

Modules cross as StableHLO portable artifacts: the two libraries hold different StableHLO versions,
and the versioned format is what both promise to read. Modules that stay MHLO (to be printed, or to
be legalized later in a pass pipeline) cross as generic text, where MHLO ops are unregistered.
Importing this module imports jaxlib.
"""

from jaxlib.mlir import ir as jax_ir
from jaxlib.mlir import passmanager as jax_passmanager
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, mhlo, stablehlo
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.errors import Fp8Error

_BRIDGE_DIALECTS = frozenset({"builtin", "func", "stablehlo", "chlo"})

mhlo.register_mhlo_passes()
stablehlo.register_stablehlo_passes()


def bridge_version() -> str:
    """The newest StableHLO version that both libraries hold."""
    return stablehlo.get_smaller_version(
        stablehlo.get_current_version(), _stablehlo.get_current_version()
    )


def parse_mhlo(text: str | bytes, name: str) -> jax_ir.Module:
    """Parse MHLO text or bytecode in jaxlib's MLIR; `name` stands for the file in errors."""
    context = jax_ir.Context()
    registry = jax_ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    mhlo.register_mhlo_dialect(context)
    stablehlo.register_dialect(context)
    chlo.register_dialect(context)
    context.load_all_available_dialects()
    try:
        return jax_ir.Module.parse(text, context)
    except jax_ir.MLIRError as error:
        raise _bridge_error(error, name) from None


def generic_text(module: jax_ir.Module) -> str:
    """Generic assembly with locations, which a context without MHLO can hold unregistered."""
    return str(module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True))


def legalize_to_artifact(module: jax_ir.Module, name: str) -> bytes:
    """Run `hlo-legalize-to-stablehlo` on `module` and serialize it for the compiler's MLIR."""
    with module.context:
        try:
            jax_passmanager.PassManager.parse(
                "builtin.module(hlo-legalize-to-stablehlo,func.func(chlo-legalize-to-stablehlo))"
            ).run(module.operation)
        except jax_ir.MLIRError as error:
            raise _bridge_error(error, name) from None
        _refuse_foreign(module, name)
        target = bridge_version()
        try:
            return stablehlo.serialize_portable_artifact(module, target)
        except (ValueError, jax_ir.MLIRError) as error:
            raise Fp8Error(f"{name}: StableHLO {target} cannot hold this module: {error}") from None


def legalize_from_artifact(artifact: bytes) -> str:
    """The MHLO generic text of a StableHLO portable artifact (`stablehlo-legalize-to-hlo`)."""
    context = jax_ir.Context()
    mhlo.register_mhlo_dialect(context)
    stablehlo.register_dialect(context)
    module = stablehlo.deserialize_portable_artifact(context, artifact)
    with context:
        try:
            jax_passmanager.PassManager.parse("builtin.module(stablehlo-legalize-to-hlo)").run(
                module.operation
            )
        except jax_ir.MLIRError as error:
            raise _bridge_error(error, "stablehlo-legalize-to-hlo") from None
    return generic_text(module)


def _refuse_foreign(module: jax_ir.Module, name: str) -> None:
    foreign: list[jax_ir.Operation] = []

    def visit(op: jax_ir.Operation) -> jax_ir.WalkResult:
        if op.name.partition(".")[0] not in _BRIDGE_DIALECTS:
            foreign.append(op)
        return jax_ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    if not foreign:
        return
    place = _place(str(foreign[0].location), name)
    raise Fp8Error(
        f"{place}: '{foreign[0].name}' cannot stand in one module with MHLO: "
        "only func, stablehlo and chlo ops can; legalize the MHLO part on its own"
    )


def _place(location: str, name: str) -> str:
    text = location.removeprefix("loc(").removesuffix(")").replace('"', "")
    return name if text in ("unknown", "") else text.replace("-:", f"{name}:", 1)


def _bridge_error(error: jax_ir.MLIRError, name: str) -> Fp8Error:
    if not error.error_diagnostics:
        return Fp8Error(f"{name}: {error}")
    first = error.error_diagnostics[0]
    return Fp8Error(f"{_place(str(first.location), name)}: {first.message.splitlines()[0]}")
