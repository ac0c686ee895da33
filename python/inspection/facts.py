"""The facts about a file that holds a module: what `fp8-translate --inspect` shows."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from mlir_fp8.artifacts.features import Feature
from mlir_fp8.inspection.bytecode_header import Header


@dataclass(frozen=True)
class Function:
    """A function's name, `public` or `private`, and its type in MLIR's spelling."""

    name: str
    visibility: str
    type: str


@dataclass(frozen=True)
class Constant:
    """The largest constant: the bytes that it takes, its type and its place."""

    bytes: int
    type: str
    location: str


@dataclass
class Inspection:
    """The facts of one file; those below `header` are empty when there is an `error`."""

    name: str
    header: Header
    error: str | None = None
    functions: list[Function] = field(default_factory=list)
    ops: dict[str, int] = field(default_factory=dict)
    """How many there are of each op, the most frequent first."""
    small_floats: dict[str, dict[str, int]] = field(default_factory=dict)
    """By type: in how many `arguments` and `results` of functions, in how many `constants`, and on
    how many `ops` it is."""
    minimum_version: str | None = None
    """The oldest StableHLO version that holds the module; None if none does as it is."""
    features: list[Feature] = field(default_factory=list)
    """What sets the minimum version, and all else that is newer than the oldest, newest first."""
    constants: int = 0
    constant_bytes: int = 0
    """Bytes of all constants; one that repeats one number takes the bytes of that number."""
    largest_constant: Constant | None = None

    def to_json(self) -> str:
        """The facts under stable keys: those of the dataclasses."""
        return json.dumps(asdict(self), indent=2)

    @classmethod
    def from_json(cls, text: bytes | str) -> "Inspection":
        """What `to_json` wrote."""
        facts: dict[str, Any] = json.loads(text)
        largest = facts["largest_constant"]
        return cls(
            **facts
            | {
                "header": Header(**facts["header"]),
                "functions": [Function(**each) for each in facts["functions"]],
                "features": [Feature(**each) for each in facts["features"]],
                "largest_constant": Constant(**largest) if largest else None,
            }
        )
