"""`fp8-translate --emit`: object files, assembly and shared libraries, with a C header; PTX."""

import argparse
from pathlib import Path

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.rounding_modes import OPTIONS
from mlir_fp8.lowering.gpu.ptx.chips import CHIPS, DEFAULT_CHIP
from mlir_fp8.pipelines import NEAREST_EVEN
from mlir_fp8.tools._arguments import both_dashes
from mlir_fp8.tools._command import STANDARD_STREAM, write_output

KINDS = ("obj", "asm", "shared-lib", "ptx")
EMIT_OPTIONS = ("c_header", "c_prefix", "mtriple", "march", "mcpu", "mattr", "saturate", "rounding",
                "seed", "allow_excess_precision", "threads", "chip")  # fmt: skip
_OF_PTX = ("saturate", "chip")
"""Those that go with `--emit` only."""


def add_emit_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("with --emit")
    group.add_argument(*both_dashes("c-header"), metavar="FILE", help="write a C header, too")
    group.add_argument(*both_dashes("c-prefix"), metavar="NAME",
                       help="what C names start with (default: the output's name, or the input's)",
                       )  # fmt: skip
    group.add_argument(*both_dashes("mtriple"), metavar="TRIPLE",
                       help="the machine to compile for (default: this one)")  # fmt: skip
    group.add_argument(*both_dashes("march"), metavar="ARCH",
                       help="its architecture, such as aarch64")  # fmt: skip
    group.add_argument(*both_dashes("mcpu"), metavar="CPU",
                       help="its processor, such as znver4 or x86-64-v3 (default: this one's "
                       "where the architecture is)")  # fmt: skip
    group.add_argument(*both_dashes("mattr"), metavar="FEATURES",
                       help="features to add and leave out, such as +avx2,-fma")  # fmt: skip
    group.add_argument(*both_dashes("saturate"), action="store_true", default=None,
                       help="beyond a small float's range, its largest value")  # fmt: skip
    group.add_argument(*both_dashes("rounding"), choices=OPTIONS,
                       help="how f8, f6 and f4 are rounded to")  # fmt: skip
    group.add_argument(*both_dashes("seed"), type=int, help="of stochastic rounding and rng")
    group.add_argument(*both_dashes("allow-excess-precision"), action="store_true", default=None,
                       help="keep f32 between two ops of bf16 or f16")  # fmt: skip
    group.add_argument(*both_dashes("threads"), type=int, metavar="N",
                       help="how many threads share big loops and products, in a pool of the "
                       "library's own (default: 1)")  # fmt: skip
    group.add_argument(*both_dashes("chip"), choices=tuple(CHIPS),
                       help=f"with --emit=ptx: the GPU (default: {DEFAULT_CHIP})")  # fmt: skip


def emit(name: str, data: bytes, options: argparse.Namespace) -> bytes:
    """The code; the header, if asked for, is written once that is made."""
    if options.emit == "ptx":
        return _ptx(name, data, options)
    if options.chip is not None:
        raise Fp8Error("--chip goes with --emit=ptx")
    from mlir_fp8.aot import target as machine
    from mlir_fp8.aot.c_header import c_header
    from mlir_fp8.aot.library import make_library
    from mlir_fp8.aot.linker import shared_library
    from mlir_fp8.aot.thread_pool import require_threads
    from mlir_fp8.base.context import make_context
    from mlir_fp8.compiling.compile_options import CompileOptions
    from mlir_fp8.reading.loader import parse

    wanted = machine.Target(options.mtriple, options.march, options.mcpu, options.mattr)
    if options.emit == "shared-lib" and not wanted.is_host:
        raise Fp8Error(f"a shared library of {wanted.triple} needs its linker: --emit=obj")
    threads = 1 if options.threads is None else options.threads
    require_threads(threads, wanted.triple)
    wanted.machine(0)  # refuses what LLVM does not know before anything is compiled
    compile_options = CompileOptions(
        saturate=bool(options.saturate),
        rounding=options.rounding or NEAREST_EVEN,
        seed=options.seed or 0,
        allow_excess_precision=bool(options.allow_excess_precision),
        kernels=wanted.kernels,
    )
    module = parse(data, name, make_context())
    prefix = _prefix(options)
    library = make_library(module, prefix, compile_options, threads=threads, triple=wanted.triple)
    kind = "asm" if options.emit == "asm" else "obj"
    code = machine.emit(library.ir_text, kind, wanted, compile_options.opt_level)
    if options.emit == "shared-lib":
        code = shared_library(code, has_threads=threads > 1)
    if options.c_header is not None:
        write_output(options.c_header, c_header(library).encode())
    return code


def _ptx(name: str, data: bytes, options: argparse.Namespace) -> bytes:
    """PTX of a module of kernels: in `gpu.module`, or lowered to the NVVM dialect."""
    from mlir_fp8.base.context import make_context
    from mlir_fp8.base.operations import operations
    from mlir_fp8.lowering.gpu.ptx.back_end import ptx_of_functions
    from mlir_fp8.passes.pass_pipeline import run_pipeline
    from mlir_fp8.pipelines import to_nvvm
    from mlir_fp8.reading.loader import parse

    for each in EMIT_OPTIONS:
        if each not in _OF_PTX and getattr(options, each) is not None:
            raise Fp8Error(f"--{each.replace('_', '-')} does not go with --emit=ptx")
    module = parse(data, name, make_context())
    if operations(module.operation, "gpu.module"):
        run_pipeline(module, to_nvvm(saturate=bool(options.saturate)), name=name)
    return ptx_of_functions(module.operation, options.chip or DEFAULT_CHIP).encode()


def _prefix(options: argparse.Namespace) -> str:
    if options.c_prefix is not None:
        return options.c_prefix
    for path in (options.output, options.input):
        if path != STANDARD_STREAM:
            return Path(path).name.partition(".")[0]
    return "module"
