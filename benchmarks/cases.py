"""What suites give: cases, each with contenders that do the same work."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

OURS = "mlir-fp8"
"""The name of our contender; a variant's is that, a comma and what it is."""


class WrongValueError(Exception):
    """A contender's values are wrong: it is not measured."""


@dataclass(frozen=True)
class Sample:
    """What a contender that times itself, in a process of its own say, returns from a run."""

    seconds: float
    notes: Mapping[str, float]
    """What else it measured, by name and unit."""


Check = Callable[[Any], Mapping[str, float]]
"""Takes what a run returned; gives notes, such as an error in ULP, or raises `WrongValueError`."""


def checks_itself(_: Any) -> Mapping[str, float]:
    """For runs that raise `WrongValueError` themselves."""
    return {}


@dataclass(frozen=True)
class Contender:
    """One that does a case's work on `threads` threads, or says why it does not."""

    name: str
    run: Callable[[], Any]
    check: Check
    threads: int = 1
    refused: str = ""

    @property
    def is_ours(self) -> bool:
        return self.name.split(",")[0] == OURS


def refusing(name: str, threads: int, reason: object) -> Contender:
    """A contender that cannot do the work, for `reason`, of which the first line is kept."""
    return Contender(name, lambda: None, checks_itself, threads, first_line(reason))


def first_line(reason: object) -> str:
    """Of a message or an exception, short enough for a table."""
    lines = str(reason).strip().splitlines() or [type(reason).__name__]
    return lines[0][:160]


@dataclass(frozen=True)
class Case:
    """The same work by several contenders."""

    name: str
    contenders: tuple[Contender, ...]
    size: str = ""
    work: float = 0
    """How much of `unit` one run does; 0 where no speed can be told."""
    unit: str = ""
    rounds: tuple[int, int] = (5, 51)
    """The fewest and the most."""
    starts_processes: bool = False
    """Whose processor time is not this process's."""
