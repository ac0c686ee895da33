"""The thread pool of compiled modules: thread_pool.mlir, loaded once.

All cores that the process may use, or as many as the environment variable MLIR_FP8_NUM_THREADS
says. Results do not depend on how many: no sum is split.
"""

import ctypes
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.fork_lock import LOADING
from mlir_fp8.base.symbols import PARALLEL_FOR
from mlir_fp8.compiling.compiled_module import Code

if TYPE_CHECKING:
    from torch_mlir.execution_engine import ExecutionEngine

VARIABLE = "MLIR_FP8_NUM_THREADS"
MOST = 1024


def thread_count() -> int:
    """The default number of threads of a module, at least 1."""
    asked = os.environ.get(VARIABLE, "")
    if not asked:
        return _usable_cores()
    if not asked.isdecimal() or not 1 <= int(asked) <= MOST:
        raise Fp8Error(f"{VARIABLE}={asked}: give a number of threads from 1 to {MOST}")
    return int(asked)


def check_threads(threads: int | None) -> None:
    """Refuse what is no number of threads; None is `thread_count`, which the variable may spoil."""
    if threads is None:
        thread_count()
    is_count = isinstance(threads, int) and not isinstance(threads, bool)
    if threads is not None and not (is_count and 1 <= threads <= MOST):
        raise Fp8Error(f"threads={threads}: give a number of threads from 1 to {MOST}, or None")


def share_pool(engine: "ExecutionEngine") -> None:
    """Bind `fp8_parallel_for` in the native code of `engine`, before its first lookup."""
    register: Any = engine.raw_register_runtime  # pyright: ignore[reportAttributeAccessIssue]
    register(PARALLEL_FOR, ctypes.c_void_p(pool_address()))


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@functools.cache
def parallel_for() -> Callable[[int, int, int, int, int], None]:
    """`fp8_parallel_for` of thread_pool.mlir, without the GIL: the addresses of a task and of its
    arguments, the number of iterations, the grain (iterations that a thread takes at least), and
    the number of threads."""
    address, number = ctypes.c_void_p, ctypes.c_int64
    return ctypes.CFUNCTYPE(None, address, address, number, number, number)(pool_address())


def pool_address() -> int:
    """The address of `fp8_parallel_for`; its code lives as long as the process, as its threads
    do."""
    with LOADING:  # one of concurrent calls makes the pool
        return _pool_address()


@functools.cache
def _pool_address() -> int:
    code = _pool_code()
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))
    _call(code, "set_threads", ctypes.c_int64(thread_count()))
    address = ctypes.c_void_p()
    _call(code, "address", ctypes.c_void_p(ctypes.addressof(address)))
    return address.value or 0


def pool_text() -> str:
    """The pool's module, thread_pool.mlir."""
    return (Path(__file__).parent / "thread_pool.mlir").read_text()


def _pool_code() -> Code:
    from mlir_fp8.compiling.native.code_cache import open_cache
    from mlir_fp8.compiling.native.code_key import code_key
    from mlir_fp8.compiling.native.object_code import ObjectCode, object_file

    text = pool_text()
    store = open_cache()
    key = code_key("threads", text) if store else ""
    found = store.get(key) if store else None
    if found is not None:
        return ObjectCode(found)
    from torch_mlir import ir
    from torch_mlir.execution_engine import ExecutionEngine

    from mlir_fp8.base.context import make_context

    with make_context() as context:
        engine = ExecutionEngine(ir.Module.parse(text, context), opt_level=1)
    engine.raw_lookup("address")  # compiles
    if store:
        store.put(key, object_file(engine))
    return engine


def _call(code: Code, name: str, argument: ctypes.c_int64 | ctypes.c_void_p) -> None:
    packed = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.raw_lookup(name))(ctypes.addressof(packed))
