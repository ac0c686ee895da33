"""`fp8-translate --inspect`: facts of one file, or what differs between two."""

import argparse
import json
import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tools._arguments import both_dashes
from mlir_fp8.tools._command import (
    STANDARD_STREAM,
    before_input,
    print_error,
    read_input,
    write_output,
)

if TYPE_CHECKING:
    from mlir_fp8.inspection.facts import Inspection

INSPECT = "inspect"


def add_inspect_options(parser: argparse.ArgumentParser) -> None:
    """The flags and the second file of `--inspect`."""
    parser.add_argument("other", nargs="?", help="with --inspect: the file to compare with")
    parser.add_argument(
        *both_dashes("json"), action="store_true", help="with --inspect: for scripts"
    )
    parser.add_argument(
        *both_dashes("header"),
        action="store_true",
        help="with --inspect: only what the first bytes say, at once however large the file",
    )


def misplaced_inspect_option(options: argparse.Namespace) -> str | None:
    """What only `--inspect` understands, if it was given."""
    if options.other is not None:
        return f"a second file ('{options.other}')"
    return "--json" if options.json else "--header" if options.header else None


def inspect(options: argparse.Namespace) -> int:
    """Print what is asked for; the exit status is 1 if a file cannot be read as a module."""
    if options.split_input_file is not None or options.verify_diagnostics is not None:
        raise Fp8Error("--inspect takes a file as a whole, and no expected diagnostics")
    files = [options.input] if options.other is None else [options.input, options.other]
    if files.count(STANDARD_STREAM) > 1:
        raise Fp8Error("standard input can be one of the two files only")
    before_input()
    facts = [_inspect(file, header_only=options.header) for file in files]
    text = _json(facts) if options.json else _page(facts, options)
    write_output(options.output, text.encode())
    errors = [each.error for each in facts if each.error is not None]
    for error in errors:
        print_error(error)
    return 1 if errors else 0


def _inspect(file: str, *, header_only: bool) -> "Inspection":
    name, data = read_input(file) if file == STANDARD_STREAM else (file, None)
    if header_only:
        from mlir_fp8.inspection.bytecode_header import file_header, read_header
        from mlir_fp8.inspection.facts import Inspection

        return Inspection(name, file_header(file) if data is None else read_header(data, len(data)))
    from mlir_fp8.inspection.file import inspect_bytes, inspect_file

    return inspect_file(file) if data is None else inspect_bytes(data, name)


def _json(facts: "list[Inspection]") -> str:
    if len(facts) == 1:
        return facts[0].to_json() + "\n"
    from mlir_fp8.inspection.difference import differences

    both = {"files": [asdict(each) for each in facts], "differences": differences(*facts)}
    return json.dumps(both, indent=2) + "\n"


def _page(facts: "list[Inspection]", options: argparse.Namespace) -> str:
    from mlir_fp8.tools._inspect_page import Style, difference_page, page

    to_terminal = options.output == STANDARD_STREAM and sys.stdout and sys.stdout.isatty()
    style = Style(bool(to_terminal) and "NO_COLOR" not in os.environ)
    if len(facts) == 1:
        return page(facts[0], style, header_only=options.header)
    from mlir_fp8.inspection.difference import differences

    first, second = facts
    return difference_page((first.name, second.name), differences(first, second), style)
