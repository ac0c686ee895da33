"""Contexts that know the `fp8` dialect: on demand, since it costs more than all others."""

from typing import Any

from torch_mlir import ir

from mlir_fp8.base.context import registering_classes


def load_fp8_dialect(context: ir.Context) -> None:
    """Let `context` know the `fp8` dialect. The context has one thread from then on."""
    if knows_fp8_dialect(context):
        return
    # The dialect's verifiers are Python: with more threads, one of MLIR's would wait for Python's
    # lock, which the parser holds while it waits for that thread (a deadlock).
    context.enable_multithreading(False)
    from mlir_fp8.dialects import (  # noqa: F401 - whose classes are the dialect's ops
        _fp8_attention,
        _fp8_attention_backward,
        _fp8_convert,
        _fp8_products,
        _fp8_quantization,
        _fp8_ragged,
        _fp8_uniform,
        _fp8_unpack,
        _fp8_update_scale,
    )
    from mlir_fp8.dialects._fp8_dialect import Fp8

    with registering_classes(), context, ir.Location.unknown():
        Fp8.load()


def load_fp8_dialect_for(data: bytes, context: ir.Context) -> None:
    """Let `context` know the `fp8` dialect if `data`, text or bytecode, may hold ops of it."""
    if b"fp8." in data or b"fp8\0" in data:
        load_fp8_dialect(context)


def share_fp8_dialect(source: ir.Context, target: ir.Context) -> None:
    """Let `target`, which a module of `source` goes to, know the `fp8` dialect if `source` does."""
    if knows_fp8_dialect(source):
        load_fp8_dialect(target)


def knows_fp8_dialect(context: Any) -> bool:
    return context.is_dialect_loaded("fp8")  # jaxlib's stubs, which describe it, are older
