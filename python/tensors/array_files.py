"""Arrays by name from files and to files: `mlir_fp8.load_arrays` and `mlir_fp8.save_arrays`."""

import os
import stat
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mlir_fp8.arrays.tensor_specs import is_masked, sound
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.failures.internal_error import public
from mlir_fp8.tensors.file_entry import Entry
from mlir_fp8.tensors.foreign import Kind, as_array, given_as, result_kind
from mlir_fp8.tensors.numpy_files import NPY_MAGIC, NPZ_MAGIC, numpy_bytes, numpy_entries
from mlir_fp8.tensors.safetensors_files import (
    is_safetensors,
    safetensors_entries,
    safetensors_parts,
)
from mlir_fp8.tensors.shards import SHARD_BYTES, SUFFIX, shard_entries, shard_files
from mlir_fp8.tensors.torch_entries import torch_entries

_UNNAMED = "arr_0"  # as numpy names them


@public
def load_arrays(
    path: str | os.PathLike[str], as_: Kind = "numpy", *, packed: bool = False
) -> dict[str, Any]:
    """The arrays of a file by name: `.safetensors`, its `.safetensors.index.json`, `.npz`, `.npy`.

    Arrays of `.safetensors` and `.npy` files are the file's own pages: nothing is read before it is
    used, and float8 (F8_E4M3, F8_E5M2, F8_E8M0 and their FNUZ forms) and BF16 are arrays of
    ml_dtypes; F4 and F6 alone are unpacked. With `packed` these are uint8 as they lie in the file,
    [..., n / 2] or [..., 3 n / 4] for n numbers, where rows are whole bytes: what `prepare` and
    modules with packed weights take. Of `.safetensors`, writing to an array changes a page of this
    process and not the file. An index names the files that hold its arrays. Keys with a type as
    suffix (`arg0@i4`) are codes of that type. The one array of an `.npy` is "arr_0". Of a `.pt2`
    file they are weights, buffers and constants, in the order of the arguments of its program.
    `as_` says what arrays are given as: "numpy", "torch" or "jax".
    Raises `Fp8Error` for files that are damaged or of another kind.
    """
    kind = result_kind(as_, ())
    name = os.fspath(path)
    found: dict[str, Any] = {}
    for entry in file_entries(name, is_packed=packed):
        key = entry.name or _UNNAMED
        if key in found:
            raise Fp8Error(f"{entry.place} is the second array named '{key}'")
        found[key] = given_as(kind, entry.place, entry.read())
    return found


@public
def save_arrays(
    path: str | os.PathLike[str],
    arrays: Mapping[str, Any],
    shard_bytes: int = SHARD_BYTES,
) -> None:
    """Write arrays by name, each file whole or not at all, in the form that `path` ends in.

    `.safetensors`: float8 that torch has, bf16, f4 and f6 under the format's own types (F8_E4M3,
    F8_E5M2, F8_E8M0, BF16, F4, F6_E2M3, F6_E3M2), i4, i2 and other small floats as U8 with the type
    as suffix of the key (`x@f8E3M4`). `.safetensors.index.json`: the same in files of up to
    `shard_bytes` beside it, and the index. `.npz`: codes with suffixes. `.npy`: one array. Arrays
    may be torch tensors, JAX arrays or anything with DLPack. Raises `Fp8Error` for what a form
    cannot hold, before a file is written.
    """
    name = os.fspath(path)
    if not isinstance(shard_bytes, int) or shard_bytes < 1:
        raise Fp8Error(f"shard_bytes is {shard_bytes!r}: give a number from 1 up")
    known = {key: _array(key, value) for key, value in arrays.items()}
    if not name.endswith((".safetensors", SUFFIX, ".npz", ".npy")):
        endings = f".safetensors, {SUFFIX}, .npz or .npy"
        raise Fp8Error(f"'{name}': the name says the form: let it end in {endings}")
    if name.endswith(".npy") and len(known) != 1:
        raise Fp8Error(f"'{name}' would hold one array, given are {len(known)}: write an .npz")
    for file, parts in file_contents(name, known, shard_bytes):
        write_whole(file, parts)


def file_contents(
    path: str, arrays: Mapping[str, np.ndarray], shard_bytes: int = SHARD_BYTES
) -> list[tuple[str, Iterable[bytes | memoryview]]]:
    """Files and their pieces, in the form that the name `path` ends in; an `.npz` of any other."""
    if path.endswith(SUFFIX):
        return list(shard_files(path, arrays, shard_bytes))
    if path.endswith(".safetensors"):
        return [(path, list(safetensors_parts(path, arrays)))]
    return [(path, [numpy_bytes(arrays, is_single=path.endswith(".npy"))])]


def file_entries(path: str, data: bytes | None = None, *, is_packed: bool = False) -> list[Entry]:
    """The arrays of the file `path`; of `data` where it was read already, from a pipe.

    With `is_packed`, f4 and f6 of `.safetensors` as they lie there.
    """
    start = _start(path) if data is None else data[:9]
    if not start:
        raise Fp8Error(f"'{path}' is empty")
    if start.startswith(NPZ_MAGIC) and (entries := torch_entries(path, data)) is not None:
        return entries
    if start.startswith((NPY_MAGIC, NPZ_MAGIC)):
        return numpy_entries(path, data, start)
    if path.endswith(".json"):
        return shard_entries(path, Path(path).read_bytes(), is_packed=is_packed)
    if is_safetensors(start) or path.endswith(".safetensors"):
        return safetensors_entries(path, data, is_packed=is_packed)
    raise Fp8Error(f"'{path}' is neither an .npz nor an .npy nor a .safetensors file")


def _start(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(9)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise Fp8Error(f"cannot read '{path}': {reason}") from None


def _array(name: Any, value: Any) -> np.ndarray:
    if not isinstance(name, str) or not name or not name.isprintable():
        raise Fp8Error(f"an array is named {name!r}: give it a text that can be printed for a name")
    what = f"array '{name}'"
    array = as_array(what, value)
    if is_masked(array):
        raise Fp8Error(f"{what} is masked: fill it (numpy.ma.filled), or pass its data")
    if not isinstance(array, np.ndarray | np.generic):
        raise Fp8Error(f"{what} is a {type(value).__name__}, not an array")
    array = np.asarray(array)
    if array.dtype.hasobject:
        raise Fp8Error(f"{what} is of Python objects: give numbers")
    return sound(what, array.astype(array.dtype.newbyteorder("="), copy=False))


def write_whole(path: str, parts: Iterable[bytes | memoryview]) -> None:
    """Write `parts` to a file beside `path` that then takes its place; `path` may be mapped."""
    beside = None
    try:
        target = Path(path).resolve()
        beside = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}.part")
        with beside.open("xb") as file:
            file.writelines(parts)
        if target.exists():
            beside.chmod(stat.S_IMODE(target.stat().st_mode))
        beside.replace(target)
    except BaseException as error:
        if beside is not None:
            beside.unlink(missing_ok=True)
        if not isinstance(error, OSError | ValueError | RuntimeError):
            raise
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise Fp8Error(f"cannot write '{path}': {reason}") from None
