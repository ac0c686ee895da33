"""Where the part of each device lies in a tensor, read off the text of a sharding."""

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

Places = tuple[tuple[int, ...], ...]
_MESH = re.compile(r"(\w+) = #sdy\.mesh<(.*?\])(?:, device_ids=\[([\d, ]*)\])?>")
_AXIS = re.compile(r'"([^"]+)"=(\d+)')
_USED = re.compile(r'"([^"]+)"(?::\((\d+)\)(\d+))?')
_SDY = re.compile(r"<@(\w+), \[([^\]]*)\]([^<>]*)>")
_DIM = re.compile(r"\{([^}]*)\}")
_TILES = re.compile(
    r"\{devices=\[([\d,]+)\](?:<=\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))"
    r"(?: last_tile_dim_replicate| last_tile_dims=\{([a-z, ]+)\})?.*\}"
)


@dataclass(frozen=True)
class Layout:
    """How one tensor is cut: for each device, its coordinate along each dimension.

    Devices of a group hold all the parts of one copy of the tensor.
    """

    coordinates: tuple[tuple[int, ...], ...]
    counts: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]

    def places(self, whole: Sequence[int], part: Sequence[int]) -> Places | None:
        """Where the part of each device begins; None where equal parts are not of that size."""
        if [size * count for size, count in zip(part, self.counts, strict=True)] != list(whole):
            return None
        return tuple(
            tuple(number * size for number, size in zip(each, part, strict=True))
            for each in self.coordinates
        )


@dataclass(frozen=True)
class Mesh:
    """The axes of a mesh of Shardy's, and the device at each of its places."""

    axes: dict[str, int]
    devices: tuple[int, ...]


def meshes(text: str) -> dict[str, Mesh]:
    """Those of `{name = #sdy.mesh<["x"=2]>, ...}`, as `xla.sdy.meshes` has them."""
    found: dict[str, Mesh] = {}
    for name, listed, devices in _MESH.findall(text):
        axes = {axis: int(size) for axis, size in _AXIS.findall(listed)}
        count = math.prod(axes.values())
        order = tuple(map(int, devices.split(","))) if devices else tuple(range(count))
        found[name] = Mesh(axes, order)
    return found


def sdy_layouts(text: str, manual_axes: str, known: dict[str, Mesh]) -> list[Layout | None]:
    """Those of a `#sdy.sharding_per_value`, cut along manual axes alone; None for what is no
    plain sharding of a known mesh."""
    manual = {name for name, *_ in _USED.findall(manual_axes)}
    return [
        _sdy_layout(known.get(mesh), _DIM.findall(dims), rest, manual)
        for mesh, dims, rest in _SDY.findall(text)
    ]


def _sdy_layout(
    mesh: Mesh | None, dims: Sequence[str], rest: str, manual: set[str]
) -> Layout | None:
    if mesh is None or "unreduced" in rest or len(mesh.devices) != math.prod(mesh.axes.values()):
        return None
    used = [[each for each in _USED.findall(dim) if each[0] in manual] for dim in dims]
    grid = [dict(zip(mesh.axes, each, strict=True)) for each in _grid(mesh.axes.values())]
    coordinates: dict[int, tuple[int, ...]] = {}
    others: dict[int, tuple[int, ...]] = {}
    counts = tuple(
        math.prod(_part(mesh.axes[name], before, size)[1] for name, before, size in dim)
        for dim in used
    )
    for device, place in zip(mesh.devices, grid, strict=True):
        left = dict(place)
        coordinate: list[int] = []
        for dim in used:
            number = 0
            for name, before, size in dim:
                step, count = _part(mesh.axes[name], before, size)
                at = place[name] // step % count
                left[name] -= at * step
                number = number * count + at
            coordinate.append(number)
        coordinates[device], others[device] = tuple(coordinate), tuple(left.values())
    return Layout(
        tuple(coordinates[device] for device in sorted(coordinates)), counts, _grouped(others)
    )


def _part(axis_size: int, before: str, size: str) -> tuple[int, int]:
    """Of an axis, or a sub-axis `"x":(before)size`: the step of its coordinate, and its size."""
    if not before:
        return 1, axis_size
    return axis_size // (int(before) * int(size)), int(size)


def hlo_layout(text: str, rank: int) -> Layout | None:
    """That of an `mhlo.sharding` such as `{devices=[2,4]<=[8]}`; None for one of another kind."""
    found = _TILES.fullmatch(text.strip())
    if found is None:
        return None
    shape = [int(size) for size in found[1].split(",")]
    if found[4]:
        order = np.array([int(each) for each in found[4].split(",")])
    else:
        sizes = [int(size) for size in found[2].split(",")]
        order = np.arange(math.prod(sizes)).reshape(sizes)
        if found[3]:
            order = order.transpose([int(each) for each in found[3].split(",")])
    if order.size != math.prod(shape) or len(shape) < rank:
        return None
    coordinates: dict[int, tuple[int, ...]] = {}
    others: dict[int, tuple[int, ...]] = {}
    for device, place in zip(order.ravel().tolist(), _grid(shape), strict=True):
        coordinates[device], others[device] = tuple(place[:rank]), tuple(place[rank:])
    return Layout(
        tuple(coordinates[device] for device in sorted(coordinates)),
        tuple(shape[:rank]),
        _grouped(others),
    )


def _grid(sizes: Iterable[int]) -> list[tuple[int, ...]]:
    return list(itertools.product(*map(range, sizes)))


def _grouped(others: dict[int, tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Devices that are equal in what the tensor is not cut along."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for device in sorted(others):
        groups.setdefault(others[device], []).append(device)
    return tuple(map(tuple, groups.values()))
