"""torch, on as many threads as it is told."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import module

TYPES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16",
         "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2"}  # fmt: skip


def tensor(array: np.ndarray, element: str) -> Any:
    """A tensor of the same memory; numpy's types of narrow floats are unknown to torch."""
    torch = module("torch")
    codes = torch.from_numpy(array.view(f"u{array.itemsize}"))
    return codes.view(getattr(torch, TYPES[element]))


def numbers(tensor: Any) -> np.ndarray:
    """The f64 array of a tensor's values."""
    return tensor.double().numpy()


def codes(tensor: Any) -> np.ndarray:
    """The same memory, as integers."""
    return tensor.view(getattr(module("torch"), f"int{8 * tensor.element_size()}")).numpy()


def on_threads(threads: int, work: Callable[[], Any]) -> Callable[[], Any]:
    """`work` on so many threads, which takes 0.2 us to say."""
    torch = module("torch")

    def run() -> Any:
        torch.set_num_threads(threads)
        return work()

    return run
