"""A language model made a variant: f32, FP8 weights, static FP8, an f8 cache, or a checkpoint's."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from language_models import Sizes, cache_of, module_of
from model_weights import ignored, model_name
from torch_mlir import ir
from train_fp8 import progress

import mlir_fp8

WEIGHTS = "*.weight"
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
        return mlir_fp8.quantize(module, recipe or "weight_only", weights=[WEIGHTS])

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
        tokens, at = np.zeros(count, np.int32), np.zeros((), np.int32)
        own = [tokens, at, *kept]
        if made is None:
            arguments = [*(arrays[name] for name in sorted(arrays)), *own]
            return Program(mlir_fp8.compile(module, donate=True, **options), arguments, tokens, at)
        compiled = mlir_fp8.compile(made.module, donate=True, **options)
        return Program(compiled, made.arguments(arrays, *own), tokens, at)


def calibrated(model: Model, module: ir.Module, batches: Iterable[Any]) -> mlir_fp8.StaticScaling:
    """Scales of activations, of `batches` of the module's own arguments."""
    calibration = mlir_fp8.Calibration(module, weights=[WEIGHTS], observer="percentile=99.99")
    progress("calibration")
    return mlir_fp8.StaticScaling(calibration.run(batches, dict(model.weights)))


def empty_cache(sizes: Sizes, context: int, *, is_f8: bool) -> list[np.ndarray]:
    """In the order in which modules take it."""
    found = cache_of(sizes, context, is_f8=is_f8)
    return [np.zeros(found[name].shape, found[name].dtype) for name in sorted(found)]


def generated(
    quantizing: Quantizing, prompt: np.ndarray, count: int, fed: Sequence[int] | None
) -> tuple[dict[str, float], np.ndarray, list[int]]:
    """What was measured, the logits of each token, [count, vocabulary], and the tokens chosen.

    `fed` are the tokens that decode steps take, else those that are chosen: the likeliest.
    """
    sizes, is_f8 = quantizing.model.sizes, quantizing.has_f8_cache
    context = len(prompt) + count
    cache = empty_cache(sizes, context, is_f8=is_f8)
    modules = [module_of(sizes, length, context, is_f8=is_f8) for length in (len(prompt), 1)]
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
    return measured, np.stack(logits), chosen


def sqnr(got: np.ndarray, wide: np.ndarray) -> float:
    """10 log10 of the sum of squares of `wide` over that of the difference."""
    exact = wide.astype(np.float64)
    return float(10 * np.log10(np.sum(exact**2) / np.sum((got - exact) ** 2)))
