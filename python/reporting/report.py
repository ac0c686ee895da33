"""`mlir_fp8.report`: what every value of a module is on given inputs, and what its format loses."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
from mlir_fp8.failures.internal_error import public
from mlir_fp8.reading.loader import load
from mlir_fp8.reporting import choice, distance, naming, statistics
from mlir_fp8.reporting.program import LeftOut, Program, Value, instrumented
from mlir_fp8.shapes import with_sizes_of
from mlir_fp8.tensors.foreign import as_arrays

_BATCH_BYTES = 512 << 20
"""Of the values that one run of the code returns, in both programs together."""


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
class Report:
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

    def to_json(self) -> str:
        """The report as JSON; docs/report.md has its keys."""
        from mlir_fp8.reporting.json_form import encoded

        # The checker sees this file by two paths, and so two classes.
        return encoded(self)  # pyright: ignore[reportArgumentType]

    def to_html(self) -> str:
        """The report as one page that needs nothing else, the JSON within."""
        from mlir_fp8.reporting.page import page

        return page(self)  # pyright: ignore[reportArgumentType]


@public
def report(
    module: ir.Module | str | Path | bytes,
    *arrays: Any,
    entry: str = "main",
    saturate: bool = False,
) -> Report:
    """Run `entry` on `arrays`, and the same program in f32, and report on every float value.

    `module`, `arrays` and `saturate` are what `mlir_fp8.compile` and its result take. Raises
    `Fp8Error` where the module cannot be compiled or an array is not of the declared type.
    """
    source = module if isinstance(module, ir.Module) else load(module)
    is_file = isinstance(module, Path) or (isinstance(module, str) and "\n" not in module)
    name = str(module) if is_file and "{" not in str(module) else ""
    return report_on(source, as_arrays(arrays), name=name, entry=entry, saturate=saturate)


def report_on(
    module: ir.Module, arrays: Sequence[Any], *, name: str, entry: str, saturate: bool
) -> Report:
    """`report` of a module that is called `name`; after its symbol where that is empty."""
    name = name or naming.module_name(module) or "<module>"
    program = instrumented(with_sizes_of(module, entry, arrays, saturate=saturate), entry, name)
    values = tuple(
        found for batch in _batches(program) for found in _reports(program, batch, arrays, saturate)
    )
    return Report(name, entry, saturate, values, program.left_out, program.notes)


def _batches(program: Program) -> Iterator[list[int]]:
    """Values in program order, as many at a time as memory is meant to hold."""
    batch: list[int] = []
    size = 0
    for index, value in enumerate(program.values):
        cost = int(np.prod(value.spec.shape)) * (value.format.storage_bits // 8 + 8)
        if batch and size + cost > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(index)
        size += cost
    if batch:
        yield batch


def _reports(
    program: Program, batch: Sequence[int], inputs: Sequence[Any], saturate: bool
) -> Iterator[ValueReport]:
    sources = [program.before.get(index) for index in batch]
    positions = sorted({each for each in (*batch, *sources) if each is not None})
    results = program.strict.run(positions, inputs, saturate)
    arrays = dict(zip(positions, results, strict=True))
    references = program.twin.run(batch, inputs, saturate)
    for index, source, reference in zip(batch, sources, references, strict=True):
        before = None if source is None else arrays[source]
        # Signalling NaNs are invalid to convert, says numpy; that they are NaN is all that counts.
        with np.errstate(invalid="ignore"):
            found = measured(program.values[index], arrays[index], before, reference)
        yield found


def measured(
    value: Value, after: np.ndarray, before: np.ndarray | None, reference: np.ndarray
) -> ValueReport:
    """The report on `value`, which is `after`; `before` its rounding, `reference` in f32."""
    found = statistics.magnitudes(after)
    rounding = None
    if before is not None:
        rounding = Rounding(
            _element(before.dtype),
            value.is_clamped,
            statistics.magnitudes(before),
            statistics.losses(value.format, before, after),
            distance.sqnr(after, before),
        )
    unrounded = found if rounding is None else rounding.before
    candidates: list[choice.Candidate] = []
    if unrounded.amax:
        candidates = choice.candidates(after if before is None else before, unrounded.amax)
    return ValueReport(
        value,
        found,
        statistics.codes(value.format, after),
        rounding,
        distance.sqnr(after, reference),
        tuple(candidates),
    )


def _element(dtype: np.dtype) -> str:
    return next(name for name, fmt in FORMATS.items() if fmt.dtype == dtype)


def formats_of(found: Report) -> list[FloatFormat]:
    """The formats that a report speaks of, each once."""
    own = (each.format for each in found.values)
    offered = (each.format for value in found.values for each in value.candidates)
    return list(dict.fromkeys(itertools.chain(own, offered)))
