"""The inspection of a file, whatever it holds; large and damaged ones too."""

import mmap
import os

from torch_mlir import ir

from mlir_fp8.artifacts.errors import reading_error
from mlir_fp8.artifacts.portable import read_unprotected
from mlir_fp8.artifacts.untrusted import allowance, patience, pristine_context
from mlir_fp8.base.context import diagnostics
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import call_isolated
from mlir_fp8.inspection.bytecode_header import HEAD_BYTES, Header, read_header
from mlir_fp8.inspection.bytecode_outline import outline
from mlir_fp8.inspection.facts import Inspection
from mlir_fp8.inspection.module_facts import inspect_module
from mlir_fp8.reading.loader import parse
from mlir_fp8.reading.shardy import needs_shardy, shardings_in_stablehlo


def inspect_file(path: str | os.PathLike[str]) -> Inspection:
    """What is in the file.

    Bytecode is read in a child process, an artifact without the bulk of its constants. A file that
    cannot be opened is an `Fp8Error`; one that is damaged has its `error` set.
    """
    name = os.fspath(path)
    try:
        # Not by Path: that takes an empty name for the current directory.
        with open(path, "rb") as file:  # noqa: PTH123
            size = os.fstat(file.fileno()).st_size
            if not size:  # empty, or a pipe
                return inspect_bytes(file.read(), name)
            with (
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
                memoryview(mapped) as data,
            ):
                return inspect_bytes(data, name)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise Fp8Error(f"cannot read '{name}': {reason}") from None


def inspect_bytes(data: bytes | memoryview, name: str) -> Inspection:
    """As `inspect_file`, for the contents of the file `name`."""
    header = read_header(bytes(data[:HEAD_BYTES]), len(data))
    try:
        if header.kind != "artifact" or header.stablehlo_version is None:
            whole = bytes(data)
            header = read_header(whole, len(whole))
            return inspect_module(parse(whole, name, pristine_context()).operation, name, header)
        return _inspect_artifact(data, name, header, header.stablehlo_version)
    except Fp8Error as error:
        return Inspection(name, header, error=str(error))


def _inspect_artifact(
    data: bytes | memoryview, name: str, header: Header, version: str
) -> Inspection:
    cut = outline(memoryview(data))
    if cut is not None:
        try:
            return _read_and_inspect(cut.data, name, header, cut.elided)
        except Fp8Error:
            pass  # the whole artifact has the last word on what is wrong with it
    try:
        return _read_and_inspect(bytes(data), name, header, frozenset())
    except Fp8Error as error:
        if not needs_shardy(error):
            raise reading_error(error, version, name) from None
    return _read_and_inspect(shardings_in_stablehlo(bytes(data), name), name, header, frozenset())


def _read_and_inspect(data: bytes, name: str, header: Header, elided: frozenset[int]) -> Inspection:
    context = pristine_context()

    def work() -> bytes:
        module = read_unprotected(data, context)
        _verify(module, context)
        return inspect_module(module.operation, name, header, elided).to_json().encode()

    answer = call_isolated(work, seconds=patience(len(data)), memory=allowance(len(data)))
    return Inspection.from_json(answer)


def _verify(module: ir.Module, context: ir.Context) -> None:
    with diagnostics(context) as errors:
        try:
            module.operation.verify()
        except ir.MLIRError as error:
            raise Fp8Error(errors[0] if errors else str(error).splitlines()[0]) from None
