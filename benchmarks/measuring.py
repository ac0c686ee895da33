"""How everything is measured: values are checked first, then contenders take turns, in rounds."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from benchmarks.bars import bar_of
from benchmarks.cases import Case, Contender, Sample, WrongValueError, first_line
from benchmarks.plan import Plan
from benchmarks.records import Record

PAUSE = 0.008
"""Seconds in which the peers' idle threads fall asleep: torch's spin for 5.5 ms."""
SHORT = 0.05
"""Runs below this many seconds are run once more, untimed, to wake their threads."""
PATIENCE = 3.0
"""A peer that takes more seconds has one round, and none at the next size of a growing case."""

Progress = Callable[[str], None]


@dataclass
class _Turns:
    """What is known of one contender."""

    contender: Contender
    refused: str
    times_itself: bool = False
    seconds: list[float] = field(default_factory=list)
    notes: dict[str, list[float]] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        is_slow = bool(self.seconds) and self.seconds[-1] > PATIENCE
        return is_slow and not self.contender.is_ours

    def note(self, found: Mapping[str, float]) -> None:
        for name, value in found.items():
            self.notes.setdefault(name, []).append(value)


def measure(suite: str, case: Case, plan: Plan, progress: Progress) -> list[Record]:
    """Every contender of `case`, its values checked, then timed in turn with the others.

    Where all have one thread and start no process, it is the processor time of this one that
    counts, of whatever thread, as other work on the machine does not spoil it; else wall time.
    Who raises in its first run has refused. Raises `WrongValueError` for other values.
    """
    title = f"{suite}: {case.name} {case.size}".rstrip()
    everyone = [_Turns(contender, contender.refused) for contender in case.contenders]
    for turns in everyone:
        progress(f"{title}: {turns.contender.name} is checked")
        turns.refused = turns.refused or _tried(turns, suite, case, plan)
    able = [turns for turns in everyone if not turns.refused]
    is_shared = any(contender.threads > 1 for contender in case.contenders)
    is_wall = is_shared or case.starts_processes
    least, most = (plan.rounds, plan.rounds) if plan.rounds else case.rounds
    end = time.perf_counter() + plan.seconds * len(able)
    done = min((len(turns.seconds) for turns in able), default=0)
    while able and (done < least or (done < most and time.perf_counter() < end)):
        done += 1
        progress(f"{title}: round {done}")
        for turns in able:
            if not turns.is_done:
                _take(turns, is_shared, time.perf_counter if is_wall else time.process_time)
    return [_record(suite, case, turns, is_wall) for turns in everyone]


def _tried(turns: _Turns, suite: str, case: Case, plan: Plan) -> str:
    """Why it does not take part, or "" if its values are right."""
    contender = turns.contender
    name = (suite, case.name, contender.name, contender.threads)
    if name in plan.slow:
        return f"took over {PATIENCE:g} s at a smaller size"
    started = time.perf_counter()
    try:
        result = contender.run()
    except WrongValueError:
        raise
    except Exception as error:  # peers raise whatever they please
        return first_line(error)
    if plan.growth and not contender.is_ours and time.perf_counter() - started > PATIENCE:
        plan.slow.add(name)
    if isinstance(result, Sample):  # of a process of its own: as good as any later one
        turns.times_itself = True
        _count(turns, result)
    try:
        turns.note(contender.check(result))
    except WrongValueError as error:
        where = f"{suite}: {case.name} {case.size}".rstrip()
        raise WrongValueError(f"{where}: {contender.name} gives other values: {error}") from None
    return ""


def _take(turns: _Turns, is_shared: bool, clock: Callable[[], float]) -> None:
    if is_shared and not turns.times_itself:
        time.sleep(PAUSE)
        if not turns.seconds or turns.seconds[-1] < SHORT:
            turns.contender.run()
    started = clock()
    result = turns.contender.run()
    seconds = clock() - started
    _count(turns, result if isinstance(result, Sample) else Sample(seconds, {}))


def _count(turns: _Turns, sample: Sample) -> None:
    turns.seconds.append(sample.seconds)
    turns.note(sample.notes)


def _record(suite: str, case: Case, turns: _Turns, is_wall: bool) -> Record:
    contender = turns.contender
    record = Record(
        suite=suite,
        case=case.name,
        size=case.size,
        contender=contender.name,
        threads=contender.threads,
        clock="wall" if is_wall or turns.times_itself else "cpu",
        seconds=turns.seconds,
        notes=turns.notes,
        work=case.work,
        unit=case.unit,
        bar=None,
        refused=turns.refused,
    )
    return replace(record, bar=bar_of(record))
