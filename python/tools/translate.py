"""`fp8-translate`: modules to and from what they are shipped as, as `stablehlo-translate` does."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tools._arguments import ArgumentParser, both_dashes
from mlir_fp8.tools._command import (
    STANDARD_STREAM,
    print_to_stderr,
    read_input,
    run_command,
    write_output,
)
from mlir_fp8.tools._translate_checkpoint import (
    CONVERT,
    add_checkpoint_options,
    convert_checkpoint,
)
from mlir_fp8.tools._translate_chunks import (
    Action,
    add_chunk_options,
    run_action,
    with_defaults,
)
from mlir_fp8.tools._translate_emit import EMIT_OPTIONS, KINDS, add_emit_options, emit
from mlir_fp8.tools._translate_hlo import (
    hlo_proto_to_stablehlo,
    hlo_text_to_stablehlo,
    stablehlo_to_hlo_proto,
    stablehlo_to_hlo_text,
)
from mlir_fp8.tools._translate_inspect import (
    INSPECT,
    add_inspect_options,
    inspect,
    misplaced_inspect_option,
)
from mlir_fp8.tools._translate_interpret import (
    INTERPRET_OPTIONS,
    add_interpret_options,
    interpret,
)
from mlir_fp8.tools._translate_torch import check_weights
from mlir_fp8.tools._wall import run_walled

_DESCRIPTION = """\
Translate modules to and from versioned StableHLO portable artifacts and HLO, to LLVM IR and
to machine code for C; run them in StableHLO's reference interpreter."""

_EXAMPLES = """\
examples:
  fp8-translate --serialize --target=1.0.0 model.mlir -o model.mlirbc
  fp8-translate --serialize --target=jaxlib-0.10.2 model.mlir -o model.mlirbc
  fp8-translate --serialize --target=auto model.mlir -o model.mlirbc
  fp8-translate --inspect model.mlirbc
  fp8-translate --serialize --target=0.9.0 --emulate-for-target model.mlir -o model.mlirbc
  fp8-translate --deserialize --print-stablehlo-version model.mlirbc
  fp8-translate --interpret model.mlir --args='[dense<1.0> : tensor<2xf8E4M3FN>]'
  fp8-translate --stablehlo-to-hlo-text model.mlir -o model.hlo
  fp8-translate --emit=obj model.mlirbc -o model.o --c-header=model.h
  fp8-translate --serialize model.pt2 -o model.mlirbc --weights=model.safetensors
  fp8-translate --serialize model.mlir --checkpoint=DIR -o model.mlirbc --weights=f8.safetensors
  fp8-translate --convert-checkpoint DeepSeek-V3 -o compressed
  fp8-opt model.mlir --lower-to-llvm-pipeline | fp8-translate --mlir-to-llvmir
  fp8-translate --emit=ptx --chip=sm_90a kernel.mlir

Input is MLIR text, MLIR bytecode, a portable artifact, HLO text or a .pt2 file of
torch.export.save; MHLO and HLO become StableHLO first."""


def console_main() -> None:
    """The `fp8-translate` command."""
    run_walled(_run, "fp8-translate")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `fp8-translate` on `argv` (default: the process's); returns the exit status."""
    return run_command(_run, argv, "fp8-translate")


def _parser() -> ArgumentParser:
    parser = ArgumentParser("fp8-translate", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("input", nargs="?", default=STANDARD_STREAM, help="file, or - for stdin")
    parser.add_argument("-o", dest="output", metavar="FILE", default=STANDARD_STREAM,
                        help="output file (default: stdout)")  # fmt: skip
    actions = parser.add_mutually_exclusive_group(required=True)
    for name, (_, text) in _ACTIONS.items():
        actions.add_argument(*both_dashes(name), dest="action", action="store_const", const=name,
                             help=text)  # fmt: skip
    actions.add_argument(*both_dashes(INSPECT), dest="action", action="store_const", const=INSPECT,
                         help="print what is in a file, or how two files differ")  # fmt: skip
    actions.add_argument(*both_dashes(CONVERT), dest="action", action="store_const", const=CONVERT,
                         help="write an FP8 checkpoint, a folder or a .safetensors file, as "
                         "compressed-tensors does, into the folder -o")  # fmt: skip
    actions.add_argument(*both_dashes("emit"), choices=KINDS,
                         help="compile all public functions: an object file, assembly or a shared "
                         "library, for C; or kernels of gpu.module: PTX")  # fmt: skip
    parser.add_argument(*both_dashes("target"), metavar="VERSION",
                        help="with --serialize: the oldest StableHLO version that must read it: "
                        "x.y.z, current (the default: 1.19.0, which jaxlib reads from 0.11.1 on), "
                        "minimum, WEEK_4, WEEK_12, MAX, or auto, the oldest that holds the module; "
                        "or a consumer, such as jaxlib-0.10.2")  # fmt: skip
    parser.add_argument(*both_dashes("emulate-for-target"), action="store_true",
                        help="with --target: small floats newer than it travel as ui8, converted "
                        "by ops that it knows, with the same results")  # fmt: skip
    parser.add_argument(*both_dashes("raise-emulation"), action="store_true",
                        help="with --deserialize: give emulated small floats their types back",
                        )  # fmt: skip
    parser.add_argument(*both_dashes("strip-debuginfo"), action="store_true",
                        help="drop locations")  # fmt: skip
    parser.add_argument(*both_dashes("allow-other-dialects"), action="store_true",
                        help="with --serialize: write ops that are not StableHLO too")  # fmt: skip
    parser.add_argument(*both_dashes("weights"), metavar="FILE",
                        help="with --serialize of a .pt2 file or --checkpoint: write the weights "
                        "by name, for fp8-run --args (.safetensors or .npz)")  # fmt: skip
    add_checkpoint_options(parser)
    parser.add_argument(*both_dashes("print-stablehlo-version"), action="store_true",
                        help="with --deserialize: print the artifact's version first")  # fmt: skip
    add_chunk_options(parser)
    add_interpret_options(parser)
    add_inspect_options(parser)
    add_emit_options(parser)
    parser.add_argument(*both_dashes("cmake-dir"), action="store_true",
                        help="print the folder for CMake's find_package(mlir_fp8) and exit",
                        )  # fmt: skip
    parser.add_argument("--version", action="store_true", help="print versions and exit")
    return parser


def _run(argv: Sequence[str]) -> int:
    if "--version" in argv:
        from mlir_fp8.tools._versions import version_text

        write_output(STANDARD_STREAM, version_text().encode())
        return 0
    if "--cmake-dir" in argv or "-cmake-dir" in argv:
        folder = Path(__file__).resolve().parent.parent / "cmake"
        write_output(STANDARD_STREAM, f"{folder}\n".encode())
        return 0
    try:
        options = _parser().parse_args(with_defaults(list(argv)))
    except SystemExit as help_printed:
        return int(help_printed.code or 0)
    _check(options)
    if options.action == INSPECT:
        return inspect(options)
    if options.action == CONVERT:
        return convert_checkpoint(options)
    is_binary = options.action in _BINARY or options.emit in ("obj", "shared-lib")
    if is_binary and options.output == STANDARD_STREAM and sys.stdout and sys.stdout.isatty():
        raise Fp8Error("binary output is not for a terminal: use -o FILE or a pipe")
    name, data = read_input(options.input)
    action = emit if options.emit else _ACTIONS[options.action][0]
    output = run_action(action, name, data, options, is_binary=is_binary)
    if output is None:
        return 1
    write_output(options.output, output)
    return 0


def _check(options: argparse.Namespace) -> None:
    if options.target is not None and options.action != "serialize":
        raise Fp8Error("--target goes with --serialize")
    for name in ("weights", "checkpoint"):
        if getattr(options, name) is not None and options.action != "serialize":
            raise Fp8Error(f"--{name} goes with --serialize")
    check_weights(options.weights, options.output)
    if options.emulate_for_target and options.target is None:
        raise Fp8Error("--emulate-for-target goes with --serialize --target=x.y.z")
    if options.raise_emulation and options.action != "deserialize":
        raise Fp8Error("--raise-emulation goes with --deserialize")
    if options.print_stablehlo_version and options.action != "deserialize":
        raise Fp8Error("--print-stablehlo-version goes with --deserialize")
    if options.allow_other_dialects and options.action != "serialize":
        raise Fp8Error("--allow-other-dialects goes with --serialize")
    misplaced = misplaced_inspect_option(options)
    if misplaced and options.action != INSPECT:
        raise Fp8Error(f"{misplaced} goes with --inspect")
    _refuse_given(options, () if options.emit else EMIT_OPTIONS, "--emit")
    interpreted = options.action == "interpret"
    _refuse_given(options, () if interpreted else INTERPRET_OPTIONS, "--interpret")


def _refuse_given(options: argparse.Namespace, names: Sequence[str], flag: str) -> None:
    for name in names:
        if getattr(options, name) is not None:
            raise Fp8Error(f"--{name.replace('_', '-')} goes with {flag}")


def _serialize(name: str, data: bytes, options: argparse.Namespace) -> bytes:
    from mlir_fp8.artifacts.portable import artifact_version
    from mlir_fp8.artifacts.targets import is_auto
    from mlir_fp8.base.context import make_context
    from mlir_fp8.reading.loader import parse
    from mlir_fp8.reading.torch_files import is_torch_file
    from mlir_fp8.serialization.serialize import serialize
    from mlir_fp8.tools._translate_checkpoint import with_checkpoint
    from mlir_fp8.tools._translate_torch import program_module

    if options.checkpoint is not None:
        module = parse(data, name, make_context())
        module = with_checkpoint(module, name, options.checkpoint, options.weights)
    elif is_torch_file(data):
        module = program_module(data, name, options.weights)
    elif options.weights is not None:
        raise Fp8Error(f"{name}: --weights is of .pt2 files: here they are in the module")
    else:
        module = parse(data, name, make_context())
    artifact = serialize(
        module,
        "current" if options.target is None else options.target,
        strip_debuginfo=options.strip_debuginfo,
        emulate=options.emulate_for_target,
        allow_other_dialects=options.allow_other_dialects,
        name=name,
    )
    if options.target is not None and is_auto(options.target):
        version = artifact_version(artifact)
        print_to_stderr(f"remark: {name}: StableHLO {version} is the oldest version that holds it")
    return artifact


def _deserialize(name: str, data: bytes, options: argparse.Namespace) -> bytes:
    from mlir_fp8.inspection.bytecode_header import read_header
    from mlir_fp8.reading.artifact import deserialize

    module = deserialize(data, raise_emulation=options.raise_emulation, name=name)
    heading = ""
    if options.print_stablehlo_version:
        version = read_header(data, len(data)).stablehlo_version
        heading = f"// Reading portable artifact with StableHLO version: {version}\n"
    text = str(module)
    return f"{heading}{text.rstrip()}\n".encode()


def _to_llvm_ir(name: str, data: bytes, options: argparse.Namespace) -> bytes:
    from mlir_fp8.aot.llvm_ir import llvm_ir
    from mlir_fp8.base.context import make_context
    from mlir_fp8.reading.loader import parse

    return llvm_ir(parse(data, name, make_context())).encode()


_ACTIONS: dict[str, tuple[Action, str]] = {
    "serialize": (_serialize, "write a portable artifact"),
    "deserialize": (_deserialize, "print the module of a portable artifact"),
    "interpret": (interpret, "run a module in StableHLO's reference interpreter"),
    "hlo-text-to-stablehlo": (hlo_text_to_stablehlo, "print the StableHLO module of HLO text"),
    "stablehlo-to-hlo-text": (stablehlo_to_hlo_text, "print HLO text, with all constants"),
    "hlo-proto-to-stablehlo": (hlo_proto_to_stablehlo, "the same from an HloModuleProto"),
    "stablehlo-to-hlo-proto": (stablehlo_to_hlo_proto, "write an HloModuleProto"),
    "mlir-to-llvmir": (_to_llvm_ir, "print LLVM IR of a module in the LLVM dialect"),
}
_BINARY = frozenset({"serialize", "stablehlo-to-hlo-proto"})

if __name__ == "__main__":
    console_main()
