"""Read a module from whatever it is kept in: text, bytecode, an artifact, HLO, PyTorch's."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from torch_mlir import ir

from mlir_fp8.artifacts.function_returns import make_functions_return
from mlir_fp8.artifacts.portable import BYTECODE_MAGIC, artifact_version
from mlir_fp8.artifacts.untrusted import (
    allowance,
    check_nesting,
    clean_bytecode,
    patience,
    refuse_names,
)
from mlir_fp8.base.context import make_context, mlir_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import CrashError, call_isolated, one_clear_line
from mlir_fp8.base.source import read_source
from mlir_fp8.dialects.chlo_calls import calls_to_chlo
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect_for
from mlir_fp8.failures.internal_error import public
from mlir_fp8.failures.trace import step
from mlir_fp8.reading.artifact import deserialize
from mlir_fp8.reading.exported import is_exported
from mlir_fp8.reading.float_literals import refuse_lost_literals
from mlir_fp8.reading.hlo import is_hlo_text, parse_hlo_text
from mlir_fp8.reading.older_text import unpack_bools, with_arrays
from mlir_fp8.reading.pt2 import parse_program
from mlir_fp8.reading.shardy import shardings_in_stablehlo
from mlir_fp8.reading.torch_files import is_torch_file

# How MLIR says that it met a dialect it does not know, in text or in bytecode.
_UNKNOWN_DIALECT = re.compile(r"unregistered dialect|Dialect `|is unknown|is not registered")
_FP8_OP = re.compile(r"^[^/\n\"]*?\b(fp8\.\w+)", re.MULTILINE)
_MHLO = re.compile(rb"\bmhlo\b")
_FLOAT_BLOCKS = re.compile(r"!quant\.uniform<f\w+(?:<[^>]*>)?:\w+:\{")
_SHARDY = re.compile(rb"(?<![.#])\bsdy\b")  # no text of what stands for it


@public
def load(
    source: str | Path | bytes | bytearray | memoryview, *, context: ir.Context | None = None
) -> ir.Module:
    """The module in a file, or in bytes, or in a string that holds MLIR or HLO text.

    A string with a line break or a brace is text, any other the name of a file. Kinds are told by
    content: MLIR text, MLIR bytecode, a StableHLO portable artifact, HLO text, or the file that
    `jax.export.Exported.serialize()` writes, or a `.pt2` file of `torch.export.save`, whose weights
    are arguments. HLO and MHLO are legalized to StableHLO; CHLO stays.
    Raises `Fp8Error` naming the file, the place and what was wrong.
    """
    data, name = read_source(source)
    return parse(data, name, context or make_context())


def loaded(module: ir.Module | str | Path | bytes) -> ir.Module:
    """`module` itself, or what `load` makes of it."""
    return module if isinstance(module, ir.Module) else load(module)


def parse(data: bytes, name: str, context: ir.Context, *, keep_mhlo: bool = False) -> ir.Module:
    """The module in `data`; `name` is the file it came from, for locations and errors.

    With `keep_mhlo`, MHLO ops stay, unregistered and generic, for `hlo-legalize-to-stablehlo`.
    """
    if not is_torch_file(data) and not data.strip():
        raise Fp8Error(f"{name}: the file is empty")
    with step("reading"):
        return _parse_any(data, name, context, keep_mhlo=keep_mhlo)


def _parse_any(data: bytes, name: str, context: ir.Context, *, keep_mhlo: bool) -> ir.Module:
    try:
        return _parse(data, name, context, keep_mhlo=keep_mhlo)
    except Fp8Error as error:
        needs_jaxlib = _UNKNOWN_DIALECT.search(str(error)) and _SHARDY.search(data)
        if not needs_jaxlib or is_exported(data):
            raise
    return _parse(shardings_in_stablehlo(data, name), name, context, keep_mhlo=keep_mhlo)


def _parse(data: bytes, name: str, context: ir.Context, *, keep_mhlo: bool) -> ir.Module:
    if is_torch_file(data):
        return parse_program(data, name, context)
    if artifact_version(data) or is_exported(data):
        return deserialize(data, context=context, name=name)
    if is_hlo_text(data):
        return parse_hlo_text(data, name, context)
    load_fp8_dialect_for(data, context)
    source: str | bytes = data
    if data.startswith(BYTECODE_MAGIC):
        source = _clean_bytecode(data, name, context)
    else:
        text = _decode(data, name)
        _check_text(text, data, name, context)
        source = unpack_bools(text, name)
    try:
        return _whole(source, name, context)
    except ir.MLIRError as first_error:
        error = first_error
        arrays = with_arrays(source) if isinstance(source, str) else None
        if arrays is not None:
            try:
                return _whole(arrays, name, context)
            except ir.MLIRError as second_error:
                error, source = second_error, arrays
        refusal = Fp8Error(one_clear_line(str(mlir_error(error, name))))
        refusal = _name_unregistered(refusal, source)
        if not error.error_diagnostics and isinstance(source, str):
            refusal = _own_form(source, name) or refusal
        is_bridged = _UNKNOWN_DIALECT.search(str(error)) and _MHLO.search(data)
        if not is_bridged or _SHARDY.search(data):
            raise refusal from None
    from mlir_fp8.artifacts import mhlo

    original = data if isinstance(source, bytes) else source

    def legalized() -> bytes:
        return mhlo.legalize_to_artifact(mhlo.parse_mhlo(original, name), name)

    def generic() -> bytes:
        return mhlo.generic_text(mhlo.parse_mhlo(original, name)).encode()

    try:
        got = _from_child(generic if keep_mhlo else legalized, data, name)
    except Fp8Error as error:
        raise _name_unregistered(error, source) from None
    if not keep_mhlo:
        module = deserialize(got, context=context, name=name)
        calls_to_chlo(module.operation)
        return module
    context.allow_unregistered_dialects = True
    return ir.Module.parse(got.decode(), context)


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


def _whole(source: str | bytes, name: str, context: ir.Context) -> ir.Module:
    module = _parse_as_is(source, name, context)
    make_functions_return(module.operation, name)
    return module


def _parse_as_is(source: str | bytes, name: str, context: ir.Context) -> ir.Module:
    if not isinstance(source, str) or not Path(name).is_file():
        return ir.Module.parse(source, context)
    # Locations are to name the file.
    if Path(name).read_bytes() == source.encode():
        return ir.Module.parseFile(name, context)
    module = ir.Module.parse(source, context)
    named = str(module.operation.get_asm(enable_debug_info=True))
    return ir.Module.parse(named.replace('loc("-":', f"loc({json.dumps(name)}:"), context)


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


def _own_form(text: str, name: str) -> Fp8Error | None:
    """MLIR gives no reason where an op of the `fp8` dialect is not in the generic form."""
    op = _FP8_OP.search(text)
    if op is None:
        return None
    line, start = text.count("\n", 0, op.start(1)) + 1, text.rfind("\n", 0, op.start(1))
    place = f"{name}:{line}:{op.start(1) - start}"
    form = f'"{op[1]}"(%x) {{...}} : (...) -> ...'
    return Fp8Error(f"{place}: '{op[1]}' has no form of its own: write {form}")


def _clean_bytecode(data: bytes, name: str, context: ir.Context) -> bytes:
    """Damaged bytecode can crash the reader: read it in a child, and take what the child writes."""

    def read(in_context: ir.Context) -> ir.Module:
        in_context.allow_unregistered_dialects = True  # in the child, or its context, alone
        return ir.Module.parse(data, in_context)

    try:
        return clean_bytecode(read, context, size=len(data), name=name) or data
    except CrashError as error:
        raise Fp8Error(f"{name}: damaged bytecode: {error}") from None


def _check_text(text: str, data: bytes, name: str, context: ir.Context) -> None:
    refuse_names(text, name)
    try:
        check_nesting(text, data, context)
    except CrashError as error:
        raise Fp8Error(f"{name}: damaged, or nested too deeply: {error}") from None
    refuse_lost_literals(text, name)
    _refuse_float_blocks(text, name)


def _refuse_float_blocks(text: str, name: str) -> None:
    """MLIR's parser takes zero points of blocks for integers of the storage type, and crashes."""
    found = _FLOAT_BLOCKS.search(text)
    if found is not None:
        line, column = (
            text.count("\n", 0, found.start()) + 1,
            found.start() - text.rfind("\n", 0, found.start()),
        )
        raise Fp8Error(
            f"{name}:{line}:{column}: {found[0]}...: no type stores floats in blocks: store i8, "
            "or keep f8 with an fp8.dequantize by scales of blocks"
        )


def _from_child(work: Callable[[], bytes], data: bytes, name: str) -> bytes:
    try:
        return call_isolated(work, seconds=patience(len(data)), memory=allowance(len(data)))
    except CrashError as error:
        raise Fp8Error(f"{name}: damaged, or nested too deeply: {error}") from None
