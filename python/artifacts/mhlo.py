"""The bridge to jaxlib's MLIR, the only home of the MHLO dialect.

Modules cross as StableHLO portable artifacts: the two libraries hold different StableHLO versions,
and the versioned format is what both promise to read. Modules that stay MHLO (to be printed, or to
be legalized later in a pass pipeline) cross as generic text, where MHLO ops are unregistered.
Importing this module imports jaxlib.
"""

import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # as jax does: jaxlib reads it when it is loaded

from jaxlib.mlir import ir as jax_ir
from jaxlib.mlir import passmanager as jax_passmanager
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.artifacts.portable import artifact_version
from mlir_fp8.base.errors import Fp8Error

_BRIDGE_DIALECTS = frozenset({"builtin", "func", "stablehlo", "chlo"})
_SHARDY_ANNOTATIONS = {"sdy.mesh", "sdy.sharding_group"}
_SHARDY_IDENTITIES = {
    f"sdy.{name}"
    for name in (
        *("sharding_constraint", "reshard", "propagation_barrier", "data_flow_edge"),
        *("all_gather", "all_slice", "all_to_all", "collective_permute"),
    )
}
_SHARDY_COMPUTATIONS = {"sdy.manual_computation", "sdy.named_computation"}

mhlo.register_mhlo_passes()
stablehlo.register_stablehlo_passes()


def bridge_version() -> str:
    """The newest StableHLO version that both libraries hold."""
    return stablehlo.get_smaller_version(
        stablehlo.get_current_version(), _stablehlo.get_current_version()
    )


def parse_mhlo(text: str | bytes, name: str) -> jax_ir.Module:
    """Parse MHLO text or bytecode in jaxlib's MLIR; `name` stands for the file in errors."""
    try:
        return jax_ir.Module.parse(text, _context())
    except jax_ir.MLIRError as error:
        raise _bridge_error(error, name) from None


def read_artifact(artifact: bytes) -> jax_ir.Module:
    """The module of a StableHLO portable artifact in jaxlib's MLIR."""
    try:
        return stablehlo.deserialize_portable_artifact(_context(), artifact)
    except (ValueError, jax_ir.MLIRError) as error:
        raise Fp8Error(f"jaxlib cannot read this artifact: {error}") from None


def for_compiler(artifact: bytes, name: str) -> bytes:
    """What JAX exported as an artifact that the compiler's MLIR reads, or reads as shardings."""
    version = artifact_version(artifact)
    newest = _stablehlo.get_current_version()
    if version is None or stablehlo.get_smaller_version(version, newest) == version:
        return artifact
    try:
        return stablehlo.serialize_portable_artifact(read_artifact(artifact), newest)
    except (ValueError, jax_ir.MLIRError) as error:
        raise Fp8Error(f"{name}: StableHLO {newest} cannot hold this module: {error}") from None


def text_without_places(artifact: bytes) -> str:
    """The text of a module, the same from wherever it was traced."""
    return str(read_artifact(artifact).operation.get_asm(print_generic_op_form=True))


def has_shardings_inside(artifact: bytes) -> bool:
    """Whether an op of a module shards values over devices."""
    found: list[str] = []

    def visit(op: jax_ir.Operation) -> jax_ir.WalkResult:
        is_sharding = op.name.startswith("sdy.") and op.name not in ("sdy.mesh", "sdy.return")
        if is_sharding and "@empty_mesh" not in str(op):  # as JAX marks keys of random numbers
            found.append(op.name)
        return jax_ir.WalkResult.ADVANCE

    read_artifact(artifact).operation.walk(visit)
    return bool(found)


def _context() -> jax_ir.Context:
    context = jax_ir.Context()
    registry = jax_ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    mhlo.register_mhlo_dialect(context)
    stablehlo.register_dialect(context)
    chlo.register_dialect(context)
    sdy.register_dialect(context)
    context.load_all_available_dialects()
    return context


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
    module = read_artifact(artifact)
    with module.context:
        try:
            jax_passmanager.PassManager.parse("builtin.module(stablehlo-legalize-to-hlo)").run(
                module.operation
            )
        except jax_ir.MLIRError as error:
            raise _bridge_error(error, "stablehlo-legalize-to-hlo") from None
    return generic_text(module)


def without_shardings(data: bytes, name: str) -> bytes:
    """The module in `data` as one process has it: an artifact of the same version, or generic text.

    Raises `Fp8Error` naming the op where one computes per device, as `sdy.manual_computation` does.
    """
    version = artifact_version(data)
    module = read_artifact(data) if version else parse_mhlo(data, name)
    ops: list[jax_ir.Operation] = []

    def visit(op: jax_ir.Operation) -> jax_ir.WalkResult:
        if op.name != "sdy.return":  # which goes with what it ends
            ops.append(op)
        return jax_ir.WalkResult.ADVANCE

    module.operation.walk(visit, jax_ir.WalkOrder.PRE_ORDER)
    for op in ops:
        _drop_shardy(op, name)
    if version:
        try:
            return stablehlo.serialize_portable_artifact(module, version)
        except (ValueError, jax_ir.MLIRError) as error:
            raise Fp8Error(f"{name}: cannot be written without its shardings: {error}") from None
    return generic_text(module).replace('loc("-":', f"loc({json.dumps(name)}:").encode()


def _drop_shardy(op: jax_ir.Operation, name: str) -> None:
    if op.name in _SHARDY_IDENTITIES:
        op.results[0].replace_all_uses_with(op.operands[0])
    if op.name in _SHARDY_IDENTITIES | _SHARDY_ANNOTATIONS:
        op.erase()
        return
    if op.name in _SHARDY_COMPUTATIONS and _is_of_whole_tensors(op):
        inline_region(op)
        return
    if op.name.startswith("sdy."):
        where = place(str(op.location), name)
        raise Fp8Error(
            f"{where}: '{op.name}' is a computation per device: export the function for one device"
        )
    for attribute in [each for each in op.attributes if each.startswith("sdy.")]:
        del op.attributes[attribute]
    for which in ("arg_attrs", "res_attrs"):
        if which in op.attributes:
            op.attributes[which] = _without_shardy(jax_ir.ArrayAttr(op.attributes[which]))


def _is_of_whole_tensors(op: jax_ir.Operation) -> bool:
    """Whether the body sees whole tensors, as it does where a mesh is of one device."""
    block = op.regions[0].blocks[0]
    returned = block.operations[len(block.operations) - 1].operands
    return [each.type for each in (*op.operands, *op.results)] == [
        each.type for each in (*block.arguments, *returned)
    ]


def inline_region(op: jax_ir.Operation) -> None:
    """Put the body of `op`, which has one block, into its place."""
    block = op.regions[0].blocks[0]
    for argument, operand in zip(block.arguments, op.operands, strict=True):
        argument.replace_all_uses_with(operand)
    *body, end = [view.operation for view in block.operations]
    for each in body:
        each.move_before(op)
    for result, value in zip(op.results, end.operands, strict=True):
        result.replace_all_uses_with(value)
    op.erase()


def _without_shardy(dictionaries: jax_ir.ArrayAttr) -> jax_ir.ArrayAttr:
    kept = [
        {each.name: each.attr for each in jax_ir.DictAttr(one) if not each.name.startswith("sdy.")}
        for one in dictionaries
    ]
    context = dictionaries.context
    return jax_ir.ArrayAttr.get([jax_ir.DictAttr.get(one, context) for one in kept], context)


def _refuse_foreign(module: jax_ir.Module, name: str) -> None:
    foreign: list[jax_ir.Operation] = []

    def visit(op: jax_ir.Operation) -> jax_ir.WalkResult:
        if op.name.partition(".")[0] not in _BRIDGE_DIALECTS:
            foreign.append(op)
        return jax_ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    if not foreign:
        return
    where = place(str(foreign[0].location), name)
    raise Fp8Error(
        f"{where}: '{foreign[0].name}' cannot stand in one module with MHLO: "
        "only func, stablehlo and chlo ops can; legalize the MHLO part on its own"
    )


def place(location: str, name: str) -> str:
    """A location of jaxlib's MLIR as `file:line:column`; `name` where it names no place."""
    text = location.removeprefix("loc(").removesuffix(")").replace('"', "")
    return name if text in ("unknown", "") else text.replace("-:", f"{name}:", 1)


def _bridge_error(error: jax_ir.MLIRError, name: str) -> Fp8Error:
    if not error.error_diagnostics:
        return Fp8Error(f"{name}: {error}")
    first = error.error_diagnostics[0]
    return Fp8Error(f"{place(str(first.location), name)}: {first.message.splitlines()[0]}")
