"""Modules out of bytes that nobody vouches for.

A parser that survived damaged bytes in a child may still crash on the same bytes here: what it does
with them can depend on memory it never set. So this process reads what the child wrote of the
module it got, not the bytes themselves.
"""

import io
from collections.abc import Callable
from functools import cache

from torch_mlir import ir

from mlir_fp8.context import make_context, mlir_error
from mlir_fp8.isolation import call_isolated

# From here on a second copy of the module costs more than it protects from.
LARGE = 64 << 20
_PRINTED_ELEMENTS = 16


def read_isolated(
    read: Callable[[ir.Context], ir.Module], context: ir.Context, *, size: int, name: str
) -> ir.Module:
    """The module that `read` makes of `size` bytes, in `context`; verified and printable.

    `read` runs in a child process, and an `Fp8Error` of it is raised here; `name` is what errors
    call the input. It runs once more in this
    process, after it succeeded there, when the input is too large to be handed over.
    """
    # A thread pool of this process would not be there in the child.
    child_context = context if context.get_num_threads() == 1 else _child_context()

    def work() -> bytes:
        module = read(child_context)
        try:
            module.operation.verify()
        except ir.MLIRError as error:
            raise mlir_error(error, name) from None
        module.operation.get_asm(large_elements_limit=_PRINTED_ELEMENTS)
        if size >= LARGE:
            return b""
        bytecode = io.BytesIO()
        module.operation.write_bytecode(bytecode)
        return bytecode.getvalue()

    bytecode = call_isolated(work, seconds=patience(size), memory=allowance(size))
    if not bytecode:
        return read(context)
    try:
        return ir.Module.parse(bytecode, context)
    except ir.MLIRError as error:
        raise mlir_error(error, name) from None


def patience(size: int) -> float:
    """Seconds that reading or writing `size` bytes may take: far above what a sound one needs."""
    return 4.5 + size / 10e6


def allowance(size: int) -> int:
    """Bytes that a child may allocate for `size` bytes of input."""
    return (4 << 30) + 20 * size


@cache
def _child_context() -> ir.Context:
    return make_context()
