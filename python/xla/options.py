"""The options of `mlir_fp8.compile(..., backend="xla")`."""

from dataclasses import dataclass

from mlir_fp8.compiling.compile_options import Donated
from mlir_fp8.pipelines import NEAREST_EVEN


@dataclass(frozen=True)
class XlaOptions:
    """What changes the executable."""

    device: str = "cpu"
    entry: str = "main"
    saturate: bool = False
    rounding: str = NEAREST_EVEN
    seed: int = 0
    allow_excess_precision: bool = False
    donate: Donated = ()

    @property
    def rounds_as_usual(self) -> bool:
        """Whether XLA rounds so by itself."""
        return not self.saturate and self.rounding == NEAREST_EVEN
