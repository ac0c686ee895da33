"""`python -m mlir_fp8`: the tools, a line each; or one of them, where their scripts are not on the
PATH."""

import importlib
import sys
from collections.abc import Sequence

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tools._command import STANDARD_STREAM, run_command, write_output

# The command `fp8-NAME` is the module mlir_fp8.tools.NAME.
TOOLS = ("opt", "translate", "run", "explain", "quantize", "tune")
USAGE = "usage: python -m mlir_fp8 [--help | --version | TOOL ARGUMENTS...]"


def main(argv: Sequence[str] | None = None) -> int:
    """List the tools, or run the one that `argv` begins with; returns the exit status."""
    return run_command(_run, argv, "python -m mlir_fp8")


def _run(argv: Sequence[str]) -> int:
    if not argv or argv[0] in ("-h", "--help", "-help"):
        write_output(STANDARD_STREAM, tool_list().encode())
        return 0
    if argv[0] in ("--version", "-version"):
        from mlir_fp8.tools._versions import version_text

        write_output(STANDARD_STREAM, version_text().encode())
        return 0
    tool = argv[0].removeprefix("fp8-")
    if tool not in TOOLS:
        known = ", ".join(f"fp8-{name}" for name in TOOLS)
        raise Fp8Error(f"there is no tool '{argv[0]}': the tools are {known}")
    return importlib.import_module(f"mlir_fp8.tools.{tool}").main(argv[1:])


def tool_list() -> str:
    """The usage, and of each tool the first line of its module's docstring."""
    lines = [USAGE, "", "tools, by their own names or behind `python -m mlir_fp8`:"]
    for tool in TOOLS:
        summary = (importlib.import_module(f"mlir_fp8.tools.{tool}").__doc__ or "").splitlines()[0]
        name, _, does = summary.partition(": ")
        lines.append(f"  {name.strip('`'):<15}{does}")
    lines += ["", "TOOL --help has a tool's options."]
    return "\n".join(lines) + "\n"


def console_main() -> None:
    """`main`, with the crash isolation that a tool's own command has."""
    name = sys.argv[1].removeprefix("fp8-") if len(sys.argv) > 1 else ""
    if name not in TOOLS:
        sys.exit(main())
    del sys.argv[1]
    importlib.import_module(f"mlir_fp8.tools.{name}").console_main()


if __name__ == "__main__":
    console_main()
