"""Compiles a module on several threads: functions that are ready, while passes run on the
others."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self

from torch_mlir import ir

from mlir_fp8 import pipelines
from mlir_fp8.base.context import make_context
from mlir_fp8.base.symbols import PARALLEL_FOR
from mlir_fp8.compiling.native.code_generator import is_usable, let_threads_translate, object_of
from mlir_fp8.compiling.native.functions_apart import Apart, lowered, take_kernels, take_loops
from mlir_fp8.compiling.native.llvm_options import set_llvm_options
from mlir_fp8.compiling.native.module_parts import Part, declared, parts_of, whole
from mlir_fp8.lowering.loops.outline_loops import PARALLEL

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


class PartCompiler:
    """Makes the object files of one module for the host.

    `threads` includes the one that runs the passes. With one, and where the module is too small,
    nothing is taken, and nothing compiled.
    """

    def __init__(self, opt_level: int, threads: int, shared_by: int) -> None:
        """`shared_by` is how many threads share the module's loops: see `pipelines.to_llvm`."""
        self._opt_level = opt_level
        self._pool = _pool(threads - 1) if threads > 1 and is_usable() else None
        self._threads = threads if self._pool is not None else 1
        self._shared_by = shared_by
        self._own = threading.local()
        self._jobs: list[Future[bytes]] = []
        self._has_loops = self._shares = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    @property
    def is_worth_it(self) -> bool:
        """Whether more than one thread may work."""
        return self._threads > 1

    @property
    def has_taken(self) -> bool:
        """Whether the module is without some of its functions."""
        return bool(self._jobs)

    def take_kernels(self, module: ir.Module) -> None:
        """Begin with the kernels of `module`, which is at the end of `pipelines.to_kernels`."""
        kernels = take_kernels(module)
        if kernels is not None:
            self._begin(kernels, pipelines.kernels_to_llvm(threads=self._shared_by))

    def take_loops(self, module: ir.Module) -> None:
        """Begin with loops of `module`, which is at the end of `pipelines.kernels_to_loops`."""
        for loops in take_loops(module, self._threads, are_busy=self.has_taken):
            self._begin(loops, pipelines.loops_to_llvm(threads=self._shared_by))
            self._has_loops = True

    def objects(self, module: ir.Module, meanwhile: Callable[[bool], None]) -> list[bytes]:
        """The object files of `module`, now in the LLVM dialect, with those of what was taken.

        `meanwhile` is called if there are some, with whether they have loops that threads share.
        """
        parts = [] if self._has_loops else parts_of(module, self._threads)
        if not parts and self.has_taken:
            parts = [whole(module)]
        if not parts:
            return []
        set_llvm_options()
        let_threads_translate(module.context)
        *others, last = parts
        for part in others:
            self._submit(partial(self._object, part))
        own = self._object(last)
        meanwhile(self._shares or PARALLEL_FOR in declared(module))
        return [*(job.result() for job in self._jobs), own]

    def _begin(self, apart: Apart, passes: Sequence[str]) -> None:
        set_llvm_options()
        self._shares |= apart.mentions(PARALLEL)
        self._submit(lambda: self._object(lowered(apart, passes, self._context())))

    def _submit(self, job: Callable[[], bytes]) -> None:
        try:
            if self._pool is not None:
                self._jobs.append(self._pool.submit(job))
                return
        except RuntimeError:  # the system has no thread left, or Python ends
            pass
        done: Future[bytes] = Future()
        done.set_result(job())
        self._jobs.append(done)

    def _context(self) -> ir.Context:
        """The context of this thread."""
        if not hasattr(self._own, "context"):
            self._own.context = make_context()
        return self._own.context

    def _object(self, part: Part) -> bytes:
        return object_of(part.module, self._opt_level, part.shown, part.others)


def _pool(threads: int) -> "ThreadPoolExecutor | None":
    """None during interpreter shutdown."""
    try:
        from concurrent.futures import ThreadPoolExecutor
    except RuntimeError:
        return None
    return ThreadPoolExecutor(threads, "mlir-fp8-compile")
