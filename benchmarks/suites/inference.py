"""GPT-2 small and a Llama of 1B with a KV cache: prefill, decode steps, compile time, bytes.

The models, and ours in f32 and FP8, are those of examples/generate.py, of random weights. A decode
step is of the token after the prompt. Whoever can writes its cache in place; IREE makes a new one.
"""

import functools
import itertools
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.bars import COMPILING, DECODE, LLAMA, PREFILL, READ, WEIGHT_ONLY
from benchmarks.cases import OURS, Case, Check, Contender, WrongValueError, checks_itself, refusing
from benchmarks.language_sides import (
    VARIANTS,
    Side,
    Work,
    empty_cache,
    example,
    makers,
    texts_of,
)
from benchmarks.peers import module
from benchmarks.plan import Plan
from benchmarks.values import distance, near

ROUNDS = (3, 25)
EXACT, LOSSY = 1e-4, 0.2
"""Relative L2 to ours in f32, of the logits: of f32, and of FP8."""


def cases(plan: Plan) -> Iterator[Case]:
    work = _work("gpt2", plan)
    if work is None:
        print("inference is skipped: jax not installed, which writes its models")
        return
    yield from _steps(work, plan)
    yield _compiling(work, plan)
    llama = _work("llama-1b", plan)
    assert llama is not None
    yield _decode_beside_a_read(llama)


def _work(name: str, plan: Plan) -> Work | None:
    try:
        module("jax")
    except ImportError:
        return None
    sizes = example("language_models").MODELS[name]
    if plan.quick:
        tiny = {"layers": 2, "width": 64, "heads": 4, "kv_heads": 4, "inner": 96, "head": 16}
        sizes = replace(sizes, vocabulary=128, **tiny)
    model = example("quantized_models").Model(sizes, example("model_weights").RandomWeights(sizes))
    count = 8 if plan.quick else 128
    prompt = np.random.default_rng(0).integers(0, sizes.vocabulary, count, np.int32)
    return Work(model, prompt, plan.threads[-1], plan.quick)


def _steps(work: Work, plan: Plan) -> Iterator[Case]:
    """Prefill and decode of all sides, which are made once for both."""
    wide = dict(work.model.weights)
    sides: dict[str, Side | str] = {}
    for name, make in makers(work, wide, plan).items():
        try:
            sides[name] = make()
        except Exception as error:  # peers raise whatever they please
            if name in VARIANTS:
                raise
            sides[name] = str(error)
    for side in sides.values():
        if isinstance(side, Side):
            side.prefill()  # what a decode step attends to
    ours = sides[OURS]
    assert isinstance(ours, Side)
    want = ours.prefill().copy(), ours.decode().copy()
    in_turn = [WEIGHT_ONLY, *(name for name in sides if name != WEIGHT_ONLY)]
    for number, (case, names) in enumerate(((PREFILL, list(sides)), (DECODE, in_turn))):
        contenders: list[Contender] = []
        for name in names:
            side = sides[name]
            if isinstance(side, str):
                contenders.append(refusing(name, work.threads, side))
                continue
            run = (side.prefill, side.decode)[number]
            check = _checking(want[number], side, is_lossy=name in VARIANTS and name != OURS)
            contenders.append(Contender(name, run, check, work.threads))
        yield Case(work.titled(case), tuple(contenders), rounds=ROUNDS, starts_processes=True)


def _checking(want: np.ndarray, side: Side, *, is_lossy: bool) -> Check:
    strict = near([want], LOSSY if is_lossy else EXACT, is_strict=side.name != "IREE")

    def check(got: np.ndarray) -> Mapping[str, float]:
        found = np.asarray(got)
        off = {"SQNR dB": -20 * float(np.log10(distance(found, want)))} if is_lossy else {}
        return {**side.notes, **strict([found]), **off}

    return check


def _compiling(work: Work, plan: Plan) -> Case:
    """The prefill, from text to a program that runs."""
    import mlir_fp8

    count, sizes = len(work.prompt), work.model.sizes
    text, threads = texts_of(work)[0], work.threads

    def ours() -> Any:
        return mlir_fp8.compile(text, threads=threads, cache=False)

    def weight_only() -> Any:
        models = example("quantized_models")
        named = example("language_models").module_of(sizes, count, work.context)
        made = models.Quantizing(work.model, "weight-only").made(named)
        return mlir_fp8.compile(made.module, threads=threads, cache=False)

    contenders = [
        Contender(name, run, checks_itself, threads)
        for name, run in ((OURS, ours), (WEIGHT_ONLY, weight_only))
    ]
    if "xla" in plan.peers:
        from benchmarks.peers import xla_cpu

        compile_ = functools.partial(xla_cpu.compile_, text, threads)
        contenders.append(Contender("XLA:CPU", compile_, checks_itself, threads))
    return Case(work.titled(COMPILING), tuple(contenders), rounds=(1, 3), starts_processes=True)


def _decode_beside_a_read(work: Work) -> Case:
    """Of f8 weights, which are all of what is read but for the cache."""
    models, sizes = example("quantized_models"), work.model.sizes
    quantizing = models.Quantizing(work.model, "weight-only")
    made = example("language_models").module_of(sizes, 1, work.context)
    arrays = quantizing.arrays(made)
    started = time.perf_counter()
    program = quantizing.program(
        made, arrays, 1, empty_cache(work), threads=work.threads, cache=False
    )
    notes = {
        "compile s": time.perf_counter() - started,
        "weights MB": sum(each.nbytes for each in arrays.values()) / 1e6,
    }
    pool = ThreadPoolExecutor(work.threads)
    bytes_ = [each.reshape(-1).view(np.uint8) for each in arrays.values()]
    parts = list(
        itertools.chain.from_iterable(np.array_split(each, work.threads) for each in bytes_)
    )

    def read() -> int:
        return max(pool.map(lambda part: int(part.max(initial=0)), parts))

    def decode() -> np.ndarray:
        return program.logits(work.prompt[:1], len(work.prompt))

    def check(logits: np.ndarray) -> Mapping[str, float]:
        if not np.isfinite(logits).all():
            raise WrongValueError("logits that are no numbers")
        return notes

    contenders = (
        Contender(WEIGHT_ONLY, decode, check, work.threads),
        Contender(READ, read, checks_itself, work.threads),
    )
    return Case(work.titled(LLAMA), contenders, rounds=(3, 10))
