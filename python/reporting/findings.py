"""What a report holds: every float value of a program, and what its rounding lost."""

import itertools
from dataclasses import dataclass

from mlir_fp8.dialects.float_formats import FloatFormat
from mlir_fp8.reporting import choice, distance, statistics
from mlir_fp8.reporting.block_choice import BlockCandidate
from mlir_fp8.reporting.program import LeftOut, Value


@dataclass(frozen=True)
class Rounding:
    """The rounding that made a value: what went into it, and what was lost."""

    source: str
    """The element type of what was rounded."""
    is_clamped: bool
    """Whether a clamp to the format's range is counted as part of the rounding."""
    before: statistics.Magnitudes
    losses: statistics.Losses
    sqnr: distance.Distance
    """Of the value against what was rounded."""


@dataclass(frozen=True)
class ValueReport:
    """One value: what it is, what its own rounding lost, and how far it is from f32."""

    value: Value
    after: statistics.Magnitudes
    codes: statistics.Codes
    rounding: Rounding | None
    """None where the value is no rounding to fewer bits: arithmetic in f32, moved data."""
    sqnr: distance.Distance
    """Of the value against the same program in f32."""
    candidates: tuple[choice.Candidate, ...]
    """Empty where there is no finite element but zero."""
    block_candidates: tuple[BlockCandidate, ...] = ()
    """The same, of block formats."""

    @property
    def format(self) -> FloatFormat:
        return self.value.format

    @property
    def is_narrow(self) -> bool:
        return self.format.bits < 32

    @property
    def unrounded(self) -> statistics.Magnitudes:
        """The statistics to choose a format by: before the rounding, where there is one."""
        return self.rounding.before if self.rounding else self.after


@dataclass(frozen=True)
class Findings:
    """Every float value of a module's entry, in program order, after inlining."""

    module: str
    entry: str
    saturate: bool
    values: tuple[ValueReport, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]

    def worst_first(self) -> list[ValueReport]:
        """The values by SQNR, lowest first; in program order where that is the same."""
        return sorted(self.values, key=lambda each: each.sqnr.rank)


def formats_of(found: Findings) -> list[FloatFormat]:
    """The formats that a report speaks of, each once."""
    own = (each.format for each in found.values)
    offered = (each.format for value in found.values for each in value.candidates)
    return list(dict.fromkeys(itertools.chain(own, offered)))
