"""The data of `fp8-explain`: a row for each dot, an answer for each target, and warnings."""

import json
from collections import Counter
from collections.abc import Set
from dataclasses import asdict, dataclass
from typing import Any

SCHEMA_VERSION = 1

FUSED = "fused"
PARTLY = "partly fused"
NOT_FUSED = "not fused"
NOT_FP8 = "not FP8"
VERDICTS = (FUSED, PARTLY, NOT_FUSED, NOT_FP8)
"""In the order of a summary."""


@dataclass(frozen=True)
class Hindrance:
    """One thing in the way: see `Obstacle` in lowering/fp8/scaled_dot/findings.py.

    `location` is `file:line:column` of the op in the way.
    """

    kind: str
    part: str
    message: str
    location: str
    edit: str


@dataclass(frozen=True)
class Answer:
    """What one target makes of a dot: `fused`, `partly fused`, `not fused` or `not FP8`."""

    target: str
    verdict: str
    obstacles: tuple[Hindrance, ...]

    @property
    def is_missing(self) -> bool:
        """Whether an FP8 dot is not wholly fused."""
        return self.verdict in (PARTLY, NOT_FUSED)


@dataclass(frozen=True)
class Row:
    """A dot or convolution: its op without the dialect, its place and types as written.

    `callers` are the places that the function of that place was called from, innermost first, as
    far as locations tell. `details` says of a call in optimized HLO what else it does. Of a
    PyTorch program, `module` is the path of the module that called the op, and `if_quantized` the
    answers for a row that is not FP8 if its operands were, scaled by "current". `scope` is the name
    in the op's location, JAX's name stack, and the `op_name` of HLO.
    """

    op: str
    location: str
    callers: tuple[str, ...]
    operands: str
    result: str
    answers: tuple[Answer, ...]
    details: str = ""
    module: str = ""
    if_quantized: tuple[Answer, ...] = ()
    scope: str = ""


@dataclass(frozen=True)
class KernelRow:
    """An op that there is a kernel of ours for: which (empty: none, it is left to XLA), and why."""

    op: str
    location: str
    kernel: str
    reason: str


@dataclass(frozen=True)
class Explanation:
    """All rows of a module, in its order, for a device; of `kernels=` what becomes of its ops."""

    file: str
    device: str
    targets: tuple[str, ...]
    rows: tuple[Row, ...]
    kernels: tuple[KernelRow, ...] = ()

    def counts(self, target: str) -> dict[str, int]:
        """How many rows have which verdict on `target`."""
        counter = Counter(
            answer.verdict for row in self.rows for answer in row.answers if answer.target == target
        )
        return {verdict: counter[verdict] for verdict in VERDICTS}

    def counts_if_quantized(self, target: str) -> dict[str, int]:
        """As `counts`, with the rows that are not FP8 as they would be."""
        counter = Counter(
            answer.verdict
            for row in self.rows
            for answer in row.if_quantized or row.answers
            if answer.target == target
        )
        return {verdict: counter[verdict] for verdict in VERDICTS}

    def places(self, target: str, verdicts: Set[str]) -> list[str]:
        """Where the rows are that have one of `verdicts` on `target`."""
        return [
            row.location
            for row in self.rows
            for answer in row.answers
            if answer.target == target and answer.verdict in verdicts
        ]

    def to_dict(self) -> dict[str, Any]:
        """The data under stable keys, as docs/explain.md describes them."""
        summary = {target: self.counts(target) for target in self.targets}
        return {
            "version": SCHEMA_VERSION,
            "file": self.file,
            "device": self.device,
            "targets": list(self.targets),
            "summary": summary,
            "dots": [asdict(row) for row in self.rows],
            "kernels": [asdict(row) for row in self.kernels],
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2)


@dataclass(frozen=True)
class LintWarning:
    """Something suspicious: the rule's name, what and where, and the edit that mends it."""

    rule: str
    message: str
    location: str
    edit: str


def warnings_json(file: str, warnings: list[LintWarning]) -> str:
    """The warnings of a file under stable keys."""
    by_rule = dict(sorted(Counter(each.rule for each in warnings).items()))
    data = {
        "version": SCHEMA_VERSION,
        "file": file,
        "summary": by_rule,
        "warnings": [asdict(each) for each in warnings],
    }
    return json.dumps(data, indent=2)
