"""`python -m benchmarks tune`: rows of the table of kernels for the processor at hand.

First up to how many rows of the left operand the kernels that read the right one in place are
faster than those that pack it; then the block sizes of the latter, one after the other. Rows are
for right operands that stay in no cache: what is small keeps the kernels of the table.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.cases import OURS, Case, Contender
from benchmarks.engines import ours
from benchmarks.measuring import Progress, measure
from benchmarks.plan import Plan
from benchmarks.suites.products import operands, program_text
from benchmarks.values import identical
from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.kernels.products.choices_file import VARIABLE, written_choices
from mlir_fp8.lowering.kernels.products.choices_table import (
    IN_PLACE,
    IN_PLACE_TILES,
    PACKED,
    Choice,
    packed_row,
)
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget, host_target

TUNE = "tune"
SUMMARY = "the kernels and block sizes that are fastest here, for --choices"
_ELEMENTS = ("f8E4M3FN", "i8", "f32")
_LAYOUTS = ("nk", "kn")
_ROWS, _QUICK_ROWS = (1, 2, 4, 6, 8, 12, 16, 24, 32), (1, 4)
_RIGHT, _QUICK_RIGHT = (4096, 2048), (64, 96)
"""k and n, of the operand that is read in place or packed."""
_BLOCKS, _QUICK_BLOCKS = (512, 1024, 2048), (16, 64, 64)
"""m, n and k, of the product whose block sizes are sought."""
_LEAST_RIGHT = 1 << 18
"""Elements of the right operand from which rows are used."""
_WORTH = 0.97
"""Of the time: what gains less is left as it is."""


@dataclass(frozen=True)
class _Kind:
    """Operands of one element type on a target, under the name that the table has for them."""

    element: str
    name: str
    takes_tile: bool


def tuned(plan: Plan, told: Callable[[str], None], progress: Progress) -> list[Choice]:
    """Rows for this processor's target; `told` gets a line for each candidate."""
    target = host_target()
    found: list[Choice] = []
    for kind in _kinds(target):
        base = replace(packed_row(target.name, kind.name), least_right=_LEAST_RIGHT)
        search = _Search(kind, plan, told, progress)
        for layout in _LAYOUTS:
            found += search.rows_in_place(replace(base, layout=layout), target)
        found.append(search.blocks(base, target))
    return found


def _kinds(target: KernelTarget) -> Iterator[_Kind]:
    names = {"f32": "f32", "i8": "i8-same" if target.byte_dots else "i16"}
    names["f8E4M3FN"] = "bf16" if target.pair_dots else "f32"
    if target.mmla:
        names["f8E4M3FN"] = "codes" if target.code_dots else "fours"
    seen = set()
    for element in _ELEMENTS:
        name = names[element]
        if name not in seen:
            is_fixed = name in ("codes", "fours") or (target.tiles and name in ("bf16", "i8-same"))
            yield _Kind(element, name, not is_fixed)
        seen.add(name)


@dataclass(frozen=True)
class _Search:
    kind: _Kind
    plan: Plan
    told: Callable[[str], None]
    progress: Progress

    def rows_in_place(self, base: Choice, target: KernelTarget) -> list[Choice]:
        """Rows for few rows of the left operand, until packing the right one is faster."""
        k, n = _QUICK_RIGHT if self.plan.quick else _RIGHT
        kernels = [IN_PLACE, PACKED]
        if target.tiles and self.kind.element == "i8" and base.layout == "nk":
            kernels.insert(1, IN_PLACE_TILES)
        found: list[Choice] = []
        for m in _QUICK_ROWS if self.plan.quick else _ROWS:
            candidates = [replace(base, kernel=each) for each in kernels]
            times = self._times((m, n, k), base.layout, candidates)
            best = kernels[times.index(min(times))]
            if best == PACKED:
                break
            if found and found[-1].kernel == best:
                found.pop()
            found.append(
                Choice(target.name, self.kind.name, base.layout, m, base.least_right, best)
            )
        return found

    def blocks(self, row: Choice, target: KernelTarget) -> Choice:
        """`row` with the block sizes that are fastest, each sought beside the best before."""
        size = _QUICK_BLOCKS if self.plan.quick else _BLOCKS
        for name, values in _sizes(self.kind, target).items():
            values = values[:1] if self.plan.quick else values
            candidates = [replace(row, **{name: each}) for each in values]
            candidates = [row, *(each for each in candidates if each != row)]
            times = self._times(size, "nk", candidates)
            best = min(times)
            if best < _WORTH * times[0]:
                row = candidates[times.index(best)]
        return row

    def _times(
        self, size: tuple[int, int, int], layout: str, candidates: Sequence[Choice]
    ) -> list[float]:
        """The least seconds of each, which take turns after the table's choice; tells ratios."""
        left, right = operands(size)
        right_side = np.ascontiguousarray(right.T) if layout == "nk" else right
        dtype = element_dtype(self.kind.element)
        arrays = [each.astype(dtype) for each in (left, right_side)]
        want = (left @ right).astype(np.int32 if self.kind.element == "i8" else np.float32)
        text = program_text(size, (self.kind.element, self.kind.element), int(layout == "nk"))
        check = identical(want)
        contenders: list[Contender] = []
        for number, rows in enumerate(([], *([each] for each in candidates))):
            with _choices([replace(row, least_right=0) for row in rows]):
                made = ours(max(self.plan.threads)).contender(
                    text, arrays, lambda results: check(results[0])
                )
            contenders.append(replace(made, name=f"{OURS}, {number}"))
        shape = "x".join(map(str, size))
        case = Case(f"{self.kind.name} {layout}", tuple(contenders), shape, rounds=(5, 51))
        records = measure(TUNE, case, self.plan, self.progress)
        self.progress("")
        for record in records:
            if record.refused:
                raise Fp8Error(f"{TUNE}: {case.name} {shape}: {record.refused}")
        seconds = [min(each.seconds) for each in records]
        for row, time in zip(candidates, seconds[1:], strict=True):
            self.told(f"{case.name} {shape}: ours/candidate {seconds[0] / time:.2f}: {_told(row)}")
        return seconds[1:]


def _sizes(kind: _Kind, target: KernelTarget) -> dict[str, tuple[object, ...]]:
    found: dict[str, tuple[object, ...]] = {}
    if kind.takes_tile:
        many = target.registers >= 32
        found["tile"] = ((6, 4), (5, 4), (12, 2), (8, 3)) if many else ((6, 2), (4, 2), (4, 3))
    found["depth"] = (256, 512, 1024, 2048)
    found["cached_bytes"] = (1 << 18, 1 << 19, 1 << 20)
    found["block_columns"] = (128, 256, 512)
    return found


def _told(row: Choice) -> str:
    """The kernel, and what is not by default."""
    names = ("tile", "depth", "cached_bytes", "block_columns")
    sizes = [f"{name}={getattr(row, name)}" for name in names if name in _given(row)]
    return " ".join([row.kernel, *sizes])


def _given(row: Choice) -> list[str]:
    return [name for name, value in vars(row).items() if value != getattr(Choice, name)]


@contextmanager
def _choices(rows: list[Choice]) -> Iterator[None]:
    """Compilations inside have `rows` before the table, and no others."""
    before = os.environ.pop(VARIABLE, None)
    try:
        with tempfile.TemporaryDirectory() as folder:
            if rows:
                file = Path(folder, "choices.json")
                file.write_text(written_choices(rows))
                os.environ[VARIABLE] = str(file)
            yield
    finally:
        os.environ.pop(VARIABLE, None)
        if before is not None:
            os.environ[VARIABLE] = before
