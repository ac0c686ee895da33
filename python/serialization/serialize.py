"""StableHLO portable artifacts: versioned bytecode, written and read.

The library underneath rewrites the module it serializes and can crash or hang on odd input, so both
directions run in a forked child first; the caller's module is never touched.
"""

import re
from collections.abc import Callable

from torch_mlir import ir, passmanager
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.artifacts.dense_resources import make_dense
from mlir_fp8.artifacts.errors import reading_error, writing_error
from mlir_fp8.artifacts.fit import Fit
from mlir_fp8.artifacts.fp8_ops import with_composites, with_decompositions, with_own_constants
from mlir_fp8.artifacts.stream import (
    CountingBuffer,
    artifact_header,
    legalize_to_vhlo,
    write_vhlo,
)
from mlir_fp8.artifacts.targets import oldest_version
from mlir_fp8.artifacts.versions import survey
from mlir_fp8.context import check_module, diagnostics, make_context, mlir_error, op_error
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect_for
from mlir_fp8.dialects.stablehlo_versions import version_key
from mlir_fp8.errors import Fp8Error
from mlir_fp8.failures.internal_error import public
from mlir_fp8.reading.exported import is_exported, read_exported, take_all_arguments
from mlir_fp8.reading.isolation import CrashError, stream_isolated
from mlir_fp8.reading.shardy import needs_shardy, without_shardings
from mlir_fp8.reading.untrusted import allowance, patience, pristine_context, read_isolated

BYTECODE_MAGIC = b"ML\xefR"
_PRODUCER = re.compile(rb"ML\xefR.(StableHLO_v(\d+\.\d+\.\d+))\0", re.DOTALL)


def artifact_version(data: bytes) -> str | None:
    """The StableHLO version that `data` was written for; None if it is no portable artifact."""
    match = _PRODUCER.match(data)
    return match[2].decode() if match else None


@public
def serialize(
    module: ir.Module | ir.Operation,
    target: str = "current",
    *,
    strip_debuginfo: bool = False,
    emulate: bool = False,
    allow_other_dialects: bool = False,
    name: str = "module",
) -> bytes:
    """The portable artifact of a StableHLO module; the module itself is left as it is.

    `target` is a version such as `1.0.0`, a consumer such as `jaxlib-0.10.2`, of those in
    docs/compatibility.md, or a name: `current`, `minimum`, `WEEK_4`, `WEEK_12`, `MAX`, or `auto`,
    which is `minimum_version(module)`. `current`, 1.19.0, is read by jaxlib from 0.11.1 on, and not
    by jaxlib 0.10.2, the last one for Python 3.11. The artifact is readable by every consumer from
    that version on. Where an op has an older form of the same meaning, that form is written
    (`stablehlo-compatibility-expander`); `dense_resource` constants are written as dense ones. With
    `emulate`, small floats that `target` does not know travel as ui8, with the same results
    (`stablehlo-emulate-small-floats`). Ops of the `fp8` dialect travel as composites
    (`fp8-to-composite`), or as plain StableHLO where `target` has no composites or not their types,
    `arith.constant` of tensors as StableHLO's constants.
    With `allow_other_dialects`, ops that are not StableHLO are written in MLIR's own bytecode,
    which promises nothing between versions of MLIR.

    A module that `target` cannot hold is a `NewerFeaturesError`, what no version can hold another
    `Fp8Error`; `name` stands for the module in it.
    """
    if not isinstance(target, str):
        raise Fp8Error(f"target is {type(target).__name__}, not a version such as '1.0.0'")
    source = _checked(module, name)
    if not allow_other_dialects:
        source = with_own_constants(source)
    op = source if allow_other_dialects else with_composites(source, name)
    fit = _fit(op, name, allow_other_dialects=allow_other_dialects)
    version = fit.version(target)
    if op is not source and not fit.takes_composites(version, emulate=emulate):
        op = with_decompositions(source, name)
        fit = _fit(op, name)
    if emulate:
        from mlir_fp8.artifacts.emulation import emulated_copy

        op = emulated_copy(op, version, name=name).operation
        fit = _fit(op, name, allow_other_dialects=allow_other_dialects)
    fit.refuse_untouchable()
    fit.refuse_newer(version)
    try:
        return _write(
            op,
            fit,
            version,
            strip_debuginfo=strip_debuginfo,
            allow_other_dialects=allow_other_dialects,
        )
    except CrashError:
        raise
    except Fp8Error as error:
        raise fit.explain(error, version) from None


@public
def minimum_version(module: ir.Module | ir.Operation, *, name: str = "module") -> str:
    """The oldest StableHLO version that holds a module as it is, such as `1.7.0`.

    As it is: `serialize` also takes an older target for a module whose newer ops have older forms
    of the same meaning. What no version holds is an `Fp8Error`.
    """
    source = with_own_constants(_checked(module, name))
    return _fit(with_composites(source, name), name).minimum()


def _checked(module: ir.Module | ir.Operation, name: str) -> ir.Operation:
    """The op of a valid module; an invalid one would be written, and read by nobody."""
    check_module(module, ir.Operation, ir.OpView)
    op = module.operation
    if op.name != "builtin.module":
        raise op_error(op, "is not a module: give the builtin.module that holds it")
    try:
        op.verify()
    except ir.MLIRError as error:
        raise mlir_error(error, name) from None
    return op


def _fit(op: ir.Operation, name: str, *, allow_other_dialects: bool = False) -> Fit:
    def attempt(version: str) -> Fp8Error | None:
        try:
            _write(op, fit, version, allow_other_dialects=allow_other_dialects, as_is=True)
        except Fp8Error as error:
            return error
        return None

    fit = Fit(survey(op, name), name, allow_other_dialects, attempt)
    return fit


def _write(
    op: ir.Operation,
    fit: Fit,
    version: str,
    *,
    strip_debuginfo: bool = False,
    allow_other_dialects: bool = False,
    as_is: bool = False,
) -> bytes:
    header = artifact_header(version)
    copy, size = _copies_for_child(op)
    expands = fit.has_older_form(version) and not as_is
    pipelines = _pipelines(version, strip_debuginfo=strip_debuginfo, expands=expands)

    def dense_copy() -> ir.Operation:
        module = copy()
        if fit.found.has_resources:
            make_dense(module, fit.name)
        return module

    def work(answer: int) -> None:
        vhlo = _vhlo(
            dense_copy, pipelines, version, fit.name, allow_other_dialects=allow_other_dialects
        )
        write_vhlo(vhlo, header, answer)

    try:
        return stream_isolated(work, seconds=patience(size), memory=allowance(size))
    except CrashError as error:
        raise CrashError(f"{fit.name}: cannot be serialized: {error}") from None


def _pipelines(version: str, *, strip_debuginfo: bool, expands: bool) -> list[list[str]]:
    """The passes before VHLO: the second list where what the first gives is refused."""
    first = ["strip-debuginfo"] if strip_debuginfo else []
    # Older forms of newer ops (batching dimensions of gather and scatter), upstream's way.
    expander = f"stablehlo-compatibility-expander{{target={version}}}"
    return [first, [*first, expander]] if expands else [first]


def _copies_for_child(op: ir.Operation) -> tuple[Callable[[], ir.Operation], int]:
    """A maker of copies of a module that works in a child, and the module's size in bytes."""
    context = op.context
    bytecode = CountingBuffer(keep=context.get_num_threads() > 1)
    op.write_bytecode(bytecode)
    if context.get_num_threads() == 1:
        return lambda: op.clone(ip=False).operation, bytecode.size
    data = bytecode.content()
    return lambda: ir.Module.parse(data, pristine_context()).operation, bytecode.size


def _vhlo(
    copy: Callable[[], ir.Operation],
    pipelines: list[list[str]],
    version: str,
    name: str,
    *,
    allow_other_dialects: bool,
) -> ir.Operation:
    refusal: Fp8Error | None = None
    for passes in pipelines:
        module = copy()
        try:
            with module.context:
                pipeline = f"builtin.module({','.join(passes)})"
                passmanager.PassManager.parse(pipeline).run(module)
            legalize_to_vhlo(module, version, allow_other_dialects=allow_other_dialects)
            return module
        except ir.MLIRError as error:
            refusal = refusal or writing_error(error, version, name)
    assert refusal is not None
    raise refusal


@public
def deserialize(
    data: bytes | bytearray | memoryview,
    *,
    context: ir.Context | None = None,
    raise_emulation: bool = False,
    name: str = "artifact",
) -> ir.Module:
    """The StableHLO module in a portable artifact; `name` stands for the file in errors.

    With `raise_emulation`, small floats that travel as ui8 (`serialize(..., emulate=True)`) get
    their types back. What `jax.export.Exported.serialize()` writes is read too: `main` then takes
    every argument of the exported function, those that JAX dropped as well.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise Fp8Error(f"{name} is {type(data).__name__}, not bytes")
    data = bytes(data)
    if not data.strip():
        raise Fp8Error(f"{name}: the file is empty")
    if is_exported(data):
        exported = read_exported(data, name)
        module = deserialize(
            exported.artifact, context=context, raise_emulation=raise_emulation, name=name
        )
        take_all_arguments(module, exported, name)
        return module
    version = artifact_version(data)
    if version is None:
        raise Fp8Error(f"{name}: not a StableHLO portable artifact")
    if version_key(version) < version_key(oldest_version()):
        raise Fp8Error(
            f"{name}: written for StableHLO {version}, older than {oldest_version()}, the oldest "
            "that is read"
        )

    def read(in_context: ir.Context) -> ir.Module:
        return read_unprotected(data, in_context)

    context = context or make_context()
    _stablehlo.register_dialect(context)
    load_fp8_dialect_for(data, context)
    try:
        module = read_isolated(read, context, size=len(data), name=name)
    except Fp8Error as error:
        if not needs_shardy(error):
            raise reading_error(error, version, name) from None
        plain = without_shardings(data, name)
        return deserialize(plain, context=context, raise_emulation=raise_emulation, name=name)
    if raise_emulation:
        from mlir_fp8.artifacts.emulation import restore_small_floats

        restore_small_floats(module, name=name)
    return module


def read_unprotected(data: bytes, context: ir.Context) -> ir.Module:
    """The module in a portable artifact, read in this process, which a damaged one may crash."""
    with diagnostics(context) as errors:
        try:
            return _stablehlo.deserialize_portable_artifact(context, data)
        except (ValueError, ir.MLIRError) as error:
            text = errors[0].removeprefix("-:0:0: ") if errors else str(error)
            raise Fp8Error(text.splitlines()[0]) from None
