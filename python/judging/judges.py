"""Engines that run one module, and how far apart their results are."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import TensorSpec, spell
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling import compilation
from mlir_fp8.compiling.compiled_module import argument_array
from mlir_fp8.compiling.entry import entry_signature
from mlir_fp8.compiling.shapes import with_sizes_of
from mlir_fp8.failures.internal_error import public
from mlir_fp8.judging.comparison import Difference, first_other, max_ulp
from mlir_fp8.judging.comparison import compare as compare_arrays
from mlir_fp8.judging.interpretation import interpret
from mlir_fp8.judging.judge_names import XLA, are_judges
from mlir_fp8.judging.xla_judge import PATIENCE, run_in_xla
from mlir_fp8.reading.loader import loaded
from mlir_fp8.simulation.grid import has_parts, of_devices, several_devices
from mlir_fp8.tensors.foreign import as_arrays

Engine = Callable[[ir.Module, Sequence[np.ndarray], str], tuple[np.ndarray, ...]]


def _compiled(module: ir.Module, arrays: Sequence[np.ndarray], entry: str) -> tuple[Any, ...]:
    grid = several_devices(module)
    if grid is not None and has_parts(module):
        return compilation.compile(module, entry=entry, simulate_devices=grid)(*arrays)
    return compilation.compile(module, entry=entry, cache=False)(*arrays)


def _interpreted(module: ir.Module, arrays: Sequence[np.ndarray], entry: str) -> tuple[Any, ...]:
    if several_devices(module) is not None and has_parts(module):
        raise Fp8Error("the interpreter runs programs of one device: simulate them (llvm)")
    return interpret(module, *arrays, entry=entry, seconds=PATIENCE)


ENGINES: dict[str, Engine] = {"llvm": _compiled, "interpreter": _interpreted, "xla": run_in_xla}
"""Results of an entry on arrays, by the judge's name; an `Fp8Error` where it cannot run it.

Beside these, `xla-gpu`, `xla-gpu:1` and so on are XLA on that device.
"""


@dataclass(frozen=True)
class Opinion:
    """What one judge gave: `results`, or the `refusal` that says in one line why there are none."""

    judge: str
    results: tuple[np.ndarray, ...] | None
    refusal: str | None
    seconds: float


@dataclass(frozen=True)
class Agreement:
    """How far one result of `judge` is from the reference's."""

    index: int
    spec: TensorSpec
    judge: str
    max_ulp: float
    """Steps between numbers of the declared type; for integers the difference. Zeros of both signs
    are 0 apart, as are two NaNs; elsewhere NaN and infinity are infinitely far from anything."""
    relative: float
    """Relative L2 distance, in f64."""
    identical: float
    """The share of equal bits."""
    first: Difference | None
    """The first element beyond the tolerance in a result that is not good, else the first whose
    bits differ, but for NaNs; `want` is the reference's."""
    is_good: bool


@dataclass(frozen=True)
class Verdict:
    """`reference` is the first judge that could run the module: the others are compared with it."""

    reference: str
    opinions: tuple[Opinion, ...]
    agreements: tuple[Agreement, ...]

    @property
    def is_comparison(self) -> bool:
        """Whether two judges at least could run the module."""
        return sum(opinion.results is not None for opinion in self.opinions) > 1

    @property
    def is_good(self) -> bool:
        """Whether there is a comparison, in which every result is within the tolerance."""
        return self.is_comparison and all(each.is_good for each in self.agreements)


@public
def compare(
    module: ir.Module | str | Path | bytes,
    *arrays: Any,
    judges: Sequence[str] = tuple(ENGINES),
    tolerance: float = 1e-5,
    entry: str = "main",
) -> Verdict:
    """Run `entry` on `arrays` by each of `judges`, and compare the results with the first one's.

    `llvm` is `mlir_fp8.compile`, `interpreter` is `mlir_fp8.interpret`, `xla` is XLA:CPU through
    jax without excess precision, `xla-gpu` (or `xla-gpu:1`) the same on a GPU. `module` and
    `arrays` are what `mlir_fp8.compile` and its result take; results are numpy arrays. A result is
    good where its relative L2 distance is within `tolerance`; integers and booleans must be equal.
    A judge that cannot run the module has a refusal in `opinions`; what no judge could run, such as
    arrays of another type, is an `Fp8Error`. A module for several devices (`mhlo.num_partitions`)
    runs on as many by `xla`, and by `llvm` on simulated ones where it says parts itself, else on
    one.
    """
    if not are_judges(judges):
        known = ", ".join(ENGINES)
        raise Fp8Error(f"judges are {tuple(judges)}: name two or more of {known}, xla-gpu")
    arrays = tuple(as_arrays(arrays))
    module = with_sizes_of(loaded(module), entry, arrays)
    takes, gives = entry_signature(module, entry)
    if (grid := several_devices(module)) is not None:
        takes, gives = of_devices(module, grid[0] * grid[1], takes, gives)
    if len(arrays) != len(takes):
        raise Fp8Error(f"'{entry}' takes {len(takes)} arguments, {len(arrays)} were given")
    inputs = [
        argument_array(index, spec, array)
        for index, (spec, array) in enumerate(zip(takes, arrays, strict=True))
    ]
    opinions = tuple(_opinion(judge, module, inputs, entry, gives) for judge in judges)
    heard = [(each.judge, each.results) for each in opinions if each.results is not None]
    if not heard:
        return Verdict(judges[0], opinions, ())
    (reference, wanted), others = heard[0], heard[1:]
    agreements = tuple(
        _agreement(index, spec, judge, results[index], wanted[index], tolerance)
        for index, spec in enumerate(gives)
        for judge, results in others
    )
    return Verdict(reference, opinions, agreements)


def run_by(
    judge: str,
    module: ir.Module,
    arrays: Sequence[np.ndarray],
    entry: str,
    specs: Sequence[TensorSpec],
) -> tuple[np.ndarray, ...]:
    """The results of `entry` by one judge, of the types that `specs` declare."""
    results = _engine(judge)(module, arrays, entry)
    if len(results) != len(specs):
        raise Fp8Error(f"{judge} gave {len(results)} results, declared are {len(specs)}")
    for index, (spec, array) in enumerate(zip(specs, results, strict=True)):
        if array.dtype != spec.dtype or array.shape != spec.shape:
            raise Fp8Error(f"{judge} gave result {index} as {spell(array)}, declared {spec}")
    return results


def _engine(judge: str) -> Engine:
    if judge in ENGINES:
        return ENGINES[judge]
    device = judge.removeprefix(XLA)

    def run(module: ir.Module, arrays: Sequence[np.ndarray], entry: str) -> tuple[np.ndarray, ...]:
        return run_in_xla(module, arrays, entry, device=device)

    return run


def _opinion(
    judge: str,
    module: ir.Module,
    arrays: Sequence[np.ndarray],
    entry: str,
    specs: Sequence[TensorSpec],
) -> Opinion:
    started = time.perf_counter()
    results, refusal = None, None
    try:
        results = run_by(judge, module, arrays, entry, specs)
    except Fp8Error as error:
        refusal = str(error).splitlines()[0]
    return Opinion(judge, results, refusal, time.perf_counter() - started)


def _agreement(
    index: int,
    spec: TensorSpec,
    judge: str,
    got: np.ndarray,
    want: np.ndarray,
    tolerance: float,
) -> Agreement:
    comparison = compare_arrays(got, want, tolerance)
    return Agreement(
        index,
        spec,
        judge,
        max_ulp(got, want, spec.element),
        comparison.relative,
        comparison.identical,
        comparison.first or first_other(got, want),
        comparison.is_good,
    )
