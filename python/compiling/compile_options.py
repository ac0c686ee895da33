"""The options of `mlir_fp8.compile`."""

from dataclasses import dataclass

from mlir_fp8.pipelines import NEAREST_EVEN


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
    kernels: str = "host"
    """The target of `linalg-contract-to-kernels`."""
    outline_layers: bool = True
    """Whether layers that are equal up to their arguments are compiled once."""
