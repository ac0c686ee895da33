"""Tensor maps of `ptx_machine`: made by `tensormap.replace`, and the boxes that copies take.

The 128 bytes have an encoding of the machine's own. Strides count bytes, `rank` is one less than
the rank: as in the PTX ISA, for assemblers of CUDA 12.5 and later.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from ptx_text import PtxError

SIZE = 128
_FIELDS = {
    "global_address": (0, "u8", 1), "global_stride": (8, "u8", 4), "global_dim": (40, "u4", 5),
    "box_dim": (60, "u2", 5), "element_stride": (70, "u1", 5), "rank": (75, "u1", 1),
    "elemtype": (76, "u1", 1), "interleave_layout": (77, "u1", 1), "swizzle_mode": (78, "u1", 1),
    "fill_mode": (79, "u1", 1),
}  # fmt: skip
_WRITTEN, _END = 80, 84
_ELEMENTS = ("u1", "u2", "u4", "i4", "u8", "i8", "f2", "f4", "f4", "f8", "u2", "f4", "f4")
_SPANS = (0, 32, 64, 128)


def _bit(name: str, index: int) -> int:
    at = 0
    for each, (_, _, count) in _FIELDS.items():
        if each == name:
            return 1 << (at + index)
        at += count
    raise PtxError(f"tensormap.replace has no field {name}")


def replaced(data: np.ndarray, name: str, index: int, value: int) -> np.ndarray:
    """The 128 bytes with one element of a field replaced."""
    start, type_, count = _FIELDS.get(name, (0, "", 0))
    bit = _bit(name, index)
    if not 0 <= index < count:
        raise PtxError(f"tensormap.replace of {name} {index}")
    written = int(data[_WRITTEN:_END].view(np.uint32)[0])
    if data[_END:].any() or written >> 29:
        raise PtxError("tensormap.replace of 128 bytes that were not set to zero before")
    size = np.dtype(type_).itemsize
    if not 0 <= value < 1 << (8 * size):
        raise PtxError(f"tensormap.replace of {name} {index} by {value}")
    found = data.copy()
    at = start + index * size
    found[at : at + size] = np.array([value], type_).view(np.uint8)
    found[_WRITTEN:_END] = np.array([written | bit], np.uint32).view(np.uint8)
    return found


@dataclass(frozen=True)
class TensorMap:
    address: int
    element: np.dtype
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    """In bytes, of all dimensions."""
    box: tuple[int, ...]
    swizzle: int
    """Bytes of the span in which 16-byte pieces are exchanged; 0 for none."""

    @property
    def box_bytes(self) -> int:
        return int(np.prod(self.box)) * self.element.itemsize

    def box_at(self, corner: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        """The address of each byte of a box, and whether it is in the tensor."""
        places = np.zeros(1, np.int64)
        inside = np.ones(1, bool)
        for start, size, stride, limit in zip(
            corner, self.box, self.strides, self.dims, strict=True
        ):
            index = start + np.arange(size)
            places = (index * stride)[:, None] + places
            inside = ((index >= 0) & (index < limit))[:, None] & inside
            places, inside = places.reshape(-1), inside.reshape(-1)
        bytes_ = np.arange(self.element.itemsize)
        places = (self.address + places[:, None] + bytes_).reshape(-1)
        return places, np.repeat(inside, len(bytes_))

    def offsets(self, start: int) -> np.ndarray:
        """Where the bytes of a box are in shared memory."""
        return swizzled(start + np.arange(self.box_bytes), self.swizzle)


def swizzled(address: np.ndarray, span: int) -> np.ndarray:
    """Pieces of 16 bytes of a row of 128 bytes change places by the row's number: the bits above
    4 of the address by those above 7, as many as the span needs."""
    if not span:
        return address
    return address ^ (((address >> 7) & (span // 16 - 1)) << 4)


def read_map(data: np.ndarray, what: str) -> TensorMap:
    """Raises where a field was not written, or where the hardware refuses what is in it."""
    written = int(data[_WRITTEN:_END].view(np.uint32)[0])
    values: dict[str, list[int]] = {}
    for name, (start, type_, count) in _FIELDS.items():
        end = start + count * np.dtype(type_).itemsize
        values[name] = [int(each) for each in data[start:end].copy().view(type_)]
    rank = values["rank"][0] + 1
    if rank > 5:
        raise PtxError(f"{what}: a tensor map of rank {rank}")
    for name, (_, _, count) in _FIELDS.items():
        used = 1 if count == 1 else rank - (name == "global_stride")
        for i in range(used):
            if not written & _bit(name, i):
                raise PtxError(f"{what}: {name} {i} of the tensor map was never written")
    kind = values["elemtype"][0]
    if kind >= len(_ELEMENTS):
        raise PtxError(f"{what}: a tensor map with elements of type {kind}")
    element = np.dtype(_ELEMENTS[kind])
    strides = (element.itemsize, *values["global_stride"][: rank - 1])
    swizzle = values["swizzle_mode"][0]
    found = TensorMap(
        values["global_address"][0], element, tuple(values["global_dim"][:rank]), strides,
        tuple(values["box_dim"][:rank]), _SPANS[swizzle] if swizzle < len(_SPANS) else -1,
    )  # fmt: skip
    others = [*values["element_stride"][:rank], values["interleave_layout"][0] + 1]
    _check(found, what, [*others, values["fill_mode"][0] + 1])
    return found


def _check(found: TensorMap, what: str, ones: list[int]) -> None:
    inner = found.box[0] * found.element.itemsize
    faults = {
        "an address that is no multiple of 16": found.address % 16 or not found.address,
        f"strides of {found.strides[1:]} bytes": any(
            each % 16 or not 0 < each < 1 << 40 for each in found.strides[1:]
        ),
        f"a box of {found.box}": any(not 1 <= each <= 256 for each in found.box),
        f"dimensions of {found.dims}": any(each < 1 for each in found.dims),
        f"box rows of {inner} bytes, no multiple of 16": inner % 16,
        "a swizzle mode that is unknown": found.swizzle < 0,
        f"box rows of {inner} bytes, swizzled by {found.swizzle}": found.swizzle
        and inner != found.swizzle,
        "element strides, interleaving or a fill that are not known": any(x != 1 for x in ones),
    }
    for words, is_fault in faults.items():
        if is_fault:
            raise PtxError(f"{what}: a tensor map with {words}")
