"""What a Fortran routine is called with, and what a custom call of it takes and gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Character:
    """A letter that says what to do, such as `uplo`."""

    value: int


@dataclass(frozen=True)
class Integer:
    """A size or a leading dimension."""

    value: int


@dataclass(frozen=True)
class Operand:
    """A buffer that the custom call takes; a copy, which the routine may write to."""

    number: int
    skipped: int = 0
    """Elements of each problem before the first that the routine takes."""


@dataclass(frozen=True)
class Result:
    """A buffer that the custom call gives."""

    number: int


@dataclass(frozen=True)
class Scratch:
    """Memory for so many elements of a `kind` (see `Tensor`), of no meaning after the call."""

    kind: str
    count: int


@dataclass(frozen=True)
class Workspace:
    """Memory of which the routine itself says how much it wants; `WorkspaceSize` follows."""


@dataclass(frozen=True)
class WorkspaceSize:
    """How many elements the `Workspace` has."""


@dataclass(frozen=True)
class One:
    """The number 1 in the type of the matrices."""


@dataclass(frozen=True)
class Null:
    """What the routine does not look at."""


Argument = Character | Integer | Operand | Result | Scratch | Workspace | WorkspaceSize | One | Null


@dataclass(frozen=True)
class Tensor:
    """An operand or result of one problem, as the routine has it in memory.

    `kind` is T for the type of the matrices, R for its real part, I for i32, and P for T that the
    custom call gives as complex numbers.
    """

    kind: str
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Routine:
    """One routine for problems of one size."""

    operands: Sequence[Tensor]
    results: Sequence[Tensor]
    arguments: Sequence[Argument]
    in_place: Mapping[int, int] = field(default_factory=dict[int, int])
    """Results that are what the routine makes of operands, with the number of those."""
    info: int | None = None
    """The result that says whether it went well."""
    only_finite: str = ""
    """Of which part of operand 0 (`all`, `lower` or `upper`) infinity or NaN make `info` -4 without
    a call: none (empty), or what routines that scale by norms might end the process or never end
    for."""


INFO = Tensor("I")
UNTOLD = Scratch("I", 1)
"""An `info` that the custom call does not give."""
WORK: list[Argument] = [Workspace(), WorkspaceSize()]


def lead(rows: int) -> Integer:
    """A leading dimension; at least 1, which routines insist on."""
    return Integer(max(1, rows))
