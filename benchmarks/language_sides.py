"""Who runs a language model with a KV cache: ours and peers, for the suite `inference`."""

import functools
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bars import EAGER, INDUCTOR, WEIGHT_ONLY
from benchmarks.cases import OURS
from benchmarks.peers import module
from benchmarks.plan import Plan

EXAMPLES = Path(__file__).parent.parent / "examples"
VARIANTS = {OURS: "f32", WEIGHT_ONLY: "weight-only", f"{OURS}, static": "static",
            f"{OURS}, f8 cache": "f8-cache"}  # fmt: skip


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


def example(name: str) -> Any:
    """A module of examples/."""
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    return module(name)


def makers(work: Work, wide: Mapping[str, np.ndarray], plan: Plan) -> dict[str, Callable[[], Side]]:
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
    models = example("quantized_models")
    variant = VARIANTS[name]
    quantizing = models.Quantizing(work.model, variant, _static(work, variant))
    counts, is_f8 = (len(work.prompt), 1), quantizing.has_f8_cache
    module_of = example("language_models").module_of
    modules = [module_of(work.model.sizes, n, work.context) for n in counts]
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
    models, sizes, count = example("quantized_models"), work.model.sizes, len(work.prompt)
    cache = models.empty_cache(sizes, count, is_f8=False)
    made = example("language_models").module_of(sizes, count, count)
    return models.calibrated(work.model, made, [[work.prompt, np.int32(0), *cache]])


def _xla(work: Work, wide: Mapping[str, np.ndarray]) -> Side:
    from benchmarks.peers import xla_cpu

    texts, empty = texts_of(work), empty_cache(work)
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

    engine, cache = iree_cpu.engine(work.threads), empty_cache(work)
    weights = [wide[name] for name in sorted(wide)]
    started = time.perf_counter()
    codes = [engine.compile(text) for text in texts_of(work)]
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


def texts_of(work: Work) -> list[str]:
    text_of = example("language_models").text_of
    return [text_of(work.model.sizes, count, work.context) for count in (len(work.prompt), 1)]


def empty_cache(work: Work) -> Sequence[np.ndarray]:
    empty = example("quantized_models").empty_cache
    return empty(work.model.sizes, work.context, is_f8=False)


def _inputs(work: Work) -> list[list[np.ndarray]]:
    """Tokens and place of the prefill, and of the decode step."""
    places = [np.array(at, np.int32) for at in (0, len(work.prompt))]
    return [[work.prompt, places[0]], [work.prompt[:1].copy(), places[1]]]
