"""What not every StableHLO version can hold, and the errors that say so."""

from dataclasses import dataclass

from mlir_fp8.base.errors import Fp8Error


@dataclass(frozen=True)
class Feature:
    """Something in a module that not every StableHLO version can hold."""

    kind: str
    """`type`, `op` or `attribute`."""
    name: str
    """As StableHLO calls it: `f8E3M4`, `stablehlo.tan`, `result_accuracy of log`."""
    version: str
    """The version that introduced it."""
    count: int
    """In how many ops it is; a function's signature counts as one."""
    location: str
    """Where the first of them is: `file:line:column`."""

    def __str__(self) -> str:
        ops = "1 op" if self.count == 1 else f"{self.count} ops, first"
        return f"{self.kind} {self.name}, since {self.version}, in {ops} at {self.location}"


class NewerFeaturesError(Fp8Error):
    """A module too new for a target: a line for the module, then one for each feature."""

    def __init__(self, name: str, target: str, minimum: str, features: list[Feature]) -> None:
        self._arguments = (name, target, minimum, features)
        self.features = features
        self.target = target
        self.minimum = minimum
        """The oldest version that holds the module."""
        lines = [f"{name}: StableHLO {target} cannot hold it: use target {minimum} or later"]
        super().__init__("\n  ".join([*lines, *map(str, features)]))

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        # An exception is pickled by its message, which is not what this one is made of.
        return type(self), self._arguments


class FutureArtifactError(Fp8Error):
    """An artifact for a StableHLO newer than the one here, which cannot be read here."""

    def __init__(self, name: str, version: str, current: str, reason: str) -> None:
        self._arguments = (name, version, current, reason)
        self.version = version
        """What the artifact was written for."""
        self.current = current
        """The newest version that can be read for certain: the target to ask the producer for."""
        super().__init__(
            f"{name}: written for StableHLO {version}, and {current} is what is known here: "
            f"ask its producer for --target={current} ({reason})"
        )

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), self._arguments
