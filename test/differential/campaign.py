"""Many programs by the judges: who ran how many, who refused which and why, what differs."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from builder import Program
from case_files import FOLDER, write
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from programs import programs
from ruling import NATIVE, Finding, rule

_LOCATION = re.compile(r"^(XLA: )?\S*?:\d+:\d+: ")
_TYPE = re.compile(r"tensor<[^>]*>|f[468]E\d+M\d+(?:FN|FNUZ|B11FNUZ|FNU)?\b")
_CHUNK = 25
"""How many programs are drawn from one seed."""
_UNCHECKED = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)


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


def drawn(count: int, first_seed: int) -> Iterator[Program]:
    """`count` programs, the same for the same seed."""
    left, number = count, first_seed * 100_000
    while left:
        chunk = _chunk(number)[:left]
        yield from chunk
        left, number = left - len(chunk), number + 1


def _chunk(number: int) -> list[Program]:
    """Programs of different ops: hypothesis also draws small changes of what it has drawn."""
    found: dict[tuple[str, ...], Program] = {}

    @seed(number)
    @settings(
        max_examples=_CHUNK,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.large_base_example,
        ],
        verbosity=Verbosity.quiet,
    )
    @given(programs())
    def collect(program: Program) -> None:
        found.setdefault(tuple(sorted(op.name for op in program.ops)), program)

    collect()
    return list(found.values())


def campaign(
    chosen: Iterator[Program],
    judges: Sequence[str],
    on_program: Callable[[Tally], None],
    *,
    writes_cases: bool,
) -> Tally:
    """Judge programs one by one; with `writes_cases`, each fault of ours becomes a file."""
    tally = Tally()
    for program in chosen:
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
            tally.ours[f"{finding.key}: {finding.what}"] += 1
            if writes_cases:
                _write_case(finding)
        on_program(tally)
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
