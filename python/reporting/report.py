"""`mlir_fp8.report`: what every value of a module is on given inputs, and what its format loses."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.compiling.shapes import with_sizes_of
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.failures.internal_error import public
from mlir_fp8.reading.loader import loaded
from mlir_fp8.reporting import choice, distance, naming, statistics
from mlir_fp8.reporting.block_choice import BlockCandidate, block_candidates
from mlir_fp8.reporting.findings import Findings, Rounding, ValueReport
from mlir_fp8.reporting.json_form import encoded
from mlir_fp8.reporting.page import page
from mlir_fp8.reporting.program import Program, Value, instrumented
from mlir_fp8.tensors.foreign import as_arrays

_BATCH_BYTES = 512 << 20
"""Of the values that one run of the code returns, in both programs together."""


class Report(Findings):
    """Every float value of a module's entry, in program order, after inlining."""

    def to_json(self) -> str:
        """The report as JSON; docs/report.md has its keys."""
        return encoded(self)

    def to_html(self) -> str:
        """The report as one page that needs nothing else, the JSON within."""
        return page(self, encoded(self))


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
    source = loaded(module)
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
    of_blocks: list[BlockCandidate] = []
    if unrounded.amax:
        array = after if before is None else before
        candidates = choice.candidates(array, unrounded.amax)
        of_blocks = block_candidates(array)
    return ValueReport(
        value,
        found,
        statistics.codes(value.format, after),
        rounding,
        distance.sqnr(after, reference),
        tuple(candidates),
        tuple(of_blocks),
    )


def _element(dtype: np.dtype) -> str:
    return next(name for name, fmt in FORMATS.items() if fmt.has_dtype and fmt.dtype == dtype)
