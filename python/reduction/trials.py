"""Runs a smaller program: whether it still fails, and its values."""

import time
from collections.abc import Callable, Sequence

import numpy as np

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.judging import judges
from mlir_fp8.reduction.program import Key, Program, Values, with_all_values

Progress = Callable[[str], None]


class Trials:
    """Runs programs by the two judges that differ, until `deadline` on the monotonic clock."""

    def __init__(
        self, pair: tuple[str, str], tolerance: float, deadline: float, say: Progress
    ) -> None:
        self.pair = pair
        self._tolerance = tolerance
        self._deadline = deadline
        self._say = say
        self._count = 0
        self._last: tuple[Program, judges.Verdict] | None = None
        self._smallest: int | None = None

    def verdict(self, program: Program) -> judges.Verdict | None:
        """What the two say; None where the time is up or neither can take the program."""
        if time.monotonic() >= self._deadline:
            return None
        self._count += 1
        self._last = None
        try:
            verdict = judges.compare(
                program.module, *program.arrays, judges=self.pair, tolerance=self._tolerance
            )
        except Fp8Error:
            return None
        self._last = (program, verdict)
        return verdict

    def fails(self, program: Program | None) -> bool:
        """Whether both judges can run `program` and differ; a refusal is not a difference."""
        if program is None:
            return False
        verdict = self.verdict(program)
        is_failing = verdict is not None and verdict.is_comparison and not verdict.is_good
        if is_failing and (self._smallest is None or program.size < self._smallest):
            self._smallest = program.size
        if self._smallest is not None:
            self._say(f"programs tried: {self._count}, ops left: {self._smallest}")
        return is_failing

    def results(self, program: Program) -> tuple[np.ndarray, ...] | None:
        """What the first judge gives; None where it cannot run the program."""
        verdict = self._recalled(program)
        return verdict.opinions[0].results if verdict else None

    def place(self, program: Program) -> tuple[int, ...] | None:
        """The first index at which the first failing result differs."""
        verdict = self._recalled(program)
        agreements = verdict.agreements if verdict else ()
        failing = next((each for each in agreements if not each.is_good), None)
        return failing.first.index if failing and failing.first else None

    def values(self, program: Program) -> tuple[Values, list[Key]]:
        """What the first judge makes of every op, and which values the two differ on, in order."""
        return self._shown(*with_all_values(program))

    def alone(self, program: Program, values: Values) -> list[Key]:
        """The values that the two differ on where each op stands alone, given `values`."""
        return self._shown(*with_all_values(program, values))[1]

    def _recalled(self, program: Program) -> judges.Verdict | None:
        if self._last is not None and self._last[0] is program:
            return self._last[1]
        return self.verdict(program)

    def _shown(self, program: Program, keys: Sequence[Key]) -> tuple[Values, list[Key]]:
        verdict = self.verdict(program)
        if verdict is None or verdict.opinions[0].results is None:
            return {}, []
        values = dict(zip(keys, verdict.opinions[0].results, strict=True))
        return values, [keys[each.index] for each in verdict.agreements if not each.is_good]
