"""Read a module from whatever it is kept in: text, MLIR bytecode or a portable artifact."""

import re
from pathlib import Path

from torch_mlir import ir

from mlir_fp8.artifact import BYTECODE_MAGIC, artifact_version, deserialize
from mlir_fp8.context import make_context, mlir_error
from mlir_fp8.errors import Fp8Error
from mlir_fp8.isolation import CrashError, call_isolated

# How MLIR says that it met a dialect it does not know, in text or in bytecode.
_UNKNOWN_DIALECT = re.compile(r"unregistered dialect|Dialect `|is unknown")
_MHLO = re.compile(rb"\bmhlo\b")


def load(source: str | Path | bytes, *, context: ir.Context | None = None) -> ir.Module:
    """The module in a file, or in bytes, or in a string that holds MLIR text.

    A string with a line break is text, any other the name of a file. Kinds are told by content:
    MLIR text, MLIR bytecode, or a StableHLO portable artifact. MHLO is legalized to StableHLO; CHLO
    stays. Raises `Fp8Error` naming the file, the place and what was wrong.
    """
    if isinstance(source, bytes):
        return parse(source, "<bytes>", context or make_context())
    if isinstance(source, str) and "\n" in source:
        return parse(source.encode(), "<text>", context or make_context())
    try:
        # Not by Path: that takes an empty name for the current directory.
        with open(source, "rb") as file:  # noqa: PTH123
            data = file.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise Fp8Error(f"cannot read '{source}': {reason}") from None
    return parse(data, str(source), context or make_context())


def parse(data: bytes, name: str, context: ir.Context, *, keep_mhlo: bool = False) -> ir.Module:
    """The module in `data`; `name` is the file it came from, for locations and errors.

    With `keep_mhlo`, MHLO ops stay, unregistered and generic, for `hlo-legalize-to-stablehlo`.
    """
    if not data.strip():
        raise Fp8Error(f"{name}: the file is empty")
    if artifact_version(data):
        return deserialize(data, context=context, name=name)
    source: str | bytes = data
    if data.startswith(BYTECODE_MAGIC):
        _check_bytecode(data, name)
    else:
        source = _decode(data, name)
    try:
        return _parse_as_is(source, name, context)
    except ir.MLIRError as error:
        refusal = _name_unregistered(mlir_error(error, name), source)
        if not (_UNKNOWN_DIALECT.search(str(error)) and _MHLO.search(data)):
            raise refusal from None
    from mlir_fp8 import mhlo

    try:
        module = mhlo.parse_mhlo(source, name)
    except Fp8Error as error:
        raise _name_unregistered(error, source) from None
    if not keep_mhlo:
        return deserialize(mhlo.legalize_to_artifact(module, name), context=context, name=name)
    context.allow_unregistered_dialects = True
    return ir.Module.parse(mhlo.generic_text(module), context)


def _decode(data: bytes, name: str) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Fp8Error(
            f"{name}: neither MLIR text, nor MLIR bytecode, nor a portable artifact"
        ) from None
    if "\0" in text:
        raise Fp8Error(f"{name}: binary data that is neither MLIR bytecode nor an artifact")
    return text


def _parse_as_is(source: str | bytes, name: str, context: ir.Context) -> ir.Module:
    file = Path(name)
    if isinstance(source, str) and file.is_file() and file.read_bytes() == source.encode():
        return ir.Module.parseFile(name, context)  # locations then name the file
    return ir.Module.parse(source, context)


def _name_unregistered(error: Fp8Error, source: str | bytes) -> Fp8Error:
    """MLIR says "operation being parsed with an unregistered dialect" without saying which."""
    match = re.search(r":(\d+):(\d+): operation being parsed with an unregistered", str(error))
    if not match or isinstance(source, bytes):
        return error
    op = re.search(r'"([\w.$-]+)"', source.splitlines()[int(match[1]) - 1])
    if not op:
        return error
    place = str(error)[: match.start()]
    where = f"{place}:{match[1]}:{match[2]}"
    return Fp8Error(f"{where}: '{op[1]}' is of a dialect that is not registered here")


def _check_bytecode(data: bytes, name: str) -> None:
    """Damaged bytecode can crash the reader: read it in a child first."""

    def work() -> bytes:
        context = make_context(allow_unregistered_dialects=True)
        try:
            ir.Module.parse(data, context)
        except ir.MLIRError as error:
            raise mlir_error(error, name) from None
        return b""

    try:
        call_isolated(work, seconds=5.0 + len(data) / 10e6)
    except CrashError as error:
        raise Fp8Error(f"{name}: damaged bytecode: {error}") from None
