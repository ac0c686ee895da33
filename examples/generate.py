"""Generate tokens with GPT-2 small or a model of the shape of Llama-3.2-1B, in f32 and in FP8.

The models are JAX functions with a donated KV cache (language_models.py): a prefill of the prompt,
then a decode step for each token, with one set of weights. Weights are random, or those of a
checkpoint's folder; the prompt is random tokens. Each variant is fed the tokens that the first one
chooses, so that its logits can be compared with those of f32. Random weights say how fast a model
is, not how good: `--trained` judges quality on the transformer of train_fp8.py, after it has
learned. docs/inference.md shows runs.
"""

import argparse
import resource
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from language_models import MODELS, Sizes, cache_of, module_of
from model_weights import CheckpointWeights, RandomWeights, ignored, model_name, sizes_in
from torch_mlir import ir
from train_fp8 import PLOTS, check_file, progress, save

import mlir_fp8
from mlir_fp8.tools._command import run_command

WEIGHTS = "*.weight"
VARIANTS = ("f32", "weight-only", "static", "f8-cache")
CHECKPOINT = "checkpoint"
CALIBRATION = 2
"""Random prompts that scales are calibrated on."""

Weights = Mapping[str, np.ndarray]
Rows = Mapping[str, Mapping[str, float]]
"""Of each variant, what was measured, by name."""


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
        self, module: ir.Module, arrays: Mapping[str, Any], count: int, cache: Sequence[Any]
    ) -> Program:
        """`module`, of `count` tokens, compiled."""
        made = self.made(module)
        tokens, at = np.zeros(count, np.int32), np.zeros((), np.int32)
        own = [tokens, at, *cache]
        if made is None:
            arguments = [*(arrays[name] for name in sorted(arrays)), *own]
            return Program(mlir_fp8.compile(module, donate=True), arguments, tokens, at)
        compiled = mlir_fp8.compile(made.module, donate=True)
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


def measured_variants(model: Model, names: Sequence[str], prompt_size: int, count: int) -> Rows:
    """Each variant's row, with the SQNR of its logits where f32 is among them, which is first."""
    random = np.random.default_rng(0)
    vocabulary = model.sizes.vocabulary
    prompt = random.integers(0, vocabulary, prompt_size, np.int32)
    static = None
    if "static" in names:
        module = module_of(model.sizes, prompt_size, prompt_size)
        cache = empty_cache(model.sizes, prompt_size, is_f8=False)
        batches = [
            [random.integers(0, vocabulary, prompt_size, np.int32), np.int32(0), *cache]
            for _ in range(CALIBRATION)
        ]
        static = calibrated(model, module, batches)
    rows: dict[str, dict[str, float]] = {}
    wide, fed = None, None
    for name in names:
        row, logits, chosen = generated(Quantizing(model, name, static), prompt, count, fed)
        fed = chosen if fed is None else fed
        wide = logits if name == "f32" else wide
        if wide is not None and name != "f32":
            row["SQNR dB"] = sqnr(logits, wide)
        rows[name] = row
    progress("")
    return rows


def sqnr(got: np.ndarray, wide: np.ndarray) -> float:
    """10 log10 of the sum of squares of `wide` over that of the difference."""
    exact = wide.astype(np.float64)
    return float(10 * np.log10(np.sum(exact**2) / np.sum((got - exact) ** 2)))


def table(rows: Rows) -> str:
    """A line a variant, a column for what was measured."""
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    widths = [max(10, len(name) + 2) for name in columns]
    lines = [f"{'':12}" + "".join(f"{n:>{w}}" for n, w in zip(columns, widths, strict=True))]
    for name, row in rows.items():
        cells = (f"{row[column]:.4g}" if column in row else "" for column in columns)
        line = f"{name:12}" + "".join(f"{c:>{w}}" for c, w in zip(cells, widths, strict=True))
        lines.append(line.rstrip())
    return "\n".join(lines)


def plot(path: Path, rows: Rows) -> None:
    """What was measured, a bar a variant."""
    import matplotlib as mpl  # pyright: ignore[reportMissingImports]

    mpl.use("Agg")
    from matplotlib import pyplot  # pyright: ignore[reportMissingImports]

    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    figure, axes = pyplot.subplots(
        1, len(columns), figsize=(2.2 * len(columns), 3), layout="constrained", squeeze=False
    )
    for axis, column in zip(axes[0], columns, strict=True):
        found = {name: row[column] for name, row in rows.items() if column in row}
        axis.bar(list(found), list(found.values()), color=[f"C{n}" for n in range(len(found))])
        axis.set_title(column)
        axis.tick_params("x", rotation=45)
    save(path, figure)


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--model", choices=MODELS, default="gpt2", help="default: %(default)s")
    add("--checkpoint", type=Path, help="a folder: GPT-2 or Llama, in wide types or FP8")
    add("--variants", default="", help=f"of {', '.join(VARIANTS)}, {CHECKPOINT}; all that can be")
    add("--prompt", type=int, default=128, help="tokens of the prompt; default: %(default)s")
    add("--tokens", type=int, default=32, help="that are generated; default: %(default)s")
    add("--layers", type=int, help="fewer than the model has")
    add("--trained", action="store_true", help="quality, of a small transformer that has learned")
    add("--steps", type=int, default=2000, help="that it learns for; default: %(default)s")
    add("--plot", type=Path, help=f"draw what was measured: {', '.join(PLOTS)}")
    return parser.parse_args(argv)


def model_of(options: argparse.Namespace) -> Model:
    if options.checkpoint is None:
        sizes, checkpoint = MODELS[options.model], None
    else:
        sizes = sizes_in(options.checkpoint)
        checkpoint = mlir_fp8.load_checkpoint(options.checkpoint)
    if options.layers is not None:
        if not 1 <= options.layers <= sizes.layers:
            raise mlir_fp8.Fp8Error(f"--layers is from 1 to {sizes.layers}")
        sizes = replace(sizes, layers=options.layers)
    if not (options.prompt >= 1 and 2 <= options.tokens <= sizes.positions - options.prompt):
        least = "--prompt is 1 or more, --tokens 2 or more"
        raise mlir_fp8.Fp8Error(f"{least}, both together at most {sizes.positions}")
    if checkpoint is None:
        return Model(sizes, RandomWeights(sizes))
    return Model(sizes, CheckpointWeights(sizes, checkpoint), checkpoint)


def variants_of(options: argparse.Namespace, *, has_f8: bool) -> list[str]:
    """The names that were asked for, f32 first."""
    known = [*VARIANTS, CHECKPOINT] if has_f8 else VARIANTS
    asked = options.variants.split(",") if options.variants else known
    if unknown := [name for name in asked if name not in known]:
        raise mlir_fp8.Fp8Error(f"--variants: '{unknown[0]}' is none of {', '.join(known)}")
    return [name for name in known if name in asked]


def run(argv: Sequence[str]) -> int:
    options = arguments(argv)
    if options.plot is not None:
        check_file(options.plot, PLOTS)
    if options.trained:
        from trained_model import quality

        names = variants_of(options, has_f8=False)
        rows: Rows = quality(names, options.steps)
    else:
        model = model_of(options)
        names = variants_of(options, has_f8=bool(model.checkpoint and model.checkpoint.weights))
        rows = measured_variants(model, names, options.prompt, options.tokens)
    print(table(rows))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"peak of memory: {peak * (1 if sys.platform == 'darwin' else 1024) / 1e9:.2f} GB")
    if options.plot is not None:
        plot(options.plot, rows)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    return run_command(run, argv, "generate.py")


if __name__ == "__main__":
    sys.exit(main())
