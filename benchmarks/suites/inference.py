"""GPT-2 small and a Llama of 1B with a KV cache: prefill, decode steps, compile time, bytes.

The models, and ours in f32 and FP8, are those of examples/generate.py, of random weights. A decode
step is of the token after the prompt. Whoever can writes its cache in place; IREE makes a new one.
"""

import functools
import itertools
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bars import COMPILING, DECODE, EAGER, INDUCTOR, LLAMA, PREFILL, READ, WEIGHT_ONLY
from benchmarks.cases import OURS, Case, Check, Contender, WrongValueError, checks_itself, refusing
from benchmarks.peers import module
from benchmarks.plan import Plan
from benchmarks.values import distance, near

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
VARIANTS = {OURS: "f32", WEIGHT_ONLY: "weight-only", f"{OURS}, static": "static",
            f"{OURS}, f8 cache": "f8-cache"}  # fmt: skip
ROUNDS = (3, 25)
EXACT, LOSSY = 1e-4, 0.2
"""Relative L2 to ours in f32, of the logits: of f32, and of FP8."""


@dataclass
class Side:
    """Who runs a model: its logits of the prompt's last token, and of the token after it."""

    name: str
    prefill: Callable[[], np.ndarray]
    decode: Callable[[], np.ndarray]
    notes: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Work:
    """A model and its prompt."""

    model: Any
    prompt: np.ndarray
    threads: int
    is_tiny: bool

    def titled(self, case: str) -> str:
        """The name of a case: bars are of real sizes."""
        return f"tiny {case}" if self.is_tiny else case

    @property
    def context(self) -> int:
        """The tokens of the cache."""
        return 2 * len(self.prompt)


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


def _example(name: str) -> Any:
    """A module of examples/."""
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    return module(name)


def _work(name: str, plan: Plan) -> Work | None:
    try:
        module("jax")
    except ImportError:
        return None
    sizes = _example("language_models").MODELS[name]
    if plan.quick:
        tiny = {"layers": 2, "width": 64, "heads": 4, "kv_heads": 4, "inner": 96, "head": 16}
        sizes = replace(sizes, vocabulary=128, **tiny)
    model = _example("quantized_models").Model(
        sizes, _example("model_weights").RandomWeights(sizes)
    )
    count = 8 if plan.quick else 128
    prompt = np.random.default_rng(0).integers(0, sizes.vocabulary, count, np.int32)
    return Work(model, prompt, plan.threads[-1], plan.quick)


def _steps(work: Work, plan: Plan) -> Iterator[Case]:
    """Prefill and decode of all sides, which are made once for both."""
    wide = dict(work.model.weights)
    sides: dict[str, Side | str] = {}
    for name, make in _makers(work, wide, plan).items():
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


def _makers(
    work: Work, wide: Mapping[str, np.ndarray], plan: Plan
) -> dict[str, Callable[[], Side]]:
    made: dict[str, Callable[[], Side]] = {
        name: functools.partial(_ours, work, name) for name in VARIANTS
    }
    if "xla" in plan.peers:
        made["XLA:CPU"] = lambda: _xla(work, wide)
    if "iree" in plan.peers:
        made["IREE"] = lambda: _iree(work, wide)
    if "torch" in plan.peers:
        made[EAGER] = lambda: _torch(work, wide, is_compiled=False)
    if "inductor" in plan.peers and not plan.quick:
        made[INDUCTOR] = lambda: _torch(work, wide, is_compiled=True)
    return made


def _ours(work: Work, name: str) -> Side:
    models = _example("quantized_models")
    variant = VARIANTS[name]
    quantizing = models.Quantizing(work.model, variant, _static(work, variant))
    counts, is_f8 = (len(work.prompt), 1), quantizing.has_f8_cache
    module_of = _example("language_models").module_of
    modules = [module_of(work.model.sizes, n, work.context, is_f8=is_f8) for n in counts]
    arrays = quantizing.arrays(modules[0])
    cache = models.empty_cache(work.model.sizes, work.context, is_f8=is_f8)
    started = time.perf_counter()
    prefill, decode = (
        quantizing.program(each, arrays, count, cache, threads=work.threads, cache=False)
        for each, count in zip(modules, counts, strict=True)
    )
    notes = {
        "compile s": time.perf_counter() - started,
        "weights MB": sum(each.nbytes for each in arrays.values()) / 1e6,
        "cache MB": sum(each.nbytes for each in cache) / 1e6,
    }
    prompt = work.prompt
    return Side(
        name,
        lambda: prefill.logits(prompt, 0),
        lambda: decode.logits(prompt[:1], len(prompt)),
        notes,
    )


def _static(work: Work, variant: str) -> Any:
    if variant != "static":
        return None
    models, sizes, count = _example("quantized_models"), work.model.sizes, len(work.prompt)
    cache = models.empty_cache(sizes, count, is_f8=False)
    made = _example("language_models").module_of(sizes, count, count)
    return models.calibrated(work.model, made, [[work.prompt, np.int32(0), *cache]])


def _xla(work: Work, wide: Mapping[str, np.ndarray]) -> Side:
    from benchmarks.peers import xla_cpu

    texts, empty = _texts(work), _cache(work)
    started = time.perf_counter()
    executables = [xla_cpu.compile_(text, work.threads) for text in texts]
    notes = {"compile s": time.perf_counter() - started}
    weights = xla_cpu.placed([wide[name] for name in sorted(wide)], work.threads)
    held = xla_cpu.placed(empty, work.threads)
    inputs = [xla_cpu.placed(each, work.threads) for each in _inputs(work)]

    def run(number: int) -> Any:
        """The cache is donated: each call's is the last one's result."""
        found = executables[number].execute_sharded([*weights, *inputs[number], *held])
        logits, *held[:] = (
            part[0].block_until_ready() for part in found.disassemble_into_single_device_arrays()
        )
        return logits

    return Side("XLA:CPU", lambda: run(0), lambda: run(1), notes)


def _iree(work: Work, wide: Mapping[str, np.ndarray]) -> Side:
    from benchmarks.peers import iree_cpu

    engine, cache = iree_cpu.engine(work.threads), _cache(work)
    weights = [wide[name] for name in sorted(wide)]
    started = time.perf_counter()
    codes = [engine.compile(text) for text in _texts(work)]
    notes = {"compile s": time.perf_counter() - started}
    first, second = _inputs(work)
    prefill = engine.bind(codes[0], [*weights, *first, *cache])
    filled = prefill.results(prefill.run())[1:]
    decode = engine.bind(codes[1], [*weights, *second, *filled])
    return Side(
        "IREE",
        lambda: prefill.results(prefill.run())[0],
        lambda: decode.results(decode.run())[0],
        notes,
    )


def _torch(work: Work, wide: Mapping[str, np.ndarray], *, is_compiled: bool) -> Side:
    from benchmarks.peers import torch_cpu, torch_gpt2

    torch = module("torch")
    torch.set_num_threads(work.threads)
    step = torch_gpt2.step_of(work.model.sizes, wide, work.context)
    prompt = torch.from_numpy(work.prompt.astype(np.int64))
    notes: dict[str, float] = {}
    if is_compiled:
        if shutil.which("g++") is None:
            raise RuntimeError("no C++ compiler")
        step = torch.compile(step, dynamic=False)

    def run(tokens: Any, at: int) -> Any:
        with torch.inference_mode():
            return step(tokens, at)

    name = INDUCTOR if is_compiled else EAGER
    both = [(prompt, 0), (prompt[:1], len(prompt))]
    started = time.perf_counter()
    for each in both:
        run(*each)
    if is_compiled:
        notes["compile s"] = time.perf_counter() - started
    prefill, decode = (
        torch_cpu.on_threads(work.threads, functools.partial(run, *each)) for each in both
    )
    return Side(name, prefill, decode, notes)


def _texts(work: Work) -> list[str]:
    text_of = _example("language_models").text_of
    return [text_of(work.model.sizes, count, work.context) for count in (len(work.prompt), 1)]


def _cache(work: Work) -> Sequence[np.ndarray]:
    empty = _example("quantized_models").empty_cache
    return empty(work.model.sizes, work.context, is_f8=False)


def _inputs(work: Work) -> list[list[np.ndarray]]:
    """Tokens and place of the prefill, and of the decode step."""
    places = [np.array(at, np.int32) for at in (0, len(work.prompt))]
    return [[work.prompt, places[0]], [work.prompt[:1].copy(), places[1]]]


def _compiling(work: Work, plan: Plan) -> Case:
    """The prefill, from text to a program that runs."""
    import mlir_fp8

    count, sizes = len(work.prompt), work.model.sizes
    text, threads = _texts(work)[0], work.threads

    def ours() -> Any:
        return mlir_fp8.compile(text, threads=threads, cache=False)

    def weight_only() -> Any:
        models = _example("quantized_models")
        named = _example("language_models").module_of(sizes, count, work.context)
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
    models, sizes = _example("quantized_models"), work.model.sizes
    quantizing = models.Quantizing(work.model, "weight-only")
    made = _example("language_models").module_of(sizes, 1, work.context)
    arrays = quantizing.arrays(made)
    started = time.perf_counter()
    program = quantizing.program(made, arrays, 1, _cache(work), threads=work.threads, cache=False)
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
