"""Arrays in `.safetensors` files, mapped: https://github.com/huggingface/safetensors.

The package checks a file and reads its header; its numpy side knows neither float8 nor bf16, so
the arrays are made here. What the format has no type for (i4, i2 and f8 that torch has not) is
kept as U8 under a key with the type as suffix, as in an `.npz`: `res0@f8E3M4`.
"""

import json
import math
import mmap
import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mlir_fp8.arrays.packing import CODES_OF_BYTES, is_whole, packed, unpacked
from mlir_fp8.arrays.tensor_specs import (
    element_dtype,
    element_name,
    restore,
    sound,
    split_key,
    stored,
)
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS
from mlir_fp8.tensors.file_entry import Entry, guarded

# In the order in which the package writes them, from the last up: those of more bytes first.
_ELEMENTS = {
    "BOOL": "i1",
    "F4": "f4E2M1FN",
    "F6_E2M3": "f6E2M3FN",
    "F6_E3M2": "f6E3M2FN",
    "U8": "ui8",
    "I8": "i8",
    "F8_E5M2": "f8E5M2",
    "F8_E4M3": "f8E4M3FN",
    "F8_E8M0": "f8E8M0FNU",
    "F8_E4M3FNUZ": "f8E4M3FNUZ",
    "F8_E5M2FNUZ": "f8E5M2FNUZ",
    "I16": "i16",
    "U16": "ui16",
    "F16": "f16",
    "BF16": "bf16",
    "I32": "i32",
    "U32": "ui32",
    "F32": "f32",
    "C64": "complex<f32>",
    "F64": "f64",
    "I64": "i64",
    "U64": "ui64",
}
_NAMES = {element: name for name, element in _ELEMENTS.items()}
_SUFFIXES = {"i2", "i4", "ui2", "ui4", *SMALL_FLOATS} - _NAMES.keys() | CODES_OF_BYTES.keys()
"""The types whose codes are kept as U8; F4 and F6 hold whole bytes alone."""
_METADATA = "__metadata__"


def is_safetensors(start: bytes) -> bool:
    """Whether a file that begins with these nine bytes may be one: a length, then JSON."""
    return len(start) >= 9 and start[8:9] == b"{" and start[6:8] == b"\0\0"


def safetensors_entries(path: str, data: bytes | None, *, is_packed: bool = False) -> list[Entry]:
    """The arrays of a file, or of `data` from a pipe, by their places in it.

    Those of a file are its pages, copied where they are written to. f4 and f6 are unpacked when
    read; with `is_packed` they are uint8 as in the file, where rows are whole bytes.
    """
    library = _library(path)
    if data is not None:
        parts = guarded(path, lambda: library.deserialize(data))
        return [
            _entry(
                path,
                name,
                part["dtype"],
                part["shape"],
                lambda part=part: bytearray(part["data"]),
                is_packed=is_packed,
            )
            for name, part in parts
        ]
    return guarded(path, lambda: _mapped_entries(path, library, is_packed=is_packed))


def _library(path: str) -> Any:
    try:
        import safetensors  # pyright: ignore[reportMissingImports]
    except ImportError:
        way_out = "pip install 'mlir-fp8[torch]'"
        raise Fp8Error(f"'{path}' takes the package safetensors to read: {way_out}") from None
    return safetensors


def _mapped_entries(path: str, library: Any, *, is_packed: bool) -> list[Entry]:
    with library.safe_open(path, framework="np") as file, Path(path).open("rb") as opened:
        (length,) = struct.unpack("<Q", opened.read(8))
        pages = memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_COPY))
        # Arrays follow each other without a gap, which safe_open has checked.
        end = 8 + length
        entries: list[Entry] = []
        for name in file.offset_keys():
            part = file.get_slice(name)
            dtype, shape = part.get_dtype(), part.get_shape()
            begin, end = end, end + _size(path, name, dtype, shape)
            place = _slice(pages, begin, end)
            entries.append(_entry(path, name, dtype, shape, place, is_packed=is_packed))
    if end != len(pages):
        raise Fp8Error(f"'{path}' cannot be read: its header speaks of {end} bytes of {len(pages)}")
    return entries


def _slice(pages: memoryview, begin: int, end: int) -> Callable[[], memoryview]:
    return lambda: pages[begin:end]


def _size(path: str, name: str, dtype: str, shape: list[int]) -> int:
    """Bytes."""
    count, element = math.prod(shape), _element(path, name, dtype)
    if element in CODES_OF_BYTES:
        return count * FORMATS[element].bits // 8
    return count * element_dtype(element).itemsize


def _element(path: str, name: str, dtype: str) -> str:
    if dtype not in _ELEMENTS:
        raise Fp8Error(f"'{path}': '{name}' is of type {dtype}, which is not read here")
    return _ELEMENTS[dtype]


def _entry(
    path: str,
    key: str,
    dtype: str,
    shape: list[int],
    memory: Callable[[], Any],
    *,
    is_packed: bool,
) -> Entry:
    name, suffix = split_key(key)
    is_coded = suffix in _SUFFIXES and dtype == "U8"

    def read() -> np.ndarray:
        element = _element(path, key, dtype)
        held = memory()
        codes = np.frombuffer(held, np.uint8) if len(held) else np.empty(0, np.uint8)
        if element in CODES_OF_BYTES:
            return _short(codes, element, tuple(shape), is_packed=is_packed)
        array = codes.view(element_dtype(element)).reshape(shape)
        if is_coded:
            return restore(key, array, suffix)
        return sound(f"'{path}': '{key}'", array) if dtype == "BOOL" else array

    return Entry(f"{key!r} of {path}", name if is_coded else key, key, read, keeps_order=False)


def _short(
    codes: np.ndarray, element: str, shape: tuple[int, ...], *, is_packed: bool
) -> np.ndarray:
    """f4 or f6 of the bytes of a file, or these."""
    if is_packed and is_whole(element, shape):
        return codes.reshape(*shape[:-1], shape[-1] * FORMATS[element].bits // 8)
    return unpacked(codes, element).reshape(shape)


def safetensors_parts(path: str, arrays: Mapping[str, np.ndarray]) -> Iterator[bytes | memoryview]:
    """What a file with `arrays` holds, one piece after the other, in the package's order."""
    kept = sorted(
        (_kept(path, *item) for item in arrays.items()),
        key=lambda each: (-list(_ELEMENTS).index(each[1]), each[0]),
    )
    header: dict[str, Any] = {}
    end = 0
    for name, dtype, shape, codes in kept:
        begin, end = end, end + codes.nbytes
        if name in header or name == _METADATA:
            raise Fp8Error(f"'{path}' cannot hold an array named '{name}': name it otherwise")
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    yield struct.pack("<Q", len(text)) + text
    for *_, codes in kept:
        yield codes.data


def _kept(path: str, name: str, array: np.ndarray) -> tuple[str, str, list[int], np.ndarray]:
    """Name, type and shape in the header, and the bytes."""
    shape = list(array.shape)
    flat = np.ascontiguousarray(array).reshape(-1)
    element = element_name(array.dtype)
    if element is not None and is_whole(element, flat.shape):
        return name, _NAMES[element], shape, packed(flat)
    if element in _SUFFIXES:
        name, flat = stored(name, flat)
        element = "ui8"
    if element not in _NAMES:
        way_out = "write an .npz"
        raise Fp8Error(f"'{path}' cannot hold '{name}', which is {array.dtype}: {way_out}")
    return name, _NAMES[element], shape, flat.view(np.uint8)
