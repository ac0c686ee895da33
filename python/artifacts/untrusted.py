"""Modules from untrusted bytes.

A parser that survived malformed bytes in a child may still crash on the same bytes here: its
behaviour can depend on uninitialized memory. So this process reads the bytecode that the child
wrote of the parsed module, not the bytes themselves.
"""

import io
import re
from collections.abc import Callable
from functools import cache

from torch_mlir import ir

from mlir_fp8.base.context import make_context, mlir_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import call_isolated
from mlir_fp8.dialects.fp8_loading import share_fp8_dialect

# From this size a second copy of the module costs more than it protects from.
LARGE = 64 << 20
_PRINTED_ELEMENTS = 16
# The text parser, printer and verifier recurse: 4000 levels fit into the usual stack of 8 MiB.
_SHALLOW = 500
_NESTING = (b"(", b"[", b"{", b"<", b"-")

# A string in MLIR text, and whether it is the name of something.
_STRING = re.compile(r'"(?P<inside>(?:[^"\\]|\\.)*)"(?P<equals>\s*=)?', re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)

Read = Callable[[ir.Context], ir.Module]


def read_isolated(read: Read, context: ir.Context, *, size: int, name: str) -> ir.Module:
    """The module that `read` makes of `size` bytes, in `context`; verified and printable.

    `read` runs in a child process, and an `Fp8Error` of it is raised here; `name` is what errors
    call the input. It runs once more in this process, after it succeeded there, when the input is
    too large to be handed over.
    """
    bytecode = clean_bytecode(read, context, size=size, name=name)
    if bytecode is None:
        return read(context)
    try:
        return ir.Module.parse(bytecode, context)
    except ir.MLIRError as error:
        raise mlir_error(error, name) from None


def clean_bytecode(read: Read, context: ir.Context, *, size: int, name: str) -> bytes | None:
    """MLIR bytecode, written by MLIR itself, of the module that `read` makes in a child process.

    None for `LARGE` input, whose module was read, verified and printed in the child all the same.
    """
    child_context = single_threaded(context)

    def work() -> bytes:
        try:
            module = read(child_context)
            module.operation.verify()
        except ir.MLIRError as error:
            raise mlir_error(error, name) from None
        _print(module, name)
        if size >= LARGE:
            return b""
        bytecode = io.BytesIO()
        module.operation.write_bytecode(bytecode)
        return bytecode.getvalue()

    return call_isolated(work, seconds=patience(size), memory=allowance(size)) or None


def check_nesting(text: str, data: bytes, context: ir.Context) -> None:
    """Parse in a child process text whose nesting may overflow the parser's stack.

    A `CrashError` if it does. Other parse errors are left to the caller's own parse.
    """
    if max(map(data.count, _NESTING)) <= _SHALLOW:
        return
    child_context = single_threaded(context)

    def work() -> bytes:
        try:
            module = ir.Module.parse(text, child_context)
        except ir.MLIRError:
            return b""
        _print(module, "text")
        return b""

    call_isolated(work, seconds=patience(len(data)), memory=allowance(len(data)))


def single_threaded(context: ir.Context) -> ir.Context:
    """`context`, or one to use in a child instead: the threads of its pool are not there."""
    if context.get_num_threads() == 1:
        return context
    share_fp8_dialect(context, pristine_context())
    return pristine_context()


def patience(size: int) -> float:
    """Timeout in seconds for reading or writing `size` bytes: far above what valid input needs."""
    return 4.5 + size / 10e6


def allowance(size: int) -> int:
    """Memory limit in bytes of a child for `size` bytes of input."""
    return (4 << 30) + 20 * size


def refuse_names(text: str, name: str) -> None:
    """Refuse names of attributes that are not UTF-8, over which the bindings end the process,
    or hold control characters, of which they find the part before a zero.

    `text` is MLIR; `name` is what the error calls it.
    """
    if "\\" not in text:
        return
    for string in _STRING.finditer(text):
        if not string["equals"]:
            continue
        spelled = string["inside"]
        if (
            not _ESCAPE.sub(_unescaped, spelled.encode())
            .decode(errors="surrogateescape")
            .isprintable()
        ):
            raise Fp8Error(f"{name}: damaged: the attribute name '{spelled}' is not printable")


def _unescaped(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes([int(code, 16)]) if len(code) == 2 else code


def _print(module: ir.Module, name: str) -> None:
    """Crash here if printing does; the text has the names that crash the bindings."""
    text = module.operation.get_asm(
        large_elements_limit=_PRINTED_ELEMENTS,
        assume_verified=True,  # it was
    )
    refuse_names(str(text), name)


@cache
def pristine_context() -> ir.Context:
    """A context without threads that every child gets as it was made."""
    return make_context()
