"""argparse, with the manners of these tools: one-line errors, `-flag` as good as `--flag`."""

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tools._command import STANDARD_STREAM, write_output


class ArgumentParser(argparse.ArgumentParser):
    """A parser whose errors are `Fp8Error`s, for `run_command` to print."""

    def __init__(self, prog: str, description: str, epilog: str) -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def print_help(self, file: Any = None) -> None:
        write_output(STANDARD_STREAM, self.format_help().encode())

    def error(self, message: str) -> NoReturn:
        raise Fp8Error(f"{message} (see {self.prog} --help)")


def given_arguments(parser: ArgumentParser, argv: Sequence[str]) -> dict[str, Any] | None:
    """What `argv` gives `parser`; None after `--help` or `--version`, which are printed here."""
    if "--version" in argv:
        from mlir_fp8.tools._versions import version_text

        write_output(STANDARD_STREAM, version_text().encode())
        return None
    try:
        return vars(parser.parse_args(argv))
    except SystemExit:
        return None


def both_dashes(name: str) -> tuple[str, str]:
    """The spellings of a long flag: LLVM's tools take `-serialize` for `--serialize`."""
    return f"--{name}", f"-{name}"
