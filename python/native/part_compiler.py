"""The threads that compile a module in parts, the kernels first."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from torch_mlir import ir

from mlir_fp8 import pipelines
from mlir_fp8.lowering.outline_loops import PARALLEL
from mlir_fp8.native.code_generator import is_usable, let_threads_translate, object_of
from mlir_fp8.native.kernels_apart import Kernels, lowered, take_kernels
from mlir_fp8.native.llvm_options import set_llvm_options
from mlir_fp8.native.module_parts import Part, declared, parts_of, whole
from mlir_fp8.threads import PARALLEL_FOR


class PartCompiler:
    """Makes object files of one module, for the processor that runs this.

    `threads` is how many work at once, the passes' thread included; with one, and where the module
    is not worth more, there are no parts, and nothing is compiled.
    """

    def __init__(self, opt_level: int, threads: int, shared_by: int) -> None:
        """`shared_by` is how many threads share the module's loops: see `pipelines.to_llvm`."""
        self._opt_level = opt_level
        self._threads = threads if is_usable() else 1
        self._passes = pipelines.kernels_to_llvm(threads=shared_by)
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="mlir-fp8-compile")
        self._kernels: list[Future[bytes]] = []
        self._kernels_share = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.shutdown(cancel_futures=True)

    @property
    def is_worth_it(self) -> bool:
        """Whether more than one thread may work."""
        return self._threads > 1

    @property
    def has_kernels(self) -> bool:
        """Whether the module is without its kernels."""
        return bool(self._kernels)

    def begin_with_kernels(self, module: ir.Module) -> None:
        """Take the kernels out of `module`, which is at the end of `pipelines.to_kernels`."""
        kernels = take_kernels(module)
        if kernels is not None:
            set_llvm_options()
            self._kernels_share = PARALLEL in kernels.text
            self._kernels.append(self._pool.submit(self._kernels_object, kernels))

    def objects(self, module: ir.Module, meanwhile: Callable[[bool], None]) -> list[bytes]:
        """The object files of `module`, now in the LLVM dialect, with those of its kernels.

        `meanwhile` is called if there are some, while LLVM works, with whether they share loops.
        """
        parts = parts_of(module, self._threads)
        if not parts and self.has_kernels:
            parts = [whole(module)]
        if not parts:
            return []
        set_llvm_options()
        let_threads_translate(module.context)
        made = [*self._kernels, *(self._pool.submit(self._object, part) for part in parts)]
        meanwhile(self._kernels_share or PARALLEL_FOR in declared(module))
        return [each.result() for each in made]

    def _kernels_object(self, kernels: Kernels) -> bytes:
        return self._object(lowered(kernels, self._passes))

    def _object(self, part: Part) -> bytes:
        return object_of(part.module, self._opt_level, part.shown, part.others)
