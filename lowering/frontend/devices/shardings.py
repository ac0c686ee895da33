"""Where the part of each device lies in a tensor, read off the text of a sharding."""

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.shardings import Gspmd, Mesh, Shardy, mesh_of, shardy_of

Places = tuple[tuple[int, ...], ...]
_USED = re.compile(r'"([^"]+)"(?::\((\d+)\)(\d+))?')


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


def sdy_layout(module: ir.Operation, text: str, index: int, manual_axes: str) -> Layout | None:
    """Number `index` of a `#sdy.sharding_per_value`, cut along manual axes alone.

    None for what is no plain sharding of a known mesh.
    """
    sharding = shardy_of(text, index)
    mesh = None if sharding is None else mesh_of(module, sharding.mesh)
    if sharding is None or mesh is None or "unreduced" in sharding.rest:
        return None
    return _sdy_layout(mesh, sharding, {name for name, *_ in _USED.findall(manual_axes)})


def _sdy_layout(mesh: Mesh, sharding: Shardy, manual: set[str]) -> Layout:
    used = [[each for each in _USED.findall(dim) if each[0] in manual] for dim in sharding.dims]
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
    return _layout(coordinates, others, counts)


def _part(axis_size: int, before: str, size: str) -> tuple[int, int]:
    """Of an axis, or a sub-axis `"x":(before)size`: the step of its coordinate, and its size."""
    if not before:
        return 1, axis_size
    return axis_size // (int(before) * int(size)), int(size)


def hlo_layout(text: str, rank: int) -> Layout | None:
    """That of an `mhlo.sharding` such as `{devices=[2,4]<=[8]}`; None for one of another kind."""
    tiles = Gspmd(text).devices()
    if tiles is None or tiles.ndim < rank:
        return None
    coordinates: dict[int, tuple[int, ...]] = {}
    others: dict[int, tuple[int, ...]] = {}
    for device, place in zip(tiles.ravel().tolist(), _grid(tiles.shape), strict=True):
        coordinates[device], others[device] = tuple(place[:rank]), tuple(place[rank:])
    return _layout(coordinates, others, tiles.shape[:rank])


def _layout(
    coordinates: dict[int, tuple[int, ...]],
    others: dict[int, tuple[int, ...]],
    counts: tuple[int, ...],
) -> Layout:
    ordered = tuple(coordinates[device] for device in sorted(coordinates))
    return Layout(ordered, counts, _grouped(others))


def _grid(sizes: Iterable[int]) -> list[tuple[int, ...]]:
    return list(itertools.product(*map(range, sizes)))


def _grouped(others: dict[int, tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Devices that are equal in what the tensor is not cut along."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for device in sorted(others):
        groups.setdefault(others[device], []).append(device)
    return tuple(map(tuple, groups.values()))
