"""The special registers of `ptx_machine`, for every thread."""

import numpy as np
from ptx_threads import Threads


def special_registers(
    threads: Threads, grid: tuple[int, int, int], shared_mem_bytes: int
) -> dict[str, np.ndarray]:
    block = threads.block_of
    same = np.ones(threads.count, np.int64)
    found = {
        "%laneid": threads.lane,
        "%warpid": threads.tid // 32,
        "%smid": block,
        "%nsmid": same * threads.blocks,
        "%dynamic_smem_size": same * shared_mem_bytes,
        "%cluster_ctarank": threads.rank[block],
        "%cluster_nctarank": same * threads.cluster_size,
        "%clock": same * 0,
        "%clock64": same * 0,
        "%globaltimer": same * 0,
        "%lanemask_eq": 1 << threads.lane,
        "%lanemask_lt": (1 << threads.lane) - 1,
        "%lanemask_le": (2 << threads.lane) - 1,
        "%lanemask_ge": (1 << 32) - (1 << threads.lane),
        "%lanemask_gt": (1 << 32) - (2 << threads.lane),
        "WARP_SZ": same * 32,
    }
    for i, axis in enumerate("xyz"):
        index, size = threads.index[i][block], threads.cluster[i]
        found |= {
            f"%tid.{axis}": threads.tid if axis == "x" else same * 0,
            f"%ntid.{axis}": same * (threads.block_size if axis == "x" else 1),
            f"%ctaid.{axis}": index,
            f"%nctaid.{axis}": same * grid[i],
            f"%cluster_ctaid.{axis}": index % size,
            f"%cluster_nctaid.{axis}": same * size,
            f"%clusterid.{axis}": index // size,
            f"%nclusterid.{axis}": same * (grid[i] // size),
        }
    return found
