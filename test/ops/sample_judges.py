"""Cases by native code and by the judges, many at once, each with an opinion of its own."""

import io
import json
import re
from collections.abc import Callable, Sequence

import numpy as np
from sample_arguments import arguments
from sample_groups import Case, Group, spec_of
from sample_references import reference

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import restored, stored
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import CrashError, call_isolated
from mlir_fp8.dialects.float_formats import NARROW_FLOATS
from mlir_fp8.judging import judges
from mlir_fp8.passes.pass_pipeline import run_pipeline

Results = tuple[np.ndarray, ...]
Opinions = dict[Case, Results | str]
"""What a case gave, or in one line why it gave nothing."""

NUMPY, INTERPRETER, XLA = "numpy", "interpreter", "xla"
CRASH = "crash: "
ASKED_OF_XLA = frozenset(
    [
        *("", "i1", "i8", "i32", "ui8", "ui32", "f4E2M1FN", "f8E4M3FN", "f8E5M2", "f8E8M0FNU"),
        *("bf16", "f16", "f32", "f64", "complex<f32>", "complex<f64>"),
    ]
)
"""One type of each class, or two, where others judge all: XLA compiles for long."""
_SECONDS = 120.0
_PLACE = re.compile(r"(?:<module>|<text>|-):(\d+):\d+: ")
_RULES = (
    "stablehlo-rng-expander",
    "accumulate-in-f32",
    "float-normalization",
    "chlo-broadcast-select-expander",
    "func.func(chlo-legalize-to-stablehlo)",
    "accumulate-in-f32",
    "float-normalization",
)
"""The rules for narrow floats and for `rng`, with CHLO as StableHLO's own library decomposes it."""


def native(cases: Sequence[Case]) -> Opinions:
    """By `mlir_fp8.compile` in a child process, so that a crash is an opinion too."""
    if not cases:
        return {}
    try:
        return _unpacked(cases, call_isolated(lambda: _packed(cases), seconds=_SECONDS))
    except Fp8Error as error:
        if len(cases) > 1:
            half = len(cases) // 2
            return native(cases[:half]) | native(cases[half:])
        crash = CRASH if isinstance(error, CrashError) else ""
        return {cases[0]: crash + message(error)}


def _packed(cases: Sequence[Case]) -> bytes:
    opinions = sifted(cases, lambda group: mlir_fp8.compile(group.text)(*_arrays(group)))
    refused = [each if isinstance(each, str) else None for each in map(opinions.get, cases)]
    named = dict(
        stored(f"{index}_{place}", array)
        for index, case in enumerate(cases)
        if not isinstance(results := opinions[case], str)
        for place, array in enumerate(results)
    )
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, refused=np.array(json.dumps(refused)), **named)
    return file.getvalue()


def _unpacked(cases: Sequence[Case], data: bytes) -> Opinions:
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        refused = json.loads(str(archive["refused"]))
        arrays = dict(
            restored({name: archive[name] for name in archive.files if name != "refused"})
        )
    return {
        case: tuple(arrays[f"{index}_{i}"] for i in range(len(case.result_types)))
        if refused[index] is None
        else refused[index]
        for index, case in enumerate(cases)
    }


def _arrays(group: Group) -> list[np.ndarray]:
    return [array for case in group.cases for array in arguments(case)]


def sifted(cases: Sequence[Case], run: Callable[[Group], Sequence[np.ndarray]]) -> Opinions:
    """What `run` gives for a group of all cases, but for those that it refuses."""
    if not cases:
        return {}
    group = Group(tuple(cases))
    try:
        return dict(zip(cases, group.split(run(group)), strict=True))
    except Fp8Error as error:
        if len(cases) == 1:
            return {cases[0]: message(error)}
        place = _PLACE.match(str(error))
        refused = None if place is None else group.case_at(int(place.group(1)))
        if refused is not None:
            left = [case for case in cases if case != refused]
            return {refused: message(error)} | sifted(left, run)
        half = len(cases) // 2
        return sifted(cases[:half], run) | sifted(cases[half:], run)


def message(error: Fp8Error) -> str:
    """The first line without the place."""
    return _PLACE.sub("", str(error).splitlines()[0])


def judged(judge: str, cases: Sequence[Case]) -> Opinions:
    """By a judge; modules say how narrow floats and `rng` compute before others get them."""
    if judge == NUMPY:
        given = {case: reference(case, arguments(case)) for case in cases}
        return {case: "no reference" if found is None else found for case, found in given.items()}

    def run(group: Group) -> Sequence[np.ndarray]:
        module = mlir_fp8.load(group.text)
        if any(_is_written_out(case) for case in group.cases):
            run_pipeline(module, [*_RULES])
        return judges.run_by(judge, module, _arrays(group), "main", group.specs)

    if judge == XLA and any(map(_is_signed_bits, cases)):
        return _from_unsigned(judge, cases)
    plain = [case for case in cases if not _is_written_out(case)]
    written_out = [case for case in cases if _is_written_out(case)]
    return sifted(plain, run) | sifted(written_out, run)


def _is_signed_bits(case: Case) -> bool:
    return case.sample.op == "stablehlo.rng_bit_generator" and case.element.startswith("i")


def _from_unsigned(judge: str, cases: Sequence[Case]) -> Opinions:
    """Random bits as signed integers, which XLA refuses, are the same bits as unsigned ones."""
    twins = {case: Case(case.sample, f"u{case.element.lstrip('u')}") for case in cases}
    opinions = judged(judge, list(dict.fromkeys(twins.values())))
    found: Opinions = {}
    for case, twin in twins.items():
        opinion = opinions[twin]
        if not isinstance(opinion, str):
            types = [spec_of(type_).dtype for type_ in case.result_types]
            opinion = tuple(map(np.ndarray.view, opinion, types))
        found[case] = opinion
    return found


def _is_written_out(case: Case) -> bool:
    names = ("chlo.", "stablehlo.rng ", *NARROW_FLOATS)
    return any(name in case.text for name in names)
