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
from mlir_fp8.artifacts.stream import (
    CountingBuffer,
    artifact_header,
    legalize_to_vhlo,
    write_vhlo,
)
from mlir_fp8.artifacts.untrusted import allowance, patience, pristine_context, read_isolated
from mlir_fp8.artifacts.versions import survey
from mlir_fp8.base.context import diagnostics
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import CrashError, stream_isolated

BYTECODE_MAGIC = b"ML\xefR"
_PRODUCER = re.compile(rb"ML\xefR.(StableHLO_v(\d+\.\d+\.\d+))\0", re.DOTALL)


def artifact_version(data: bytes) -> str | None:
    """The StableHLO version that `data` was written for; None if it is no portable artifact."""
    match = _PRODUCER.match(data)
    return match[2].decode() if match else None


def fit_of(
    op: ir.Operation,
    name: str,
    is_of_sizes: Callable[[ir.Operation], bool] = lambda _: False,
    *,
    allow_other_dialects: bool = False,
) -> Fit:
    """Which versions hold the module `op`; see `survey` for `is_of_sizes`."""

    def attempt(version: str) -> Fp8Error | None:
        try:
            _write(op, fit, version, as_is=True)
        except Fp8Error as error:
            return error
        return None

    fit = Fit(survey(op, name, is_of_sizes), name, allow_other_dialects, attempt)
    return fit


def write(op: ir.Operation, fit: Fit, version: str, *, strip_debuginfo: bool = False) -> bytes:
    """The artifact of the module `op`, which `fit` is of; `Fp8Error` where `version` cannot be."""
    fit.refuse_untouchable()
    fit.refuse_newer(version)
    try:
        return _write(op, fit, version, strip_debuginfo=strip_debuginfo)
    except CrashError:
        raise
    except Fp8Error as error:
        raise fit.explain(error, version) from None


def _write(
    op: ir.Operation,
    fit: Fit,
    version: str,
    *,
    strip_debuginfo: bool = False,
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
            dense_copy,
            pipelines,
            version,
            fit.name,
            allow_other_dialects=fit.allow_other_dialects,
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
    """A factory of copies of a module that is safe in a child, and the module's size in bytes."""
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


def read(data: bytes, context: ir.Context, name: str) -> ir.Module:
    """The module in an artifact, in `context`, read in a child process first."""
    _stablehlo.register_dialect(context)

    def attempt(in_context: ir.Context) -> ir.Module:
        return read_unprotected(data, in_context)

    try:
        return read_isolated(attempt, context, size=len(data), name=name)
    except Fp8Error as error:
        raise reading_error(error, artifact_version(data) or "", name) from None


def read_unprotected(data: bytes, context: ir.Context) -> ir.Module:
    """The module in a portable artifact, read in this process; a malformed one may crash it."""
    with diagnostics(context) as errors:
        try:
            return _stablehlo.deserialize_portable_artifact(context, data)
        except (ValueError, ir.MLIRError) as error:
            text = errors[0].removeprefix("-:0:0: ") if errors else str(error)
            raise Fp8Error(text.splitlines()[0]) from None
