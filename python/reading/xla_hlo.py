"""XLA's HLO parser and converters, from jaxlib; importing this module imports jaxlib.

They log on stderr and can abort: call them in a child process (`isolation.py`).
"""

import re

from jaxlib import _hlo, _jax

from mlir_fp8.artifacts import mhlo
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.reading.hlo_scaled_dots import calls_as_scaled_dots, scaled_dots_as_calls

_ELIDED = re.compile(r"\bconstant\(\s*\{\s*\.\.\.\s*\}\s*\)")
# XLA reads `-0` as the integer 0; strings are matched to be left alone.
_MINUS_ZERO = re.compile(r'"(?:[^"\\\n]|\\.)*"|(?<![\w.+-])-0(?![\w.])')
# Of f8E8M0FNU's smallest value it prints two digits, which it reads as the next larger value.
_E8M0_CONSTANT = re.compile(r"f8e8m0fnu\[[^\]]*\](?:\{[^}]*\})?\s+constant\([^()]*\)")
_SYNTAX = re.compile(r"was parsing (\d+):(\d+): error: ([^\n]*)")
_STATUS = re.compile(r"[A-Z_]+: ")


def bridge_version() -> str:
    """The StableHLO version of artifacts for XLA and from it."""
    return mhlo.bridge_version()


def artifact_of_text(text: str, name: str) -> bytes:
    """The portable artifact of HLO text; `name` stands for the file in errors."""
    _refuse_elided(text, name)
    try:
        module = _hlo.hlo_module_from_text(text)
        exact = _exact(text)  # after the text as it is, whose places are true
        if exact != text:
            module = _hlo.hlo_module_from_text(exact)
    except _jax.JaxRuntimeError as error:
        raise _one_line(error, name) from None
    return artifact_of_proto(module.as_serialized_hlo_module_proto(), name)


def artifact_of_proto(proto: bytes, name: str) -> bytes:
    """The portable artifact of a serialized `HloModuleProto`."""
    try:
        bytecode = _jax.mlir.hlo_to_stablehlo(scaled_dots_as_calls(proto))
    except _jax.JaxRuntimeError as error:
        raise _one_line(error, name) from None
    return mhlo.legalize_to_artifact(mhlo.parse_mhlo(bytecode, name), name)


def text_of_artifact(artifact: bytes, name: str) -> bytes:
    """HLO text of a portable artifact, with all constants."""
    computation = _hlo.XlaComputation(proto_of_artifact(artifact, name))
    text = computation.as_hlo_text(print_large_constants=True)
    return f"{_exact(text).strip()}\n".encode()


def proto_of_artifact(artifact: bytes, name: str) -> bytes:
    """The serialized `HloModuleProto` of a portable artifact."""
    computation = _computation(artifact, name)
    return calls_as_scaled_dots(computation.as_serialized_hlo_module_proto())


def _computation(artifact: bytes, name: str) -> _hlo.XlaComputation:
    try:
        return _jax.mlir.mlir_module_to_xla_computation(
            artifact, use_tuple_args=False, return_tuple=False
        )
    except _jax.JaxRuntimeError as error:
        raise _one_line(error, name) from None


def _refuse_elided(text: str, name: str) -> None:
    elided = _ELIDED.search(text)
    if not elided:
        return
    line = text.count("\n", 0, elided.start()) + 1
    column = elided.start() - text.rfind("\n", 0, elided.start())
    raise Fp8Error(
        f"{name}:{line}:{column}: the constant's values were left out when this was printed: "
        "print it with its large constants"
    )


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
