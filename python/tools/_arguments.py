"""argparse, with the manners of these tools: one-line errors, `-flag` as good as `--flag`."""

import argparse
from typing import NoReturn

from mlir_fp8.errors import Fp8Error


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

    def error(self, message: str) -> NoReturn:
        raise Fp8Error(f"{message} (see {self.prog} --help)")


def both_dashes(name: str) -> tuple[str, str]:
    """The spellings of a long flag: LLVM's tools take `-serialize` for `--serialize`."""
    return f"--{name}", f"-{name}"
