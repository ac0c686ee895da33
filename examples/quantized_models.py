"""A language model made a variant: f32, FP8 weights, static FP8, an f8 cache, or a checkpoint's."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from language_models import Sizes, cache_of, module_of
from model_weights import ignored, model_name
from torch_mlir import ir
from train_fp8 import progress

import mlir_fp8

WEIGHTS = "*.weight"
CACHES = ("k.*", "v.*")
VARIANTS = ("f32", "weight-only", "static", "f8-cache")
CHECKPOINT = "checkpoint"

Weights = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Model:
    """A model with its weights, and the checkpoint that they are of."""

    sizes: Sizes
    weights: Weights
    checkpoint: mlir_fp8.Checkpoint | None = None


@dataclass(frozen=True)
class Program:
    """A compiled step, with its arguments: of those, tokens, place and cache change in place."""

    step: mlir_fp8.CompiledModule
    arguments: Sequence[Any]
    tokens: np.ndarray
    at: np.ndarray

    def logits(self, tokens: Sequence[int] | np.ndarray, at: int) -> np.ndarray:
        """Those of `tokens`, of which the first is the token number `at` of the sequence."""
        self.tokens[:], self.at[()] = tokens, at
        return self.step(*self.arguments)[0]


@dataclass(frozen=True)
class Quantizing:
    """How modules of a model become those of a variant."""

    model: Model
    name: str
    static: mlir_fp8.StaticScaling | None = None

    @property
    def has_f8_cache(self) -> bool:
        """Whether keys and values are f8."""
        return self.name == "f8-cache"

    def made(self, module: ir.Module) -> mlir_fp8.Quantized | None:
        """The module with f8 weights; None in f32."""
        if self.name == "f32":
            return None
        if self.name == CHECKPOINT:
            return self._with_checkpoint(module)[0]
        recipe = self.static if self.name == "static" else "weight_only"
        cache = CACHES if self.has_f8_cache else ()
        return mlir_fp8.quantize(module, recipe or "weight_only", weights=[WEIGHTS], cache=cache)

    def arrays(self, module: ir.Module) -> dict[str, Any]:
        """All tensors by name, once for all modules of the variant."""
        if self.name == "f32":
            return dict(self.model.weights)
        if self.name == CHECKPOINT:
            return self._with_checkpoint(module)[1]
        made = self.made(module)
        assert made is not None
        return made.prepare(self.model.weights)

    def _with_checkpoint(self, module: ir.Module) -> tuple[mlir_fp8.Quantized, dict[str, Any]]:
        checkpoint = self.model.checkpoint
        assert checkpoint is not None
        unused = ignored(self.model.sizes, checkpoint)
        return mlir_fp8.apply_checkpoint(module, checkpoint, names=model_name, ignore=unused)

    def program(
        self,
        module: ir.Module,
        arrays: Mapping[str, Any],
        count: int,
        kept: Sequence[Any],
        **options: Any,
    ) -> Program:
        """`module`, of `count` tokens, compiled; `kept` are its caches.

        `options` are those of `mlir_fp8.compile`.
        """
        made = self.made(module)
        compiled = mlir_fp8.compile(made.module if made else module, donate=True, **options)
        return _program(compiled, made, arrays, count, kept)

    def loop(
        self, arrays: Mapping[str, Any], context: int, kept: Sequence[Any], steps: int
    ) -> Program:
        """Decode steps in one call, each of which takes the likeliest token of the one before."""
        sizes = self.model.sizes
        module = module_of(sizes, 1, context, is_greedy=True)
        made = self.made(module)
        caches: dict[int | str, int | str] = {
            name: 1 + number for number, name in enumerate(sorted(cache_of(sizes, context)))
        }
        chosen = 1 + len(caches)
        if made is not None and made.caches:
            caches = made.donate
        held = made.module if made else module
        looped = mlir_fp8.repeat_steps(held, steps, {**caches, "tokens": chosen}, counter="at")
        return _program(mlir_fp8.compile(looped, donate=caches), made, arrays, 1, kept)


def _program(
    compiled: mlir_fp8.CompiledModule,
    made: mlir_fp8.Quantized | None,
    arrays: Mapping[str, Any],
    count: int,
    kept: Sequence[Any],
) -> Program:
    tokens, at = np.zeros(count, np.int32), np.zeros((), np.int32)
    own = [tokens, at, *kept]
    if made is None:
        arguments = [*(arrays[name] for name in sorted(arrays)), *own]
    else:
        arguments = made.arguments(arrays, *own)
    return Program(compiled, arguments, tokens, at)


def in_calls(
    loop: Program, token: int, at: int, count: int, per_call: int
) -> tuple[list[int], list[float]]:
    """The tokens after `token`, at most `count`, and the seconds of each call of `per_call`."""
    chosen, seconds = [token], []
    for start in range(0, count - per_call + 1, per_call):
        started = time.perf_counter()
        logits = loop.logits([chosen[-1]], at + start)
        seconds.append(time.perf_counter() - started)
        chosen += np.argmax(logits[:, 0], -1).tolist()
    return chosen[1:], seconds


def calibrated(model: Model, module: ir.Module, batches: Iterable[Any]) -> mlir_fp8.StaticScaling:
    """Scales of activations, of `batches` of the module's own arguments."""
    calibration = mlir_fp8.Calibration(module, weights=[WEIGHTS], observer="percentile=99.99")
    progress("calibration")
    return mlir_fp8.StaticScaling(calibration.run(batches, dict(model.weights)))


def empty_cache(sizes: Sizes, context: int, *, is_f8: bool) -> list[np.ndarray]:
    """In the order in which modules take it: k and v, then their scales."""
    shapes = [each.shape for _, each in sorted(cache_of(sizes, context).items())]
    if not is_f8:
        return [np.zeros(shape, np.float32) for shape in shapes]
    codes = [np.zeros(shape, ml_dtypes.float8_e4m3fn) for shape in shapes]
    return [*codes, *(np.ones((*shape[:-1], 1), np.float32) for shape in shapes)]


def generated(
    quantizing: Quantizing,
    prompt: np.ndarray,
    count: int,
    fed: Sequence[int] | None,
    per_call: int = 1,
) -> tuple[dict[str, float], np.ndarray, list[int]]:
    """What was measured, the logits of each token, [count, vocabulary], and the tokens chosen.

    `fed` are the tokens that decode steps take, else those that are chosen: the likeliest. With
    `per_call` above 1, decode steps are measured in calls of so many too, which choose tokens.
    """
    sizes, is_f8 = quantizing.model.sizes, quantizing.has_f8_cache
    context = len(prompt) + count
    cache = empty_cache(sizes, context, is_f8=is_f8)
    modules = [module_of(sizes, length, context) for length in (len(prompt), 1)]
    progress(f"{quantizing.name}: weights")
    arrays = quantizing.arrays(modules[0])
    progress(f"{quantizing.name}: compiling")
    started = time.perf_counter()
    prefill, decode = (
        quantizing.program(module, arrays, length, cache)
        for module, length in zip(modules, (len(prompt), 1), strict=True)
    )
    compiling = time.perf_counter() - started
    prefill.logits(prompt, 0)
    started = time.perf_counter()
    logits = [prefill.logits(prompt, 0)[-1]]
    filling = time.perf_counter() - started
    chosen = [int(np.argmax(logits[-1]))]
    seconds: list[float] = []
    for number in range(count - 1):
        token = chosen[-1] if fed is None else fed[number]
        started = time.perf_counter()
        logits.append(decode.logits([token], len(prompt) + number)[0])
        seconds.append(time.perf_counter() - started)
        chosen.append(int(np.argmax(logits[-1])))
        progress(f"{quantizing.name}: token {number + 2} of {count}")
    measured = {
        "compile s": compiling,
        "prefill tokens/s": len(prompt) / filling,
        "decode tokens/s": 1 / float(np.median(seconds)),
        "weights MB": sum(each.nbytes for each in arrays.values()) / 1e6,
        "cache MB": sum(each.nbytes for each in cache) / 1e6,
    }
    if per_call > 1:
        progress(f"{quantizing.name}: calls of {per_call} tokens")
        loop = quantizing.loop(arrays, context, cache, per_call)
        _, took = in_calls(loop, chosen[0], len(prompt), count - 1, per_call)
        measured[f"tokens/s by {per_call}"] = per_call / float(np.median(took))
    return measured, np.stack(logits), chosen


def sqnr(got: np.ndarray, wide: np.ndarray) -> float:
    """10 log10 of the sum of squares of `wide` over that of the difference."""
    exact = wide.astype(np.float64)
    return float(10 * np.log10(np.sum(exact**2) / np.sum((got - exact) ** 2)))
