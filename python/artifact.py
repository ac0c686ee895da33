"""StableHLO portable artifacts: versioned bytecode, written and read.

The library underneath rewrites the module it serializes and can crash or hang on odd input, so both
directions run in a forked child first; the caller's module is never touched.
"""

import io
import re

from torch_mlir import ir, passmanager
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.context import diagnostics, make_context
from mlir_fp8.dialects.float_formats import SMALL_FLOATS
from mlir_fp8.errors import Fp8Error
from mlir_fp8.isolation import CrashError, call_isolated

BYTECODE_MAGIC = b"ML\xefR"
_PRODUCER = re.compile(rb"ML\xefR.(StableHLO_v(\d+\.\d+\.\d+))\0", re.DOTALL)
_VERSION = re.compile(r"\d+\.\d+\.\d+")


def current_version() -> str:
    """The StableHLO version of the library, the newest that can be written."""
    return _stablehlo.get_current_version()


def minimum_version() -> str:
    """The oldest StableHLO version that can be written or read."""
    return _stablehlo.get_minimum_version()


def artifact_version(data: bytes) -> str | None:
    """The StableHLO version that `data` was written for; None if it is no portable artifact."""
    match = _PRODUCER.match(data)
    return match[2].decode() if match else None


def serialize(
    module: ir.Module | ir.Operation, target: str = "current", *, strip_debuginfo: bool = False
) -> bytes:
    """The portable artifact of a StableHLO module; the module itself is left as it is.

    `target` is a version such as `1.0.0`, or `current`, or `minimum`: the artifact is readable by
    every consumer from that version on. A module that `target` cannot hold is an `Fp8Error`.
    """
    version = _resolve_target(target)
    op = module.operation
    _refuse_newer_types(op, version)
    bytecode = io.BytesIO()
    op.write_bytecode(bytecode)
    data = bytecode.getvalue()

    def work() -> bytes:
        context = make_context()
        copy = ir.Module.parse(data, context)
        if strip_debuginfo:
            with context:
                passmanager.PassManager.parse("builtin.module(strip-debuginfo)").run(copy.operation)
        with diagnostics(context) as errors:
            try:
                return _stablehlo.serialize_portable_artifact(copy, version)
            except (ValueError, ir.MLIRError) as error:
                reason = errors[0] if errors else str(error).splitlines()[0]
                raise Fp8Error(f"StableHLO {version} cannot hold this module: {reason}") from None

    try:
        return call_isolated(work, seconds=_patience(data))
    except CrashError as error:
        raise Fp8Error(f"this module cannot be serialized: {error}") from None


def deserialize(
    data: bytes, *, context: ir.Context | None = None, name: str = "artifact"
) -> ir.Module:
    """The StableHLO module in a portable artifact; `name` stands for the file in errors."""
    version = artifact_version(data)
    if version is None:
        raise Fp8Error(f"{name}: not a StableHLO portable artifact")
    advice = f"an artifact of StableHLO {version}, read by {current_version()}"

    def check() -> bytes:
        checked = make_context()
        with diagnostics(checked) as errors:
            try:
                module = _stablehlo.deserialize_portable_artifact(checked, data)
                module.operation.verify()
            except (ValueError, ir.MLIRError) as error:
                text = errors[0].removeprefix("-:0:0: ") if errors else str(error)
                raise Fp8Error(f"{name}: {text.splitlines()[0]} ({advice})") from None
        return b""

    try:
        call_isolated(check, seconds=_patience(data))
    except CrashError as error:
        raise Fp8Error(f"{name}: damaged: {error} ({advice})") from None
    return _stablehlo.deserialize_portable_artifact(context or make_context(), data)


def _patience(data: bytes) -> float:
    """Seconds that reading or writing may take: far above what a sound artifact needs."""
    return 5.0 + len(data) / 10e6


def _resolve_target(target: str) -> str:
    if target == "current":
        return current_version()
    if target == "minimum":
        return minimum_version()
    if not _VERSION.fullmatch(target):
        raise Fp8Error(f"target '{target}' is not a version x.y.z, 'current' or 'minimum'")
    if not _key(minimum_version()) <= _key(target) <= _key(current_version()):
        raise Fp8Error(
            f"target {target} is out of reach: "
            f"StableHLO {minimum_version()} to {current_version()} can be written"
        )
    return target


def _key(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _refuse_newer_types(module: ir.Operation, version: str) -> None:
    """Name the small floats that `version` does not know: the library names only the function."""
    text = module.get_asm(print_generic_op_form=True)
    newer = [
        f"{name} (since {fmt.stablehlo_version})"
        for name, fmt in SMALL_FLOATS.items()
        if _key(fmt.stablehlo_version) > _key(version) and re.search(rf"[x<(: ]{name}\b", text)
    ]
    if newer:
        raise Fp8Error(f"StableHLO {version} does not know {', '.join(newer)}; use a later target")
