"""Compiled modules as entries of the cache."""

import json
import sys
from typing import TYPE_CHECKING

from mlir_fp8.arrays import TensorSpec
from mlir_fp8.compile_options import CompileOptions
from mlir_fp8.compiled_module import CompiledModule
from mlir_fp8.errors import Fp8Error
from mlir_fp8.native.code_cache import CodeCache
from mlir_fp8.native.code_key import code_key
from mlir_fp8.native.object_code import ObjectCode, object_file
from mlir_fp8.native.symbols import is_in_every_process, undefined_symbols
from mlir_fp8.threads import PARALLEL_FOR, pool_address

if TYPE_CHECKING:
    from torch_mlir.execution_engine import ExecutionEngine

_CUSTOM_CALLS = "mlir_fp8.lowering.stablehlo_expand_custom_calls"


def key_of(content: bytes, options: CompileOptions) -> str | None:
    """The key of a module, by its bytes; None where they do not tell what it means."""
    registry = sys.modules.get(_CUSTOM_CALLS)
    if registry is not None and registry.is_extended() and b"custom" in content:
        return None
    return code_key("compile", repr(options), content)


def get(cache: CodeCache, key: str) -> CompiledModule | None:
    """The module that was put under `key`."""
    payload = cache.get(key)
    if payload is None:
        return None
    described, _, code = payload.partition(b"\n")
    signature = json.loads(described)
    arguments, results = (
        [TensorSpec(tuple(shape), element) for shape, element in signature[side]]
        for side in ("arguments", "results")
    )
    # Read from the text of the object file: not all kinds are taken apart.
    others = {PARALLEL_FOR: pool_address()} if PARALLEL_FOR.encode() in code else {}
    try:
        return CompiledModule(ObjectCode(code, others), signature["entry"], arguments, results)
    except Fp8Error:
        cache.remove(key)
        return None


def put(cache: CodeCache, key: str, compiled: CompiledModule, engine: "ExecutionEngine") -> None:
    """Keep `compiled`, whose code `engine` holds, under `key`."""
    code = object_file(engine)
    if not all(map(is_in_every_process, undefined_symbols(code) - {PARALLEL_FOR})):
        return
    signature = {
        "entry": compiled.entry,
        "arguments": [(spec.shape, spec.element) for spec in compiled.arguments],
        "results": [(spec.shape, spec.element) for spec in compiled.results],
    }
    cache.put(key, json.dumps(signature).encode() + b"\n" + code)
