"""One program by native code and the other judges."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from compared import first_difference
from mixed import in_stablehlo
from program import Program
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import restored, stored
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import call_isolated
from mlir_fp8.compiling.entry import copy_of
from mlir_fp8.judging import judges
from mlir_fp8.passes.pass_pipeline import run_pipeline

_SECONDS = 60.0
_RULES = (
    "accumulate-in-f32",
    "float-normalization",
    "func.func(chlo-legalize-to-stablehlo)",
    "accumulate-in-f32",
    "float-normalization",
)
"""The rules for narrow floats, with CHLO decomposed as StableHLO's own library does it."""

Results = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Difference:
    """Where a judge's result is not that of native code."""

    judge: str
    result: int
    what: str


@dataclass(frozen=True)
class Opinion:
    """A judge's results or why there are none."""

    results: Results | None
    refusal: str = ""


def native(program: Program) -> Opinion:
    """By `mlir_fp8.compile` in a child process, so that a crash is an opinion too."""
    return _opinion(lambda: _isolated(program))


def _isolated(program: Program) -> Results:
    def work() -> bytes:
        results = mlir_fp8.compile(program.text)(*program.arrays)
        file = io.BytesIO()
        named = dict(stored(f"res{i}", each) for i, each in enumerate(results))
        np.savez(file, allow_pickle=False, **named)
        return file.getvalue()

    with np.load(io.BytesIO(call_isolated(work, seconds=_SECONDS)), allow_pickle=False) as archive:
        return tuple(array for _, array in restored(archive))


def is_written_out(judge: str, program: Program) -> bool:
    """Whether `judge` cannot take the program as it is: the interpreter has no CHLO."""
    return judge == "interpreter" and '"chlo.' in program.text


def other(judge: str, program: Program, *, written_out: bool | None = None) -> Opinion:
    """By another judge: as the program is, or after the rules for narrow floats.

    Ops of arith are handed to it as those of StableHLO that mean the same.
    """
    if written_out is None:
        written_out = is_written_out(judge, program)

    def run() -> Results:
        module = mlir_fp8.load(in_stablehlo(program.text))
        if written_out:
            module = normalized(module)
        return judges.run_by(judge, module, program.arrays, "main", program.specs)

    return _opinion(run)


def normalized(module: ir.Module) -> ir.Module:
    """A copy after the rules for narrow floats."""
    copy = copy_of(module)
    run_pipeline(copy, list(_RULES))
    return copy


def _opinion(run) -> Opinion:
    try:
        return Opinion(run())
    except Fp8Error as error:
        return Opinion(None, str(error).splitlines()[0])


def differences(program: Program, judge: str, ours: Results, theirs: Results) -> list[Difference]:
    """The results of `program` that differ beyond what their check allows."""
    found: list[Difference] = []
    for index, value in enumerate(program.results):
        spec, check = value.spec, value.check
        place = first_difference(ours[index], theirs[index], spec, check)
        if place is not None:
            ours_at, theirs_at = (_shown(each[index], place) for each in (ours, theirs))
            what = f"{spec} ({check}) at {list(place)}: llvm {ours_at}, {judge} {theirs_at}"
            found.append(Difference(judge, index, what))
    return found


def _shown(array: np.ndarray, place: Sequence[int]) -> str:
    element = array[tuple(place)]
    return f"{element} (0x{np.asarray(element).tobytes()[::-1].hex()})"
