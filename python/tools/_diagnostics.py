"""MLIR's diagnostics as `fp8-opt` shows them: `file:line:column: error: message`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.source_place import Place, split_place
from mlir_fp8.tools._command import print_to_stderr

if TYPE_CHECKING:
    from torch_mlir import ir

# The file name that MLIR gives to text parsed from memory.
_MEMORY = "-"
_OPERATION_NOTE = "see current operation: "
_LONGEST_NOTE = 400


@dataclass(frozen=True)
class Report:
    """One diagnostic, or one note of it; `severity` is error, warning, remark or note."""

    severity: str
    place: Place | None
    message: str

    def __str__(self) -> str:
        text = f"{self.severity}: {self.message}"
        return text if self.place is None else f"{self.place}: {text}"

    @property
    def is_operation(self) -> bool:
        """Whether this is the note in which MLIR prints the op that a diagnostic is about."""
        return self.severity == "note" and self.message.startswith(_OPERATION_NOTE)


def print_report(report: Report) -> None:
    """Print on stderr; an op's text is cut to its first line, as it may be the whole module."""
    if report.is_operation:
        operation = report.message.removeprefix(_OPERATION_NOTE).strip()
        line = operation.split("\n", 1)[0][:_LONGEST_NOTE]
        dots = "" if line == operation else " ..."
        report = replace(report, message=f"{_OPERATION_NOTE}{line}{dots}")
    print_to_stderr(str(report))


def error_report(error: Fp8Error) -> Report:
    """The error, with the place that its message starts with, if any."""
    place, message = split_place(str(error))
    return Report("error", place, message)


@contextmanager
def listening(context: "ir.Context", file: str, hear: Callable[[Report], None]) -> Iterator[None]:
    """Call `hear` with every diagnostic in `context`; `file` names text parsed from memory."""

    def handle(diagnostic: "ir.Diagnostic") -> bool:
        for part in (diagnostic, *diagnostic.notes):
            place = _place(part.location, file)
            message = part.message
            if place is None and _is_named(part.location):
                message = f"{part.location}: {message}"
            hear(Report(part.severity.name.lower(), place, message))
        return True

    handler: Any = context.attach_diagnostic_handler(handle)
    try:
        yield
    finally:
        handler.detach()


def _is_named(location: "ir.Location") -> bool:
    from torch_mlir import ir

    return not isinstance(location, ir.UnknownLoc | ir.FileLineColLoc)


def _place(location: "ir.Location", file: str) -> Place | None:
    from mlir_fp8.base.context import file_position

    found = file_position(location)
    if found is None:
        return None
    name = file if found.filename == _MEMORY else found.filename
    return Place(name, found.start_line, found.start_col)
