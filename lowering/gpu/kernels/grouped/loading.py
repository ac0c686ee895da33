"""What the warp that loads does: the tiles of all groups, and tensor maps of parts of K."""

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.grouped.schedule import Groups, Tile, group_tiles
from mlir_fp8.lowering.gpu.kernels.product.main_loop import load_stage, wait_all_empty
from mlir_fp8.lowering.gpu.kernels.product.pipeline import STATE, Pipeline
from mlir_fp8.lowering.gpu.kernels.product.shape import MAP, Product
from mlir_fp8.lowering.gpu.kernels.product.tensor_maps import (
    Matrix,
    acquire_map,
    end_columns,
    fill_map,
    publish_map,
)


@dataclass(frozen=True)
class Loader:
    """A warp, whose threads are `lane`, i32: `slot`, i64, is where its block's maps go.

    Where sums are ragged each group has maps of its own, whose columns end where the group does:
    TMA then gives zeros. A map is written once, so that no copy under way reads another.
    """

    groups: Groups
    pipeline: Pipeline[Product]
    lane: str
    slot: str

    def prepare(self, addresses: Sequence[str]) -> None:
        """Make maps of A and B, at `addresses`, i64, in shared memory; and where one will do, in
        the workspace too."""
        text, shape = self.pipeline.text, self.groups.shape
        of = shape.product
        groups = shape.groups if shape.has_ragged_rows else 1
        down, across = (1, groups) if shape.b_turned else (groups, 1)
        matrices = (
            Matrix(of.m, of.k, of.tile_m),
            Matrix(down * of.n, across * of.k, of.tile_n // of.cluster),
        )
        for number, (matrix, memory) in enumerate(zip(matrices, addresses, strict=True)):
            fill_map(text, self.lane, matrix, memory, self._shared(number))
        if shape.has_ragged_rows:
            for number, each in enumerate(self._maps()):
                publish_map(text, self._shared(number), each)
                acquire_map(text, each)

    def _shared(self, number: int) -> str:
        return self.pipeline.map_(number)

    def _maps(self, group: str | None = None) -> list[str]:
        """Where the maps of A and B are, i64."""
        text, first = self.pipeline.text, self.slot
        if group is not None:
            after = text.value(f"arith.index_cast {text.mul(group, 2 * MAP)} : index to i64")
            first = text.value(f"arith.addi {first}, {after} : i64")
        second = text.value(f"arith.addi {first}, {text.constant(f'{MAP} : i64')} : i64")
        return [first, second]

    def load(self) -> None:
        text, pipeline = self.pipeline.text, self.pipeline
        is_first = text.value(f"arith.cmpi eq, {self.lane}, {text.i32(0)} : i32")
        none = text.index(self.groups.shape.groups)
        starts, types = [*pipeline.start(), none], [*STATE, "index"]
        zero, one = text.index(0), text.index(1)
        with group_tiles(self.groups, starts, types) as (tile, carried, ended):
            maps, known = self._of_tile(tile, carried[2])
            first, rows = self._corner(tile)
            with text.fold(zero, tile.steps, one, carried[:2], STATE) as (step, state, after):
                pipeline.wait_empty(state)
                with text.when(is_first):
                    at = text.mul(step, pipeline.shape.tile_k)
                    corners = [*(text.add(k, at) for k in first), *rows]
                    a_k, b_k, a, b = (
                        text.value(f"arith.index_cast {each} : index to i32") for each in corners
                    )
                    load_stage(pipeline, maps, state[0], (a_k, b_k), (a, b))
                state[:] = pipeline.next(state)
            carried[:] = [*after, known]
        wait_all_empty(pipeline, ended[:2])

    def _corner(self, tile: Tile) -> tuple[tuple[str, str], tuple[str, str]]:
        """Where a tile begins in A and in this block's B: along K, and of their rows."""
        text, shape = self.pipeline.text, self.groups.shape
        of = shape.product
        rank = text.rem(text.block(), of.cluster)
        column = text.add(tile.column, text.mul(rank, of.tile_n // of.cluster))
        if not shape.has_ragged_rows:
            return (tile.start, tile.start), (tile.row, column)
        zero = text.index(0)
        if shape.b_turned:
            return (zero, text.mul(tile.group, of.k)), (tile.row, column)
        return (zero, zero), (tile.row, text.add(text.mul(tile.group, of.n), column))

    def _of_tile(self, tile: Tile, known: str) -> tuple[list[str], str]:
        """The maps by which a tile is loaded, made where its group is another than `known`."""
        if self.groups.shape.has_ragged_rows:
            return self._maps(), known
        text = self.pipeline.text
        maps = self._maps(tile.group)
        is_new = text.value(f"arith.cmpi ne, {tile.group}, {known} : index")
        has_any = text.value(f"arith.cmpi ne, {tile.steps}, {text.index(0)} : index")
        with text.when(text.both(is_new, has_any)):
            end = text.value(f"arith.index_cast {tile.end} : index to i32")
            for number, each in enumerate(maps):
                end_columns(text, self.lane, end, self._shared(number))
                publish_map(text, self._shared(number), each)
                acquire_map(text, each)
        return maps, text.value(f"arith.select {has_any}, {tile.group}, {known} : index")
