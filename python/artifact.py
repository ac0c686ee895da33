"""StableHLO portable artifacts: versioned bytecode, written and read.

The library underneath rewrites the module it serializes and can crash or hang on odd input, so both
directions run in a forked child first; the caller's module is never touched.
"""

import re
from collections.abc import Callable

from torch_mlir import ir, passmanager
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.artifact_stream import (
    CountingBuffer,
    artifact_header,
    legalize_to_vhlo,
    write_vhlo,
)
from mlir_fp8.context import diagnostics, format_location, make_context
from mlir_fp8.dialects.float_formats import SMALL_FLOATS
from mlir_fp8.errors import Fp8Error
from mlir_fp8.isolation import CrashError, stream_isolated
from mlir_fp8.untrusted import allowance, patience, pristine_context, read_isolated

BYTECODE_MAGIC = b"ML\xefR"
_PRODUCER = re.compile(rb"ML\xefR.(StableHLO_v(\d+\.\d+\.\d+))\0", re.DOTALL)
_ILLEGAL = re.compile(
    r"(?P<place>.*?): (?:error: )?failed to legalize operation 'vhlo\.(?P<op>\w+?)(?:_v\d+)?'"
)
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
    module: ir.Module | ir.Operation,
    target: str = "current",
    *,
    strip_debuginfo: bool = False,
    emulate: bool = False,
    name: str = "module",
) -> bytes:
    """The portable artifact of a StableHLO module; the module itself is left as it is.

    `target` is a version such as `1.0.0`, or `current`, or `minimum`: the artifact is readable by
    every consumer from that version on. Where an op has an older form of the same meaning, that
    form is written (`stablehlo-compatibility-expander`). With `emulate`, small floats that `target`
    does not know travel as ui8, with the same results (`stablehlo-emulate-small-floats`). A module that `target` cannot hold is an
    `Fp8Error`; `name` stands for the module in it.
    """
    version = _resolve_target(target)
    if emulate:
        from mlir_fp8.emulation import emulated_copy

        module = emulated_copy(module, version, name=name)
    op = module.operation
    _refuse_newer_types(op, version, name)
    header = artifact_header(version)
    copy, size = _copies_for_child(op)

    def work(answer: int) -> None:
        write_vhlo(_vhlo(copy, version, name, strip_debuginfo), header, answer)

    try:
        return stream_isolated(work, seconds=patience(size), memory=allowance(size))
    except CrashError as error:
        raise Fp8Error(f"{name}: cannot be serialized: {error}") from None


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
    copy: Callable[[], ir.Operation], version: str, name: str, strip_debuginfo: bool
) -> ir.Operation:
    first = ["strip-debuginfo"] if strip_debuginfo else []
    # Older forms of newer ops (batching dimensions of gather and scatter), upstream's way.
    expander = f"stablehlo-compatibility-expander{{target={version}}}"
    refusal: Fp8Error | None = None
    for passes in (first, [*first, expander]):
        module = copy()
        try:
            with module.context:
                pipeline = f"builtin.module({','.join(passes)})"
                passmanager.PassManager.parse(pipeline).run(module)
            legalize_to_vhlo(module, version)
            return module
        except ir.MLIRError as error:
            refusal = refusal or _refusal(error, version, name)
    assert refusal is not None
    raise refusal


def _refusal(error: ir.MLIRError, version: str, name: str) -> Fp8Error:
    first = error.error_diagnostics[0] if error.error_diagnostics else None
    reason = f"{format_location(first.location)}: {first.message}" if first else str(error)
    reason = reason.splitlines()[0]
    illegal = _ILLEGAL.match(reason)
    if illegal is None:
        return Fp8Error(f"{name}: StableHLO {version} cannot hold it: {reason}")
    place = illegal["place"]
    place = name + place[1:] if place.startswith("-:") else place
    return Fp8Error(
        f"{place}: '{illegal['op']}' in this form is newer than StableHLO {version}: "
        "use a later target"
    )


def deserialize(
    data: bytes,
    *,
    context: ir.Context | None = None,
    raise_emulation: bool = False,
    name: str = "artifact",
) -> ir.Module:
    """The StableHLO module in a portable artifact; `name` stands for the file in errors.

    With `raise_emulation`, small floats that travel as ui8 (`serialize(..., emulate=True)`) get
    their types back.
    """
    version = artifact_version(data)
    if version is None:
        raise Fp8Error(f"{name}: not a StableHLO portable artifact")
    advice = f"an artifact of StableHLO {version}, read by {current_version()}"

    def read(in_context: ir.Context) -> ir.Module:
        with diagnostics(in_context) as errors:
            try:
                return _stablehlo.deserialize_portable_artifact(in_context, data)
            except (ValueError, ir.MLIRError) as error:
                text = errors[0].removeprefix("-:0:0: ") if errors else str(error)
                raise Fp8Error(f"{name}: {text.splitlines()[0]} ({advice})") from None

    context = context or make_context()
    _stablehlo.register_dialect(context)
    try:
        module = read_isolated(read, context, size=len(data), name=name)
    except CrashError as error:
        raise Fp8Error(f"{name}: damaged: {error} ({advice})") from None
    if raise_emulation:
        from mlir_fp8.emulation import restore_small_floats

        restore_small_floats(module, name=name)
    return module


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


def _refuse_newer_types(module: ir.Operation, version: str, name: str) -> None:
    """Name the small floats that `version` does not know: the library names only the function."""
    text = str(module.get_asm(print_generic_op_form=True, large_elements_limit=16))
    newer = [
        f"{element} (since {fmt.stablehlo_version})"
        for element, fmt in SMALL_FLOATS.items()
        if _key(fmt.stablehlo_version) > _key(version) and re.search(rf"[x<(: ]{element}\b", text)
    ]
    if newer:
        raise Fp8Error(
            f"{name}: StableHLO {version} does not know {', '.join(newer)}: use a later target"
        )
