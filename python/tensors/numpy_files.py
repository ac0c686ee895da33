"""Arrays in `.npz` and `.npy` files."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mlir_fp8.arrays.tensor_specs import readable, restore, split_key, stored
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tensors.file_entry import Entry, guarded

NPY_MAGIC = b"\x93NUMPY"
NPZ_MAGIC = b"PK"


def numpy_entries(path: str, data: bytes | None, start: bytes) -> list[Entry]:
    """The arrays of an `.npz`, or the one of an `.npy`, mapped where possible.

    `data` is what was read from a pipe, None for a file; `start` is how it begins.
    """
    loaded = guarded(path, lambda: _loaded(path, data, start))
    if isinstance(loaded, np.ndarray):
        return [Entry(path, "", "", lambda: loaded)]
    return [_npz_entry(path, loaded, key) for key in loaded.files]


def numpy_bytes(arrays: Mapping[str, np.ndarray], *, is_single: bool) -> bytes:
    """The bytes of the `.npz` with all arrays, or of the `.npy` of the only one."""
    buffer = io.BytesIO()
    named: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        key, held = stored(name, array)
        if key in named:
            raise Fp8Error(f"an .npz cannot hold two arrays named '{key}': name one otherwise")
        named[key] = held
    for name in ("file", "allow_pickle"):  # numpy's own arguments
        if name in named and not is_single:
            raise Fp8Error(f"an .npz cannot hold an array named '{name}': name it otherwise")
    if is_single:
        (array,) = named.values()
        np.save(buffer, array, allow_pickle=False)
    else:
        np.savez(buffer, allow_pickle=False, **named)
    return buffer.getvalue()


def _loaded(path: str, data: bytes | None, start: bytes) -> Any:
    if data is not None:
        return _parse(data)
    if start.startswith(NPZ_MAGIC):
        return np.load(path, allow_pickle=False)
    try:
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except Exception:  # no elements, or what the plain reader makes out or names
        return _parse(Path(path).read_bytes())


def _parse(data: bytes) -> Any:
    return np.load(io.BytesIO(readable(data)), allow_pickle=False)


def _npz_entry(path: str, archive: "np.lib.npyio.NpzFile", key: str) -> Entry:
    name, element = split_key(key)

    def read() -> np.ndarray:
        array = guarded(path, lambda: _member(archive, key))
        if not isinstance(array, np.ndarray):
            raise Fp8Error(f"'{path}': '{key}' is not an array")
        return restore(key, array, element)

    return Entry(f"{key!r} of {path}", name, key, read)


def _member(archive: "np.lib.npyio.NpzFile", key: str) -> Any:
    try:
        return archive[key]
    except ValueError:
        assert archive.zip is not None
        return _parse(archive.zip.read(f"{key}.npy"))
