"""The options of `mlir_fp8.compile`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.pipelines import NEAREST_EVEN

Donated = tuple[tuple[int | str, int | str | None], ...] | Literal["as declared"]
"""Arguments and the results that take their memory, by numbers or names."""
AS_DECLARED: Literal["as declared"] = "as declared"
"""What the module says itself."""


@dataclass(frozen=True)
class CompileOptions:
    """The options that change the code."""

    entry: str = "main"
    saturate: bool = False
    rounding: str = NEAREST_EVEN
    seed: int = 0
    allow_excess_precision: bool = False
    threads: int = 0
    """At most, 0 for as many as the pool has."""
    opt_level: int = 2
    donate: Donated = ()
    kernels: str = "host"
    """The target of `linalg-contract-to-kernels`."""
    outline_layers: bool = True
    """Whether layers that are equal up to their arguments are compiled once."""
    devices: tuple[int, int] | None = None
    """So many replicas of so many partitions, which the code is for one of."""


def donated_options(donate: Any) -> Donated:
    """`donate=` of `mlir_fp8.compile` as what tells one compilation from another."""
    if donate is None or donate is False:
        return ()
    if donate is True:
        return AS_DECLARED
    pairs = donate.items() if isinstance(donate, Mapping) else None
    if pairs is None and isinstance(donate, Sequence) and not isinstance(donate, str):
        pairs = [(each, None) for each in donate]
    if pairs is None or not all(_is_place(each) for pair in pairs for each in pair):
        way_out = "give arguments, or arguments with their results, by numbers or names, or True"
        raise Fp8Error(f"donate is {donate!r}: {way_out}")
    return tuple(pairs)


def _is_place(value: Any) -> bool:
    return value is None or (isinstance(value, int | str) and not isinstance(value, bool))
