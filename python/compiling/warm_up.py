"""What the first compilation of a process does beside its module, done while the process waits."""

import functools


@functools.cache
def warm_up() -> None:
    """Import the passes of native code, and make the pool of threads."""
    from mlir_fp8 import pipelines
    from mlir_fp8.compiling import execution, threads
    from mlir_fp8.lowering import pass_class, pass_names
    from mlir_fp8.passes.pipeline_text import parse_element

    options = {"rounding": pipelines.NEAREST_EVEN, "seed": 0, "saturate": False}
    passes = pipelines.to_linalg(**options, allow_excess_precision=False)
    passes += pipelines.to_llvm(threads=0)
    own = {parse_element(each).name for each in passes} & {*pass_names()}
    for name in sorted(own):
        pass_class(name)
    execution.set_llvm_options()
    if threads.thread_count() > 1:
        threads.pool_address()
