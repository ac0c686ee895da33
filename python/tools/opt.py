"""`fp8-opt`: run passes on a module, as `mlir-opt` does, with this project's passes among them."""

import sys
from collections.abc import Sequence

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tools._command import STANDARD_STREAM, read_input, run_command, write_output
from mlir_fp8.tools._opt_options import Options, parse_arguments
from mlir_fp8.tools._wall import run_walled


def console_main() -> None:
    """The `fp8-opt` command."""
    run_walled(_run, "fp8-opt")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `fp8-opt` on `argv` (default: the process's arguments); returns the exit status."""
    return run_command(_run, argv, "fp8-opt")


def _run(argv: Sequence[str]) -> int:
    options = parse_arguments(argv)
    listing = _listing(options)
    if listing is not None:
        write_output(STANDARD_STREAM, listing.encode())
        return 0
    output = options.output or STANDARD_STREAM
    if options.emit_bytecode and output == STANDARD_STREAM and sys.stdout and sys.stdout.isatty():
        raise Fp8Error("bytecode is not for a terminal: use -o FILE or a pipe")
    name, data = read_input(options.input or STANDARD_STREAM)
    if options.run_reproducer:
        data = _take_reproducer(name, data, options)
    from mlir_fp8.tools._chunks import split_chunks
    from mlir_fp8.tools._opt_run import process

    chunks = split_chunks(name, data, options.split_input_file)
    results = [process(chunk, name, options) for chunk in chunks]
    if not all(result.is_good for result in results):
        return 1
    marker = options.output_split_marker or options.split_input_file or ""
    write_output(output, f"\n{marker}\n".encode().join(result.output for result in results))
    return 0


def _take_reproducer(name: str, data: bytes, options: Options) -> bytes:
    """The module of a reproducer, whose pipeline `options` then have."""
    from mlir_fp8.failures.reproducer import parse_reproducer

    reproducer = parse_reproducer(data.decode(errors="surrogateescape"), name)
    options.pass_pipeline = reproducer.pipeline
    options.verify_each &= reproducer.verify_each
    return reproducer.source.encode(errors="surrogateescape")


def _listing(options: Options) -> str | None:
    # Imported where needed: `--help` must not wait for MLIR to load.
    if options.help:
        from mlir_fp8.tools._opt_help import help_text

        return help_text()
    if options.version:
        from mlir_fp8.tools._versions import version_text

        return version_text()
    if not (options.list_passes or options.show_dialects):
        return None
    from mlir_fp8.base.context import make_context
    from mlir_fp8.tools._opt_lists import dialect_list, pass_list

    return (pass_list if options.list_passes else dialect_list)(make_context())


if __name__ == "__main__":
    console_main()
