"""Arrays of any type in an `.npz`, in order."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mlir_fp8.arrays.tensor_specs import restored, stored


def save_arrays(path: Path, arrays: Sequence[np.ndarray]) -> None:
    """Write `arrays`, in order, to an `.npz`."""
    named = dict(stored(f"array{index}", array) for index, array in enumerate(arrays))
    np.savez(path, allow_pickle=False, **named)


def load_arrays(path: Path) -> tuple[np.ndarray, ...]:
    """The arrays of an `.npz`, in order."""
    with np.load(path, allow_pickle=False) as archive:
        return tuple(array for _, array in restored(archive))
