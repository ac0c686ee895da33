"""Arrays for a function of which types and names are known; imports no MLIR."""

import functools
from collections.abc import Mapping, Sequence

import numpy as np

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tensors.file_entry import Entry
from mlir_fp8.tools._run_files import ARGUMENT, RESULT, Declared, entries_of, read_matching
from mlir_fp8.tools._run_options import Options
from mlir_fp8.tools._run_random import random_arrays


class Given:
    """The arrays that the command line gives a function with arguments of `names`.

    `state` are arrays by name that count where no file has one of that name.
    """

    def __init__(
        self, options: Options, names: Sequence[str], state: Mapping[str, np.ndarray]
    ) -> None:
        self._options = options
        self._names = names
        self._state = state

    @functools.cached_property
    def _entries(self) -> Sequence[Entry]:
        return entries_of(self._options.args or [], self._names)

    def _declared(self, phrase: str = "") -> Declared:
        return Declared(self._names, phrase, self._state)

    def arguments(self, specs: Sequence[TensorSpec]) -> list[np.ndarray]:
        """One for each of `specs`, which are the function's arguments."""
        options, state = self._options, self._state
        if options.random is not None:
            inputs = [
                spec for spec, name in zip(specs, self._names, strict=True) if name not in state
            ]
            drawn = iter(random_arrays(inputs, options.random))
            return [state[name] if name in state else next(drawn) for name in self._names]
        free = [self._spell(i, spec) for i, spec in enumerate(specs) if self._names[i] not in state]
        if options.args is None and free:
            plural = "" if len(free) == 1 else "s"
            beside = f" beside {len(state)} of the file" if state else ""
            raise Fp8Error(
                f"'{options.entry}' takes {len(free)} argument{plural}{beside}"
                f" ({', '.join(free)}): give them with --args, or random ones with --random SEED"
            )
        declared = self._declared(f"'{options.entry}' takes {len(specs)}")
        return read_matching(options.args or [], self._entries, specs, ARGUMENT, declared)

    def _spell(self, number: int, spec: TensorSpec) -> str:
        name = self._names[number]
        return f"{name}: {spec}" if name else str(spec)


def expected(
    options: Options, specs: Sequence[TensorSpec], names: Sequence[str]
) -> list[np.ndarray] | None:
    """The arrays of `--expect`, one for each of `specs`."""
    if options.expect is None:
        return None
    declared = Declared(names, f"'{options.entry}' gives {len(specs)}")
    entries = entries_of([options.expect], names)
    return read_matching([options.expect], entries, specs, RESULT, declared)
