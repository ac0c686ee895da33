"""`mlir_fp8.reduce`: the smallest program that two judges still differ on."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.compiled_module import argument_array
from mlir_fp8.compiling.entry import entry_signature
from mlir_fp8.compiling.shapes import with_sizes_of
from mlir_fp8.failures.internal_error import callers_own, public
from mlir_fp8.judging.judges import ENGINES, Verdict, compare
from mlir_fp8.reading.loader import loaded
from mlir_fp8.reduction.delta import minimized
from mlir_fp8.reduction.program import (
    Program,
    kept_ops,
    only_entry,
    with_argument,
    with_results,
    without_calls,
)
from mlir_fp8.reduction.regions import opened, with_smaller_regions
from mlir_fp8.reduction.shapes import with_smaller_shapes
from mlir_fp8.reduction.trials import Progress, Trials
from mlir_fp8.tensors.foreign import as_arrays

PATIENCE = 600.0
"""Seconds after which the smallest program found so far is given."""


@dataclass(frozen=True)
class Reduction:
    """A module whose `main` on `arrays` makes the judges of `verdict` differ."""

    module: ir.Module
    arrays: tuple[np.ndarray, ...]
    verdict: Verdict
    """What the two judges that differ say of the reduced module."""
    ops_before: int
    ops_after: int
    """Ops in all functions and regions, terminators aside."""


@public
def reduce(
    module: ir.Module | str | Path | bytes,
    *arrays: Any,
    judges: Sequence[str] = tuple(ENGINES),
    tolerance: float = 1e-5,
    entry: str = "main",
    seconds: float = PATIENCE,
    on_progress: Progress | None = None,
) -> Reduction:
    """Cut a module that `compare` finds not good down to the smallest that still fails.

    Arguments are as for `compare`. Intermediate values become arguments, with what the reference
    judge made of them: mostly one op remains. A smaller module counts where the two judges that
    differ can both run it and differ beyond `tolerance`; a refusal is not a difference. The search
    is deterministic; after `seconds` it gives the smallest found so far. `on_progress` is called
    with a line of text after each attempt. The module itself is left as it is.

    Raises `Fp8Error` where the judges agree, or fewer than two can run the module.
    """
    arrays = tuple(as_arrays(arrays))
    module = with_sizes_of(loaded(module), entry, arrays)
    verdict = compare(module, *arrays, judges=judges, tolerance=tolerance, entry=entry)
    say = callers_own(on_progress)
    return cut_down(
        module,
        arrays,
        verdict,
        tolerance=tolerance,
        entry=entry,
        seconds=seconds,
        say=say,
    )


def cut_down(
    module: ir.Module,
    arrays: Sequence[Any],
    verdict: Verdict,
    *,
    tolerance: float,
    entry: str,
    seconds: float = PATIENCE,
    say: Progress | None = None,
) -> Reduction:
    """As `reduce`, given what `compare` says of the module."""
    pair = _failing_pair(verdict, tolerance)
    takes, _ = entry_signature(module, entry)
    inputs = [
        argument_array(index, spec, array)
        for index, (spec, array) in enumerate(zip(takes, arrays, strict=True))
    ]
    whole = only_entry(module, entry, inputs)
    trials = Trials(pair, tolerance, time.monotonic() + seconds, say or (lambda _: None))
    smallest = _smallest(whole, trials)
    final = compare(smallest.module, *smallest.arrays, judges=pair, tolerance=tolerance)
    return Reduction(smallest.module, smallest.arrays, final, whole.size, smallest.size)


def _failing_pair(verdict: Verdict, tolerance: float) -> tuple[str, str]:
    """The reference and the first judge that differs from it; an `Fp8Error` where none does."""
    if not verdict.is_comparison:
        reasons = [f"{each.judge}: {each.refusal}" for each in verdict.opinions if each.refusal]
        raise Fp8Error(f"fewer than two judges can run it: nothing to reduce ({reasons[0]})")
    if verdict.is_good:
        raise Fp8Error(f"the judges agree within {tolerance:g}: nothing to reduce")
    return verdict.reference, next(each.judge for each in verdict.agreements if not each.is_good)


def _smallest(program: Program, trials: Trials) -> Program:
    inlined = without_calls(program)
    if trials.fails(inlined):
        program = inlined
    program = _with_one_result(program, trials)
    program = _with_fewest_ops(program, trials)
    while inner := opened(program, trials):
        program = _with_fewest_ops(_with_one_result(inner, trials), trials)
    program = _with_one_result(program, trials)
    program = _with_arguments(program, trials)
    program = with_smaller_regions(program, trials)
    return with_smaller_shapes(program, trials)


def _with_one_result(program: Program, trials: Trials) -> Program:
    """The first result that fails alone."""
    count = len(list(program.body.operations)[-1].operands)
    if count < 2:
        return program
    alone = (with_results(program, [position]) for position in range(count))
    return next((each for each in alone if each and trials.fails(each)), program)


def _with_fewest_ops(program: Program, trials: Trials) -> Program:
    """The first op that fails alone on what the reference gives it, else the fewest ops that do."""
    if len(program.ops) < 2:
        return program
    values, differing = trials.values(program)
    for number, _ in trials.alone(program, values):
        alone = kept_ops(program, [number], values)
        if alone is not None and trials.fails(alone):
            return alone
    everything = tuple(range(len(program.ops)))
    numbers = sorted({number for number, _ in differing})
    slices = (tuple(sorted(_needed(program, number))) for number in numbers)
    start = next(
        (each for each in slices if trials.fails(kept_ops(program, each, values))), everything
    )
    kept = minimized(start, lambda part: trials.fails(kept_ops(program, part, values)))
    smaller = kept_ops(program, kept, values)
    return program if smaller is None or kept == everything else smaller


def _needed(program: Program, number: int) -> set[int]:
    """The numbers of the op and of all that it is made of."""
    numbers = {op: index for index, op in enumerate(program.ops)}
    found: set[int] = set()
    pending = [number]
    while pending:
        current = pending.pop()
        if current in found:
            continue
        found.add(current)
        pending += [numbers[each] for each in _makers(program.ops[current]) if each in numbers]
    return found


def _makers(op: ir.Operation) -> list[ir.Operation]:
    """The ops that make its operands, and those of the ops in its regions."""
    inner = [each.operation for region in op.regions for block in region.blocks
             for each in block.operations]  # fmt: skip
    own = [value.owner.operation for value in op.operands if not isinstance(value.owner, ir.Block)]
    return own + [maker for each in inner for maker in _makers(each)]


def _with_arguments(program: Program, trials: Trials) -> Program:
    """Arguments in place of operands, one after the other, as long as it fails."""
    if len(program.ops) < 2:
        return program
    values, _ = trials.values(program)
    for number in range(len(program.ops)):
        for operand in range(len(program.ops[number].operands)):
            smaller = with_argument(program, number, operand, values)
            if smaller is not None and trials.fails(smaller):
                return _with_arguments(smaller, trials)
    return program
