"""HLO, XLA's own form: text and protocol buffers, to and from StableHLO.

XLA's parser and converters run in a forked child; modules come back as portable artifacts.
"""

import re
from collections.abc import Callable

from torch_mlir import ir

from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import CrashError, call_isolated
from mlir_fp8.dialects.chlo_calls import calls_to_chlo, chlo_to_calls
from mlir_fp8.reading.artifact import deserialize
from mlir_fp8.reading.hlo_constants import (
    refuse_complex_nan_read,
    refuse_complex_nan_written,
    refuse_f6,
    refuse_lost_numbers,
)
from mlir_fp8.serialization.serialize import serialize

# `HloModule name` after blanks and comments.
_HLO_TEXT = re.compile(rb"(?:\s|//[^\n]*\n|/\*.*?\*/)*HloModule\b", re.DOTALL)


def is_hlo_text(data: bytes) -> bool:
    """Whether `data` is HLO text: its first word is `HloModule`."""
    return _HLO_TEXT.match(data) is not None


def parse_hlo_text(data: bytes, name: str, context: ir.Context | None = None) -> ir.Module:
    """The StableHLO module of HLO text; `name` stands for the file in errors.

    Text printed without its large constants (`constant({...})`) is refused: XLA itself reads it,
    with numbers of its own invention; so are a complex constant with a NaN part, and a number that
    its small float has no code for. What only
    CHLO has an op for stays CHLO.
    """
    from mlir_fp8.reading.xla_hlo import artifact_of_text

    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Fp8Error(f"{name}: not HLO text") from None
    refuse_lost_numbers(text, name)
    module = _module(lambda: artifact_of_text(text, name), data, name, context)
    refuse_complex_nan_read(module.operation, name)
    return module


def parse_hlo_proto(data: bytes, name: str, context: ir.Context | None = None) -> ir.Module:
    """The StableHLO module of a serialized `HloModuleProto`."""
    from mlir_fp8.reading.xla_hlo import artifact_of_proto

    if not data:
        raise Fp8Error(f"{name}: the file is empty")
    return _module(lambda: artifact_of_proto(data, name), data, name, context)


def hlo_text(module: ir.Module, name: str = "module") -> str:
    """HLO text of a StableHLO module, with all constants; the module is left as it is.

    A complex constant with a NaN part is refused: XLA would not read it back.
    """
    from mlir_fp8.reading.xla_hlo import text_of_artifact

    refuse_complex_nan_written(module.operation, name)
    return _from_stablehlo(module, name, text_of_artifact).decode()


def hlo_proto(module: ir.Module, name: str = "module") -> bytes:
    """The serialized `HloModuleProto` of a StableHLO module; the module is left as it is."""
    from mlir_fp8.reading.xla_hlo import proto_of_artifact

    return _from_stablehlo(module, name, proto_of_artifact)


def _from_stablehlo(module: ir.Module, name: str, encode: Callable[[bytes, str], bytes]) -> bytes:
    from mlir_fp8.reading.xla_hlo import bridge_version

    refuse_f6(module.operation, name)
    copy = module.operation.clone(ip=False).operation
    chlo_to_calls(copy)
    artifact = serialize(copy, bridge_version(), name=name)
    return _isolated(lambda: encode(artifact, name), artifact, name)


def _module(
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
