"""`.safetensors` in several files, with an index: `model.safetensors.index.json`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tensors.file_entry import Entry, guarded
from mlir_fp8.tensors.safetensors_files import safetensors_entries, safetensors_parts

SUFFIX = ".safetensors.index.json"
SHARD_BYTES = 5_000_000_000
"""As transformers splits models."""


def shard_entries(path: str, data: bytes, *, is_packed: bool = False) -> list[Entry]:
    """The arrays that an index names, each in its file beside the index."""
    index = guarded(path, lambda: json.loads(data))
    files = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(files, dict):
        raise Fp8Error(f"'{path}' is no index: it has no weight_map")
    held: dict[str, dict[str, Entry]] = {}
    for name, file in files.items():
        _check_file(path, name, file)
        if file not in held:
            held[file] = _entries_beside(path, name, file, is_packed=is_packed)
        if name not in held[file]:
            raise Fp8Error(f"'{path}': '{name}' is not in '{file}'")
    return [held[file][name] for name, file in files.items()]


def _check_file(path: str, name: str, file: Any) -> None:
    """An index that was downloaded names no file of other folders."""
    is_inside = isinstance(file, str) and file and "\\" not in file and "\0" not in file
    parts = PurePosixPath(file).parts if is_inside else ()
    if not parts or PurePosixPath(file).is_absolute() or ".." in parts:
        raise Fp8Error(f"'{path}': '{name}' is in {file!r}, which is no file beside the index")


def _entries_beside(path: str, name: str, file: str, *, is_packed: bool) -> dict[str, Entry]:
    """By key."""
    shard = Path(path).parent / file
    if not shard.is_file():
        raise Fp8Error(f"'{path}': '{file}' is missing, which holds '{name}'")
    return {
        entry.key: entry for entry in safetensors_entries(str(shard), None, is_packed=is_packed)
    }


def shard_files(
    path: str, arrays: Mapping[str, np.ndarray], shard_bytes: int
) -> Iterator[tuple[str, Iterator[bytes | memoryview]]]:
    """Names and contents of the files, the index last."""
    shards = _split(arrays, shard_bytes)
    stem = Path(path).name.removesuffix(SUFFIX)
    weight_map: dict[str, str] = {}
    for number, shard in enumerate(shards, 1):
        file = f"{stem}-{number:05}-of-{len(shards):05}.safetensors"
        parts = list(safetensors_parts(file, shard))
        weight_map |= dict.fromkeys(_keys(parts[0]), file)
        yield str(Path(path).with_name(file)), iter(parts)
    size = sum(array.nbytes for array in arrays.values())
    index = {"metadata": {"total_size": size}, "weight_map": dict(sorted(weight_map.items()))}
    yield path, iter([json.dumps(index, indent=2).encode() + b"\n"])


def _keys(header: bytes | memoryview) -> list[str]:
    return list(json.loads(bytes(header)[8:]))


def _split(arrays: Mapping[str, np.ndarray], limit: int) -> Sequence[dict[str, np.ndarray]]:
    """In order, as many to a shard as it takes; one that is larger has a shard of its own."""
    shards: list[dict[str, np.ndarray]] = [{}]
    size = 0
    for name, array in arrays.items():
        if shards[-1] and size + array.nbytes > limit:
            shards.append({})
            size = 0
        shards[-1][name] = array
        size += array.nbytes
    return shards
