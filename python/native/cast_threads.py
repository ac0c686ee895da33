"""The threads that share casts of large arrays, while native code has released Python's lock."""

import functools
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


@functools.cache
def pool(workers: int) -> "ThreadPoolExecutor":
    """A pool of `workers` threads, which start when there is work."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(workers, thread_name_prefix="mlir-fp8")


if hasattr(os, "register_at_fork"):
    # A child has the pools but none of their threads.
    os.register_at_fork(after_in_child=pool.cache_clear)
