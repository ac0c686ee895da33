"""`fp8-translate`: modules to and from what they are shipped as, as `stablehlo-translate` does."""

import argparse
import sys
from collections.abc import Sequence

from mlir_fp8.errors import Fp8Error
from mlir_fp8.tools._arguments import ArgumentParser, both_dashes
from mlir_fp8.tools._command import STANDARD_STREAM, read_input, run_command, write_output

_DESCRIPTION = """\
Translate modules to and from versioned StableHLO portable artifacts, and to LLVM IR."""

_EXAMPLES = """\
examples:
  fp8-translate --serialize --target=1.0.0 model.mlir -o model.mlirbc
  fp8-translate --serialize --target=0.9.0 --emulate-for-target model.mlir -o model.mlirbc
  fp8-translate --deserialize --print-stablehlo-version model.mlirbc
  fp8-opt model.mlir --lower-to-llvm-pipeline | fp8-translate --mlir-to-llvmir

Input is MLIR text, MLIR bytecode or a portable artifact; MHLO is legalized to StableHLO."""


def console_main() -> None:
    """The `fp8-translate` command."""
    sys.exit(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run `fp8-translate` on `argv` (default: the process's); returns the exit status."""
    return run_command(_run, argv)


def _parser() -> ArgumentParser:
    parser = ArgumentParser("fp8-translate", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("input", nargs="?", default=STANDARD_STREAM, help="file, or - for stdin")
    parser.add_argument("-o", dest="output", metavar="FILE", default=STANDARD_STREAM,
                        help="output file (default: stdout)")  # fmt: skip
    actions = parser.add_mutually_exclusive_group(required=True)
    for name, text in (
        ("serialize", "write a portable artifact"),
        ("deserialize", "print the module of a portable artifact"),
        ("mlir-to-llvmir", "print LLVM IR of a module in the LLVM dialect"),
    ):
        actions.add_argument(*both_dashes(name), action="store_true", help=text)
    parser.add_argument(*both_dashes("target"), metavar="x.y.z|current|minimum",
                        help="with --serialize: the oldest StableHLO version that must read it "
                        "(default: current)")  # fmt: skip
    parser.add_argument(*both_dashes("emulate-for-target"), action="store_true",
                        help="with --target: small floats newer than it travel as ui8, converted "
                        "by ops that it knows, with the same results")  # fmt: skip
    parser.add_argument(*both_dashes("raise-emulation"), action="store_true",
                        help="with --deserialize: give emulated small floats their types back",
                        )  # fmt: skip
    parser.add_argument(*both_dashes("strip-debuginfo"), action="store_true",
                        help="drop locations")  # fmt: skip
    parser.add_argument(*both_dashes("print-stablehlo-version"), action="store_true",
                        help="with --deserialize: print the artifact's version first")  # fmt: skip
    parser.add_argument("--version", action="store_true", help="print versions and exit")
    return parser


def _run(argv: Sequence[str]) -> int:
    if "--version" in argv:
        from mlir_fp8.tools._opt_lists import version_text

        write_output(STANDARD_STREAM, version_text().encode())
        return 0
    try:
        options = _parser().parse_args(argv)
    except SystemExit as help_printed:
        return int(help_printed.code or 0)
    _check(options)
    if options.serialize and options.output == STANDARD_STREAM and sys.stdout.isatty():
        raise Fp8Error("an artifact is not for a terminal: use -o FILE or a pipe")
    name, data = read_input(options.input)
    if options.serialize:
        output = _serialize(name, data, options)
    elif options.deserialize:
        output = _deserialize(name, data, options)
    else:
        output = _to_llvm_ir(name, data, options)
    write_output(options.output, output)
    return 0


def _check(options: argparse.Namespace) -> None:
    if options.target is not None and not options.serialize:
        raise Fp8Error("--target goes with --serialize")
    if options.emulate_for_target and options.target is None:
        raise Fp8Error("--emulate-for-target goes with --serialize --target=x.y.z")
    if options.raise_emulation and not options.deserialize:
        raise Fp8Error("--raise-emulation goes with --deserialize")
    if options.print_stablehlo_version and not options.deserialize:
        raise Fp8Error("--print-stablehlo-version goes with --deserialize")


def _serialize(name: str, data: bytes, options: argparse.Namespace) -> bytes:
    from mlir_fp8.artifact import serialize
    from mlir_fp8.context import make_context
    from mlir_fp8.loader import parse

    module = parse(data, name, make_context())
    return serialize(
        module,
        options.target or "current",
        strip_debuginfo=options.strip_debuginfo,
        emulate=options.emulate_for_target,
        name=name,
    )


def _deserialize(name: str, data: bytes, options: argparse.Namespace) -> bytes:
    from mlir_fp8.artifact import artifact_version, deserialize

    module = deserialize(data, raise_emulation=options.raise_emulation, name=name)
    heading = ""
    if options.print_stablehlo_version:
        version = artifact_version(data)
        heading = f"// Reading portable artifact with StableHLO version: {version}\n"
    text = str(module)
    return f"{heading}{text.rstrip()}\n".encode()


def _to_llvm_ir(name: str, data: bytes, options: argparse.Namespace) -> bytes:
    from mlir_fp8.context import make_context
    from mlir_fp8.llvm_ir import llvm_ir
    from mlir_fp8.loader import parse

    return llvm_ir(parse(data, name, make_context())).encode()


if __name__ == "__main__":
    console_main()
