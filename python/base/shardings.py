"""Shardings of values: what is written on ops and arguments, read, changed and written again.

Two forms are known, both text in attributes that any context holds: Shardy's, as XLA's round trip
writes it (`xla.sdy.sharding` of `mhlo.frontend_attributes`), and GSPMD's (`mhlo.sharding`).
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch_mlir import ir

FRONTEND = "mhlo.frontend_attributes"
GSPMD = "mhlo.sharding"
SHARDY = "xla.sdy.sharding"
MESHES = "xla.sdy.meshes"
_PER_VALUE = "#sdy.sharding_per_value<["
_AXIS = re.compile(r'"([^"]+"(?::\(\d+\)\d+)?)')
_TILES = re.compile(r"devices=\[([\d,]+)\](?:<=\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]*))")
_LAST_DIMS = re.compile(r"last_tile_dims=\{([a-z, ]*)\}")


@dataclass(frozen=True)
class Shardy:
    """`#sdy.sharding<mesh, [dims] rest>`: `mesh` is its name, or itself; a dim is `{"x", ?}`."""

    mesh: str
    dims: tuple[str, ...]
    rest: str = ""

    def __str__(self) -> str:
        return f"<{self.mesh}, [{', '.join(self.dims)}]{self.rest}>"

    def replicated(self, rank: int) -> "Shardy":
        """That of a value of `rank` which all devices hold whole."""
        return Shardy(self.mesh, ("{}",) * rank)

    def along(self, kept: Sequence[bool]) -> "Shardy":
        """Without what splits the dimensions that are not `kept`."""
        dims = (dim if keep else "{}" for dim, keep in zip(self.dims, kept, strict=True))
        return replace(self, dims=tuple(dims))

    def transposed(self, order: Sequence[int]) -> "Shardy":
        """That of the transpose, whose dimension i is `order[i]` of this one."""
        return replace(self, dims=tuple(self.dims[dim] for dim in order))

    def tiles(self, module: ir.Operation) -> tuple[int, ...]:
        """Into how many parts each dimension is split; 0 where its mesh is not known."""
        mesh = mesh_axes(module, self.mesh)
        if mesh is None:
            return (0,) * len(self.dims)
        axes = (re.findall(_AXIS, dim) for dim in self.dims)
        return tuple(math.prod(_axis_size(axis, mesh) for axis in each) for each in axes)


@dataclass(frozen=True)
class Gspmd:
    """An `HloSharding` in its own text, `{devices=[2,1]<=[2]}`."""

    text: str

    def __str__(self) -> str:
        return self.text

    def replicated(self, rank: int) -> "Gspmd":
        del rank
        return Gspmd("{replicated}")

    def along(self, kept: Sequence[bool]) -> "Gspmd":
        """Without what splits the dimensions that are not `kept`: devices along them are copies."""
        tiles = self.devices()
        if tiles is None:
            return self
        dropped = [dim for dim, keep in enumerate(kept) if not keep]
        if all(tiles.shape[dim] == 1 for dim in dropped):
            return self
        others = [dim for dim in range(tiles.ndim) if dim not in dropped]
        last = others[len(kept) - len(dropped) :]
        data = [dim for dim in others if dim not in last]
        moved = tiles.transpose([*data, *dropped, *last])
        shape = [tiles.shape[dim] if keep else 1 for dim, keep in enumerate(kept)]
        return _tiled(moved.reshape([*shape, -1]), rank=len(kept))

    def transposed(self, order: Sequence[int]) -> "Gspmd":
        tiles = self.devices()
        if tiles is None:
            return self
        last = range(len(order), tiles.ndim)
        return _tiled(tiles.transpose([*order, *last]), rank=len(order))

    def tiles(self, module: ir.Operation) -> tuple[int, ...]:
        """Into how many parts each dimension is split; none for what is not split."""
        del module
        tiles = self.devices()
        if tiles is None:
            return ()
        copies = 1 if "last_tile_dim" in self.text else 0
        if found := _LAST_DIMS.search(self.text):
            copies = len(found[1].split(","))
        return tiles.shape[: tiles.ndim - copies]

    def devices(self) -> np.ndarray | None:
        """The device of each tile; None where it is of another kind."""
        found = _TILES.search(self.text)
        if found is None or "manual" in self.text or "unreduced" in self.text:
            return None
        shape, iota, order, listed = (_numbers(each) for each in found.groups())
        if not iota:
            return np.array(listed).reshape(shape)
        devices = np.arange(math.prod(iota)).reshape(iota)
        return devices.transpose(order or None).reshape(shape)


Sharding = Shardy | Gspmd


def _numbers(text: str | None) -> list[int]:
    return [int(each) for each in text.split(",")] if text else []


def _tiled(devices: np.ndarray, rank: int) -> Gspmd:
    if all(size == 1 for size in devices.shape[:rank]):
        return Gspmd("{replicated}")
    if devices.shape[rank:] == (1,):
        devices = devices.reshape(devices.shape[:rank])
    shape, listed = (",".join(map(str, each)) for each in (devices.shape, devices.flat))
    last = " last_tile_dim_replicate" if devices.ndim > rank else ""
    return Gspmd(f"{{devices=[{shape}]{listed}{last}}}")


@dataclass(frozen=True)
class Mesh:
    """The axes of a mesh and their sizes, in order, and the device at each of its places."""

    axes: dict[str, int]
    devices: tuple[int, ...]


def mesh_of(module: ir.Operation, mesh: str) -> Mesh | None:
    """A mesh by its text, or by `@name`; None where it is not known."""
    text = mesh
    if mesh.startswith("@"):
        known = frontend_attributes(module.attributes).get(MESHES, "")
        found = re.search(rf"(?<![\w.]){re.escape(mesh[1:])} = (#sdy\.mesh<\[.*?\][^>]*>)", known)
        if found is None:
            return None
        text = found[1]
    axes = {name: int(size) for name, size in re.findall(r'"([^"]+)"=(\d+)', text)}
    listed = re.search(r"device_ids=\[([\d, ]+)\]", text)
    order = tuple(_numbers(listed[1])) if listed else tuple(range(math.prod(axes.values())))
    return Mesh(axes, order) if len(order) == math.prod(axes.values()) else None


def mesh_axes(module: ir.Operation, mesh: str) -> dict[str, int] | None:
    """The axes of a mesh and their sizes, in order; `mesh` is its text, or `@name`."""
    found = mesh_of(module, mesh)
    return None if found is None else found.axes


def _axis_size(axis: str, mesh: dict[str, int]) -> int:
    name, _, part = axis.partition('"')
    return int(part.partition(")")[2]) if part else mesh.get(name, 1)


def frontend_attributes(attributes: "ir.OpAttributeMap | ir.DictAttr") -> dict[str, str]:
    """The texts of `mhlo.frontend_attributes`."""
    if FRONTEND not in attributes:
        return {}
    return {
        each.name: each.attr.value
        for each in ir.DictAttr(attributes[FRONTEND])
        if isinstance(each.attr, ir.StringAttr)
    }


def read_sharding(attributes: "ir.OpAttributeMap | ir.DictAttr", index: int = 0) -> Sharding | None:
    """What `attributes`, of an op or an argument, say of its value number `index`."""
    text = frontend_attributes(attributes).get(SHARDY)
    if text is not None:
        return shardy_of(text, index)
    if GSPMD not in attributes or not isinstance(attributes[GSPMD], ir.StringAttr):
        return None
    text = ir.StringAttr(attributes[GSPMD]).value
    if not text.startswith("{{"):
        return Gspmd(text)
    listed = list(_split(text[1:-1]))
    return Gspmd(listed[index]) if index < len(listed) else None


def shardy_of(text: str, index: int = 0) -> Shardy | None:
    """Number `index` of a `#sdy.sharding_per_value<[...]>`, or the `#sdy.sharding<...>` itself."""
    if text.startswith(_PER_VALUE):
        listed = list(_split(text.removeprefix(_PER_VALUE).removesuffix("]>")))
        text = listed[index] if index < len(listed) else ""
    inner = text.removeprefix("#sdy.sharding").removeprefix("<").removesuffix(">")
    parts = list(_split(inner))
    if len(parts) < 2:
        return None
    dims, _, rest = parts[1].partition("]")
    rest = "".join((rest, *(f", {each}" for each in parts[2:])))
    return Shardy(parts[0], tuple(_split(dims.removeprefix("["))), rest)


def _split(text: str) -> Iterator[str]:
    """`text` at the commas that no bracket is around."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "<[{(") - (letter in ">]})")
        if letter == "," and not depth:
            yield text[start:at].strip()
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()


def annotation(
    shardings: Sequence[Sharding], *, of_argument: bool = False
) -> dict[str, ir.Attribute]:
    """The attribute by which an op says the shardings of its results, or an argument its own."""
    first = shardings[0]
    if isinstance(first, Gspmd):
        text = first.text if len(shardings) == 1 else f"{{{', '.join(map(str, shardings))}}}"
        return {GSPMD: ir.StringAttr.get(text)}
    listed = ", ".join(map(str, shardings))
    text = f"#sdy.sharding{first}" if of_argument else f"{_PER_VALUE}{listed}]>"
    return {FRONTEND: ir.DictAttr.get({SHARDY: ir.StringAttr.get(text)})}


def annotate(op: ir.Operation, *shardings: Sharding) -> None:
    """Let `op` say the shardings of its results, one for each; what it says already stays."""
    if read_sharding(op.attributes) is not None:
        return
    for key, value in annotation(shardings).items():
        kept = {each.name: each.attr for each in ir.DictAttr(value)} if key == FRONTEND else {}
        if kept and FRONTEND in op.attributes:
            known = {each.name: each.attr for each in ir.DictAttr(op.attributes[FRONTEND])}
            value = ir.DictAttr.get({**known, **kept})
        op.attributes[key] = value
