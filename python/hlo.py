"""HLO, XLA's own form: text and protocol buffers, to and from StableHLO.

jaxlib holds XLA's parser and converters. They log on stderr and abort on some damaged input, so all
of it runs in a forked child, and modules come back as portable artifacts.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from torch_mlir import ir

from mlir_fp8.artifact import deserialize, serialize
from mlir_fp8.chlo_calls import calls_to_chlo, chlo_to_calls
from mlir_fp8.context import make_context
from mlir_fp8.errors import Fp8Error
from mlir_fp8.isolation import CrashError, call_isolated

if TYPE_CHECKING:
    from jaxlib import _hlo

# `HloModule name` after blanks and comments.
_HLO_TEXT = re.compile(rb"(?:\s|//[^\n]*\n|/\*.*?\*/)*HloModule\b", re.DOTALL)
_ELIDED = re.compile(r"\bconstant\(\s*\{\s*\.\.\.\s*\}\s*\)")
# XLA reads `-0` as the integer 0; strings are matched to be left alone.
_MINUS_ZERO = re.compile(r'"(?:[^"\\\n]|\\.)*"|(?<![\w.+-])-0(?![\w.])')
# Of f8E8M0FNU's smallest value it prints two digits, which it reads as the next larger value.
_E8M0_CONSTANT = re.compile(r"f8e8m0fnu\[[^\]]*\](?:\{[^}]*\})?\s+constant\([^()]*\)")
_SYNTAX = re.compile(r"was parsing (\d+):(\d+): error: ([^\n]*)")
_STATUS = re.compile(r"[A-Z_]+: ")


def is_hlo_text(data: bytes) -> bool:
    """Whether `data` is HLO text: its first word is `HloModule`."""
    return _HLO_TEXT.match(data) is not None


def parse_hlo_text(data: bytes, name: str, context: ir.Context | None = None) -> ir.Module:
    """The StableHLO module of HLO text; `name` stands for the file in errors.

    Text printed without its large constants (`constant({...})`) is refused: XLA itself reads it,
    with numbers of its own invention.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Fp8Error(f"{name}: not HLO text") from None
    elided = _ELIDED.search(text)
    if elided:
        line = text.count("\n", 0, elided.start()) + 1
        column = elided.start() - text.rfind("\n", 0, elided.start())
        raise Fp8Error(
            f"{name}:{line}:{column}: the constant's values were left out when this was printed: "
            "print it with its large constants"
        )

    def work() -> bytes:
        from jaxlib import _hlo, _jax

        try:
            module = _hlo.hlo_module_from_text(text)
            exact = _exact(text)  # after the text as it is, whose places are true
            if exact != text:
                module = _hlo.hlo_module_from_text(exact)
        except _jax.JaxRuntimeError as error:
            raise _one_line(error, name) from None
        return _to_artifact(module.as_serialized_hlo_module_proto(), name)

    return _in_child(work, data, name, context)


def parse_hlo_proto(data: bytes, name: str, context: ir.Context | None = None) -> ir.Module:
    """The StableHLO module of a serialized `HloModuleProto`."""
    if not data:
        raise Fp8Error(f"{name}: the file is empty")

    def work() -> bytes:
        return _to_artifact(data, name)

    return _in_child(work, data, name, context)


def hlo_text(module: ir.Module, name: str = "module") -> str:
    """HLO text of a StableHLO module, with all constants; the module is left as it is."""
    text = _from_stablehlo(
        module, name, lambda it: it.as_hlo_text(print_large_constants=True).strip().encode() + b"\n"
    )
    return _exact(text.decode())


def hlo_proto(module: ir.Module, name: str = "module") -> bytes:
    """The serialized `HloModuleProto` of a StableHLO module; the module is left as it is."""
    return _from_stablehlo(module, name, lambda it: it.as_serialized_hlo_module_proto())


def _from_stablehlo(
    module: ir.Module, name: str, encode: "Callable[[_hlo.XlaComputation], bytes]"
) -> bytes:
    from mlir_fp8 import mhlo

    copy = module.operation.clone(ip=False).operation
    chlo_to_calls(copy)
    artifact = serialize(copy, mhlo.bridge_version(), name=name)

    def work() -> bytes:
        from jaxlib import _jax

        try:
            return encode(
                _jax.mlir.mlir_module_to_xla_computation(
                    artifact, use_tuple_args=False, return_tuple=False
                )
            )
        except _jax.JaxRuntimeError as error:
            raise _one_line(error, name) from None

    return _isolated(work, artifact, name)


def _to_artifact(proto: bytes, name: str) -> bytes:
    from jaxlib import _jax

    from mlir_fp8 import mhlo

    try:
        bytecode = _jax.mlir.hlo_to_stablehlo(proto)
    except _jax.JaxRuntimeError as error:
        raise _one_line(error, name) from None
    return mhlo.legalize_to_artifact(mhlo.parse_mhlo(bytecode, name), name)


def _in_child(
    work: Callable[[], bytes], data: bytes, name: str, context: ir.Context | None
) -> ir.Module:
    artifact = _isolated(work, data, name)
    module = deserialize(artifact, context=context or make_context(), name=name)
    calls_to_chlo(module.operation)
    return module


def _isolated(work: Callable[[], bytes], data: bytes, name: str) -> bytes:
    try:
        return call_isolated(work, seconds=10.0 + len(data) / 1e6)
    except CrashError as error:
        raise Fp8Error(f"{name}: XLA's conversion failed: {error}") from None
    except Fp8Error as error:
        # Locations of HLO are the names of instructions, in no file.
        message = str(error)
        raise Fp8Error(message if message.startswith(name) else f"{name}: {message}") from None


def _exact(text: str) -> str:
    """HLO text of the same constants that XLA reads without changing them."""
    text = _MINUS_ZERO.sub(lambda match: "-0.0" if match[0] == "-0" else match[0], text)
    return _E8M0_CONSTANT.sub(
        lambda match: re.sub(r"\b5\.9e-39\b", "5.877471754111438e-39", match[0]), text
    )


def _one_line(error: Exception, name: str) -> Fp8Error:
    """XLA's status as one line: for a syntax error its place, else its first line."""
    syntax = _SYNTAX.search(str(error))
    if syntax:
        line, column, reason = syntax.groups()
        return Fp8Error(f"{name}:{line}:{column}: {reason}")
    reason = _STATUS.sub("", str(error).splitlines()[0], count=1)
    return Fp8Error(f"{name}: {reason.removeprefix('-:0:0: error: ')}")
