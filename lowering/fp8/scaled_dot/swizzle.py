"""Scales that a program takes in the tiles that Blackwell's kernels read, by where each lies."""

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8.scaled_dot.values import shape
from mlir_fp8.lowering.rewriting.stablehlo import names
from mlir_fp8.lowering.rewriting.swizzled_scales import TILE, whole_tiles

_MOVES = names("stablehlo", "reshape slice transpose")


def come_in_tiles(scale: ir.Value, contracting: int) -> bool:
    """Whether `scale`, of a matrix, is read out of tiles of 128 rows by 4 blocks.

    That of row r and block b lies at (r % 32) * 16 + (r % 128) // 32 * 4 + b % 4 of its tile; tiles
    go along K first.
    """
    if len(shape(scale)) != 2:
        return False
    moves: list[ir.Operation] = []
    root = scale
    while (op := producer(root)) is not None and op.name in _MOVES:
        moves.append(op)
        root = op.operands[0]
        if _are_tiles(root, moves, contracting):
            return True
    return False


def _are_tiles(root: ir.Value, moves: list[ir.Operation], contracting: int) -> bool:
    places = np.moveaxis(_moved(root, moves), contracting, 1)
    rows, blocks = places.shape
    whole = whole_tiles((rows, blocks))
    if np.prod(shape(root)) != np.prod(whole):
        return False
    r, b = np.indices((rows, blocks))
    tile = r // TILE[0] * (whole[1] // TILE[1]) + b // TILE[1]
    within = r % 32 * 16 + r % TILE[0] // 32 * 4 + b % TILE[1]
    return bool((places == tile * TILE[0] * TILE[1] + within).all())


def _moved(root: ir.Value, moves: list[ir.Operation]) -> np.ndarray:
    """The index in `root` of each element of what the last of `moves`, the first one, gives."""
    index = np.arange(np.prod(shape(root), dtype=int)).reshape(shape(root))
    for op in reversed(moves):
        if op.name == "stablehlo.reshape":
            index = index.reshape(shape(op.results[0]))
        elif op.name == "stablehlo.transpose":
            index = index.transpose(list(ir.DenseI64ArrayAttr(op.attributes["permutation"])))
        else:
            bounds = [
                list(ir.DenseI64ArrayAttr(op.attributes[name]))
                for name in ("start_indices", "limit_indices", "strides")
            ]
            index = index[tuple(slice(*each) for each in zip(*bounds, strict=True))]
    return index
