"""What `fp8-translate` does around its actions: chunks of the input, expected diagnostics."""

import argparse
from collections.abc import Callable

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tools._arguments import both_dashes
from mlir_fp8.tools._chunks import DEFAULT_MARKER, split_chunks
from mlir_fp8.tools._diagnostics import error_report, print_report
from mlir_fp8.tools._expected_diagnostics import ExpectedDiagnostics

Action = Callable[[str, bytes, argparse.Namespace], bytes]
"""Input name, input and options to the output."""

# Flags with a value that may be left out, which must not take the file that follows for it.
_DEFAULTS = {"split-input-file": DEFAULT_MARKER, "verify-diagnostics": "all"}


def add_chunk_options(parser: argparse.ArgumentParser) -> None:
    """The flags that go with every action."""
    parser.add_argument(
        *both_dashes("split-input-file"),
        metavar="MARKER",
        help=f"the parts between marker lines are modules (alone: '{DEFAULT_MARKER}')",
    )
    parser.add_argument(
        *both_dashes("verify-diagnostics"),
        choices=("all", "only-expected"),
        help="compare errors with expected-error comments in the input (alone: all)",
    )


def with_defaults(argv: list[str]) -> list[str]:
    """`argv` with the values of flags that were given without one."""
    names = {dash + flag: value for flag, value in _DEFAULTS.items() for dash in ("--", "-")}
    return [f"{each}={names[each]}" if each in names else each for each in argv]


def run_action(
    action: Action, name: str, data: bytes, options: argparse.Namespace, *, is_binary: bool
) -> bytes | None:
    """The action's output, chunk by chunk; None after errors, which are printed."""
    if options.split_input_file is None and options.verify_diagnostics is None:
        return action(name, data, options)
    chunks = split_chunks(name, data, options.split_input_file)
    if is_binary and len(chunks) > 1 and options.verify_diagnostics is None:
        raise Fp8Error(
            f"{name}: {len(chunks)} modules in one file cannot be read back: "
            "write one module at a time"
        )
    outputs = [_process(action, name, chunk, options) for chunk in chunks]
    good = [output for output in outputs if output is not None]
    return (b"" if is_binary else b"\n").join(good) if len(good) == len(outputs) else None


def _process(action: Action, name: str, data: bytes, options: argparse.Namespace) -> bytes | None:
    if options.verify_diagnostics is None:
        try:
            return action(name, data, options)
        except Fp8Error as error:
            print_report(error_report(error))
            return None
    expected = ExpectedDiagnostics(
        data.decode(errors="replace"),
        name,
        print_report,
        only_expected=options.verify_diagnostics == "only-expected",
    )
    output = b""
    try:
        output = action(name, data, options)
    except Fp8Error as error:
        expected.hear(error_report(error))
    return output if expected.all_met() else None
