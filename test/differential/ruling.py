"""What the judges say of one program, and whose fault a difference is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from judge_fault import JudgeFault
from judge_faults import JUDGE_FAULTS
from judged import Difference, Opinion, Results, differences, is_written_out, native, other
from program import Op, Program

NATIVE = "llvm"


@dataclass(frozen=True)
class Finding:
    """A difference or a crash that is ours, as far as anyone knows."""

    what: str
    program: Program
    expected: Results | None
    """What the other judge gave for `program`; None after a crash."""

    @property
    def key(self) -> str:
        """The ops of `program`: findings with the same ones are most likely the same fault."""
        return " ".join(sorted({op.name for op in self.program.ops if op.operands}))


@dataclass
class Ruling:
    """Who ran a program, who refused it and why, and what the differences come from."""

    ran: list[str] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)
    ours: list[Finding] = field(default_factory=list)
    excused: list[tuple[str, JudgeFault, bool]] = field(default_factory=list)
    """Faults of judges, and whether another judge, or the rules written out, say as we do."""


def rule(program: Program, judges: Sequence[str]) -> Ruling:
    """Run `program` by native code and the other `judges`; explain every difference."""
    ruling = Ruling()
    opinions = {NATIVE: native(program)}
    for judge in judges:
        if judge != NATIVE:
            opinions[judge] = other(judge, program)
    for judge, opinion in opinions.items():
        if opinion.results is None:
            ruling.refusals[judge] = opinion.refusal
        else:
            ruling.ran.append(judge)
    ours = opinions[NATIVE].results
    if ours is None:
        if _is_crash(opinions[NATIVE]):
            ruling.ours.append(_crash(program, opinions))
        return ruling
    for judge in ruling.ran:
        theirs = opinions[judge].results
        assert theirs is not None
        found = differences(program, judge, ours, theirs)
        if found:
            _explain(program, judge, found[0], theirs, judges, ruling)
    return ruling


def _is_crash(opinion: Opinion) -> bool:
    return opinion.refusal.startswith("the library")


def _crash(program: Program, opinions: Mapping[str, Opinion]) -> Finding:
    """The first op that crashes alone, else the whole program."""
    what = opinions[NATIVE].refusal
    heard = [judge for judge, opinion in opinions.items() if opinion.results is not None]
    for judge in heard:
        whole = program.whole()
        values = _values(whole, other(judge, whole).results)
        for op in program.ops if values else ():
            single = program.single(op, values)
            if op.operands and _is_crash(native(single)):
                return Finding(what, single, other(judge, single).results)
    return Finding(what, program, None)


def _values(whole: Program, results: Results | None) -> dict[str, np.ndarray]:
    if results is None:
        return {}
    names = [value.name for value in (*whole.arguments, *whole.results)]
    return dict(zip(names, (*whole.arrays, *results), strict=True))


def _explain(
    program: Program,
    judge: str,
    first: Difference,
    theirs: Results,
    judges: Sequence[str],
    ruling: Ruling,
) -> None:
    """Find the ops that make the difference, each on the operands that native code gives it."""
    whole = program.whole()
    ours, others = native(whole).results, other(judge, whole).results
    if ours is None or others is None:
        ruling.ours.append(Finding(f"{first.what}; not with all values", program, theirs))
        return
    values = _values(whole, ours)
    written_out = is_written_out(judge, program)
    differing = {
        whole.results[each.result].name for each in differences(whole, judge, ours, others)
    }
    is_explained = False
    makers = [
        op for op in whole.ops if not differing.isdisjoint(value.name for value in op.results)
    ]
    for op in makers:
        single = whole.single(op, values)
        is_explained |= _explain_op(single, judge, written_out, judges, ruling)
    # XLA folds constants in another way than it computes: the op alone may be right.
    fault = _fault(judge, makers[0]) if makers and judge == "xla" else None
    if fault is not None and not is_explained:
        ruling.excused.append((judge, fault, False))
    elif not is_explained:
        ruling.ours.append(Finding(f"{first.what}; no op alone differs", program, theirs))


def _explain_op(
    single: Program, judge: str, written_out: bool, judges: Sequence[str], ruling: Ruling
) -> bool:
    """Whether the one op of `single` makes a difference; adds whose fault that is."""
    ours = native(single).results
    theirs = other(judge, single, written_out=written_out).results
    if ours is None or theirs is None:
        return False
    found = differences(single, judge, ours, theirs)
    if not found:
        return False
    op = single.ops[-1]
    fault = _fault(judge, op)
    if fault is None:
        ruling.ours.append(Finding(found[0].what, single, theirs))
    else:
        ruling.excused.append((judge, fault, _is_confirmed(single, ours, judge, judges)))
    return True


def _fault(judge: str, op: Op) -> JudgeFault | None:
    rows = (row for row in JUDGE_FAULTS if judge in row.judges)
    return next((row for row in rows if any(map(row.applies, (op, *op.inner)))), None)


def _is_confirmed(single: Program, ours: Results, judge: str, judges: Sequence[str]) -> bool:
    """Whether another way comes to our results."""
    opinions = [other(each, single) for each in judges if each not in (NATIVE, judge)]
    opinions.append(other("interpreter", single, written_out=True))
    return any(
        opinion.results is not None and not differences(single, judge, ours, opinion.results)
        for opinion in opinions
    )
