"""Compiled modules as entries of the cache."""

import itertools
import json
import sys
from collections.abc import Sequence

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.symbols import PARALLEL_FOR
from mlir_fp8.compiling.compile_options import CompileOptions
from mlir_fp8.compiling.compiled_module import CompiledModule
from mlir_fp8.compiling.native.code_cache import CodeCache
from mlir_fp8.compiling.native.code_key import code_key
from mlir_fp8.compiling.native.lapack import addresses, is_lapack, named_in
from mlir_fp8.compiling.native.object_code import ObjectCode, prepare
from mlir_fp8.compiling.native.symbols import (
    defined_symbols,
    is_in_every_process,
    undefined_symbols,
)
from mlir_fp8.compiling.threads import pool_address

_CUSTOM_CALLS = "mlir_fp8.lowering.frontend.stablehlo_expand_custom_calls"


def key_of(content: bytes, options: CompileOptions) -> str | None:
    """The key of a module, by its bytes; None where they do not determine its meaning."""
    is_extended = getattr(sys.modules.get(_CUSTOM_CALLS), "is_extended", None)
    if b"custom" in content and is_extended is not None and is_extended():
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
    try:
        code = linked(_cut(code, signature["sizes"]))
        donated = [(argument, result) for argument, result in signature["donated"]]
        return CompiledModule(code, signature["entry"], arguments, results, donated)
    except Fp8Error:
        cache.remove(key)
        return None


def put(cache: CodeCache, key: str, compiled: CompiledModule, objects: Sequence[bytes]) -> None:
    """Keep `compiled`, whose code is in the files `objects`, under `key`."""
    if not is_linkable(objects):
        return
    signature = {
        "entry": compiled.entry,
        "arguments": [(spec.shape, spec.element) for spec in compiled.arguments],
        "results": [(spec.shape, spec.element) for spec in compiled.results],
        "donated": compiled.donated,
        "sizes": [len(data) for data in objects],
    }
    cache.put(key, json.dumps(signature).encode() + b"\n" + b"".join(objects))


def is_linkable(objects: Sequence[bytes]) -> bool:
    """Whether `linked` can resolve all undefined symbols of the files."""
    missing = frozenset().union(*map(undefined_symbols, objects))
    missing -= frozenset().union(*map(defined_symbols, objects))
    return all(is_lapack(name) or is_in_every_process(name) for name in missing - {PARALLEL_FOR})


def prepare_linking(shares: bool) -> None:
    """Do the one-time work of the first `linked`; `shares`: the code has parallel loops."""
    prepare()
    if shares:
        pool_address()


def linked(objects: Sequence[bytes]) -> ObjectCode:
    """The code of a module, in one file or several."""
    # By their bytes: only ELF files are parsed.
    shares = any(PARALLEL_FOR.encode() in data for data in objects)
    others = {PARALLEL_FOR: pool_address()} if shares else {}
    return ObjectCode(*objects, others=others | addresses(named_in(objects)))


def _cut(data: bytes, sizes: Sequence[int]) -> list[bytes]:
    ends = list(itertools.accumulate(sizes))
    return [data[end - size : end] for size, end in zip(sizes, ends, strict=True)]
