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
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from language_models import MODELS, module_of
from model_weights import CheckpointWeights, RandomWeights, read_checkpoint, sizes_in
from quantized_models import (
    CHECKPOINT,
    VARIANTS,
    Model,
    Quantizing,
    calibrated,
    empty_cache,
    generated,
    sqnr,
)
from train_fp8 import PLOTS, check_file, progress, save
from trained_model import quality

import mlir_fp8
from mlir_fp8.tools._command import run_command

CALIBRATION = 2
"""Random prompts that scales are calibrated on."""

Rows = Mapping[str, Mapping[str, float]]
"""Of each variant, what was measured, by name."""


def measured_variants(
    model: Model, names: Sequence[str], prompt_size: int, count: int, per_call: int = 1
) -> Rows:
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
        variant = Quantizing(model, name, static)
        row, logits, chosen = generated(variant, prompt, count, fed, per_call)
        fed = chosen if fed is None else fed
        wide = logits if name == "f32" else wide
        if wide is not None and name != "f32":
            row["SQNR dB"] = sqnr(logits, wide)
        rows[name] = row
    progress("")
    return rows


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
        colours = {name: f"C{number}" for number, name in enumerate(rows)}
        found = {name: row[column] for name, row in rows.items() if column in row}
        axis.bar(list(found), list(found.values()), color=[colours[name] for name in found])
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
    add("--tokens-per-call", type=int, default=1, help="measure decode loops of so many steps too")
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
        checkpoint = read_checkpoint(options.checkpoint)
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
        if options.steps < 0:
            raise mlir_fp8.Fp8Error("--steps is 0 or more")
        names = variants_of(options, has_f8=False)
        rows: Rows = quality(names, options.steps)
    else:
        model = model_of(options)
        names = variants_of(options, has_f8=bool(model.checkpoint and model.checkpoint.weights))
        if not 1 <= options.tokens_per_call < options.tokens:
            raise mlir_fp8.Fp8Error("--tokens-per-call is 1 or more, and less than --tokens")
        sizes = (options.prompt, options.tokens, options.tokens_per_call)
        rows = measured_variants(model, names, *sizes)
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
