"""The transformer of examples/train_fp8.py, trained, then quantized in each way of generate.py.

What it is judged on are windows of the text that it has not seen.
"""

from collections.abc import Sequence

import numpy as np
from language_models import SMALL, module_of
from quantized_models import Model, Quantizing, calibrated, empty_cache, sqnr
from train_fp8 import ARGUMENTS, TEXT, WINDOW, batches, compiled, progress, read_windows, variants

from mlir_fp8.arrays.tensor_specs import restored

CALIBRATION = 64
"""Windows, of those that it was trained on."""
HELD_OUT = 10
"""One window in so many is not trained on."""
NAMES = {
    "h.0.ln_1.bias": 0,
    "h.0.ln_2.bias": 1,
    "wte.weight": 2,
    "h.0.ln_1.weight": 3,
    "h.0.ln_2.weight": 4,
    "h.0.mlp.c_fc.weight": 6,
    "h.0.mlp.c_proj.weight": 7,
    "h.0.attn.c_proj.weight": 8,
    "h.0.attn.c_attn.weight": 9,
}
"""The places of tensors among the parameters of the step; 5 are its own scales."""


def trained(windows: np.ndarray, steps: int) -> dict[str, np.ndarray]:
    """The tensors after `steps` steps in bf16 from the parameters that JAX drew."""
    wide = variants("f8E5M2", unscaled=False)[0]
    step = compiled(wide.module)
    parameters = [array for _, array in restored(np.load(ARGUMENTS))][:-1]
    tokens = batches(windows, 0)
    for number in range(1, steps + 1):
        loss, *parameters = step(*parameters, next(tokens))
        progress(f"training: step {number} of {steps}, loss {loss:.3f}")
    return {name: np.asarray(parameters[place]) for name, place in NAMES.items()}


def quality(names: Sequence[str], steps: int) -> dict[str, dict[str, float]]:
    """Of each variant the loss, as part of that of f32, and the SQNR of the logits."""
    windows = read_windows([TEXT])
    held_out = windows[::HELD_OUT]
    seen = np.delete(windows, np.s_[::HELD_OUT], axis=0)
    model = Model(SMALL, trained(seen, steps))
    count = WINDOW - 1
    static = None
    if "static" in names:
        cache = empty_cache(SMALL, count, is_f8=False)
        given = ([window[:-1], np.int32(0), *cache] for window in seen[:CALIBRATION])
        static = calibrated(model, module_of(SMALL, count, count), given)
    rows: dict[str, dict[str, float]] = {}
    wide = logits_of(Quantizing(model, "f32"), held_out)
    for name in names:
        found = logits_of(Quantizing(model, name, static), held_out)
        rows[name] = {"loss": loss_of(found, held_out)}
        if name != "f32":
            rows[name]["to f32"] = rows[name]["loss"] / loss_of(wide, held_out)
            rows[name]["SQNR dB"] = sqnr(found, wide)
    progress("")
    return rows


def logits_of(quantizing: Quantizing, windows: np.ndarray) -> np.ndarray:
    """Of all tokens but the last, [windows, tokens, vocabulary]."""
    count, is_f8 = windows.shape[1] - 1, quantizing.has_f8_cache
    module = module_of(SMALL, count, count, all_logits=True)
    cache = empty_cache(SMALL, count, is_f8=is_f8)
    program = quantizing.program(module, quantizing.arrays(module), count, cache)
    return np.stack([program.logits(window[:-1], 0) for window in windows])


def loss_of(logits: np.ndarray, windows: np.ndarray) -> float:
    """Cross entropy of the next tokens, in nats, in f64."""
    exact = logits.astype(np.float64)
    exact -= exact.max(-1, keepdims=True)
    log = exact - np.log(np.exp(exact).sum(-1, keepdims=True))
    return float(-np.take_along_axis(log, windows[:, 1:, None], -1).mean())
