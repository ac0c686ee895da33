"""Many programs by the judges: who ran how many, who refused which and why, what differs."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from case_files import FOLDER, write
from programs import seeded
from ruling import NATIVE, Finding, rule

_LOCATION = re.compile(r"^(XLA: )?\S*?:\d+:\d+: ")
_TYPE = re.compile(r"tensor<[^>]*>|f[468]E\d+M\d+(?:FN|FNUZ|B11FNUZ|FNU)?\b")


@dataclass
class Tally:
    """What a run came to."""

    programs: int = 0
    ops: Counter[str] = field(default_factory=Counter)
    ran: Counter[str] = field(default_factory=Counter)
    judged: int = 0
    """Programs that native code and another judge ran."""
    refusals: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    unconfirmed: Counter[str] = field(default_factory=Counter)
    """Faults of judges in programs where no other way came to our result."""
    ours: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Tally") -> None:
        """Add what another run came to."""
        self.programs += other.programs
        self.judged += other.judged
        for name in ("ops", "ran", "refusals", "faults", "unconfirmed", "ours"):
            getattr(self, name).update(getattr(other, name))

    @property
    def differing(self) -> int:
        """Differences and crashes that are ours."""
        return sum(self.ours.values())

    def as_json(self) -> dict[str, Any]:
        """Everything, in an order that does not depend on the order of the programs."""
        counters = ("ops", "ran", "refusals", "faults", "unconfirmed", "ours")
        rest = {name: dict(sorted(getattr(self, name).items())) for name in counters}
        return {"programs": self.programs, "judged": self.judged, **rest}


def campaign(
    seed: int, numbers: Iterable[int], judges: Sequence[str], *, writes_cases: bool
) -> Tally:
    """Judge the programs of those numbers; with `writes_cases`, a fault of ours becomes a file."""
    tally = Tally()
    for number in numbers:
        program = seeded(seed, number)
        ruling = rule(program, judges)
        tally.programs += 1
        tally.ops.update({op.name for op in program.ops})
        tally.ran.update(ruling.ran)
        tally.judged += NATIVE in ruling.ran and len(ruling.ran) > 1
        tally.refusals.update(f"{who}: {_reason(why)}" for who, why in ruling.refusals.items())
        for judge, fault, is_confirmed in ruling.excused:
            tally.faults[f"{judge}: {fault.name}"] += 1
            if not is_confirmed:
                tally.unconfirmed[f"{judge}: {fault.name}"] += 1
        for finding in ruling.ours:
            tally.ours[f"program {number}: {finding.key}: {finding.what}"] += 1
            if writes_cases:
                _write_case(finding)
    return tally


def _reason(refusal: str) -> str:
    """A refusal without its place and with types and numbers taken together."""
    text = _TYPE.sub("T", _LOCATION.sub(r"\1", refusal))
    return re.sub(r"\b\d+\b", "N", text)[:150]


def _write_case(finding: Finding) -> None:
    """A file named by its ops; the right results are to be looked at before it is committed."""
    stem = re.sub(r"[^a-z0-9]+", "_", finding.key.replace("stablehlo.", ""))[:60].strip("_")
    taken = len(list(FOLDER.glob(f"{stem}*.mlir")))
    path = FOLDER / f"{stem}_{taken}.mlir"
    if taken > 2:  # the same fault, most likely
        return
    program = finding.program
    checks = [value.check for value in program.results]
    results = list(zip(checks, finding.expected or (), strict=False))
    write(path, finding.what, program.text, program.arrays, results)
