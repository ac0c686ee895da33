"""The command: `python -m benchmarks [SUITE ...]`."""

import argparse
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import machine, markdown, plot, records, tables, tune
from benchmarks.cases import WrongValueError
from benchmarks.devices import command as devices
from benchmarks.gpu import command as gpu
from benchmarks.measuring import measure
from benchmarks.peers import PEERS, missing
from benchmarks.plan import Plan, all_cores
from benchmarks.records import Record
from benchmarks.suites import GROWING, SUITES, cases_of, summary_of
from benchmarks.tune import TUNE
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.kernels.products.choices_file import VARIABLE, written_choices

GPU, DEVICES = "gpu", "devices"


class CommandError(Exception):
    """What was asked for cannot be done."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: 1 with one line of error, also where ours refuses or is wrong."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == [GPU]:
        return gpu.main(given[1:])
    if given[:1] == [DEVICES] and given[1:2] in ([devices.MAKE], [devices.MODEL]):
        return devices.main(given[1:])
    options = _parser().parse_args(given)
    try:
        _check_files(options)
        if options.suites == [TUNE]:
            _tune(options)
        elif options.tables:
            _show(options.tables, options.plot)
        else:
            _run(options)
    except (CommandError, WrongValueError, Fp8Error, OSError) as error:
        _progress("")
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        _progress("")
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    suites = "\n".join(f"  {name:14}{summary_of(name)}" for name in SUITES)
    alone = {TUNE: tune.SUMMARY, GPU: gpu.SUMMARY, DEVICES: devices.SUMMARY}
    lines = (f"  {name:14}{summary}" for name, summary in alone.items())
    suites += "\n".join(["\n\nand, alone:", *lines])
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measures mlir-fp8 beside its peers, in turn, in one run. Values are checked"
        " before anything is measured; peers that are not installed are skipped by name.",
        epilog=f"suites, all unless named:\n{suites}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("suites", nargs="*", metavar="SUITE", help="what to measure")
    add("--quick", action="store_true", help="tiny sizes and few rounds: does it work?")
    add("--growth", action="store_true", help=f"how time grows with size: {', '.join(GROWING)}")
    add("--threads", metavar="N,...", help="of each contender; 1 and all cores unless given")
    add("--peers", metavar="NAME,...", help=f"of {', '.join(PEERS)}; all unless given")
    add("--rounds", type=int, metavar="N", help="exactly so many, instead of what time allows")
    add("--seconds", type=float, default=0.25, help="of rounds per contender and case (0.25)")
    add("--json", type=Path, metavar="FILE", help="all raw numbers, the machine and versions")
    add("--plot", type=Path, metavar="FILE", help="a picture: svg, png or pdf")
    add("--choices", type=Path, metavar="FILE", help="tune: where the rows are written")
    add("--tables", type=Path, metavar="FILE", help="measure nothing: FILE's numbers in Markdown")
    return parser


def _check_files(options: argparse.Namespace) -> None:
    """Before the work, not after."""
    for file in (options.json, options.plot, options.choices):
        if file is None:
            continue
        if not file.absolute().parent.is_dir():
            raise CommandError(f"{file}: there is no such folder")
        if file.is_dir() or not os.access(
            file if file.exists() else file.absolute().parent, os.W_OK
        ):
            raise CommandError(f"{file}: cannot be written")
    if options.plot is not None and (reason := plot.refusal(options.plot)):
        raise CommandError(reason)


def _show(file: Path, picture: Path | None) -> None:
    try:
        made_on, measured = records.read(file)
        lines = list(markdown.markdown(made_on, measured))
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        raise CommandError(f"{file} is not what --json wrote") from None
    print("\n".join(lines))
    if picture is not None:
        plot.draw(picture, measured)


def _tune(options: argparse.Namespace) -> None:
    if options.choices is None:
        raise CommandError("tune: name a file to write to, by --choices FILE")
    plan = _plan(options)
    print(tables.machine_line(machine.describe()))
    rows = tune.tuned(plan, lambda line: print(line, flush=True), _progress)
    options.choices.write_text(written_choices(rows))
    print(f"{options.choices} has {len(rows)} rows: {VARIABLE}={options.choices} uses them")


def _run(options: argparse.Namespace) -> None:
    suites = _suites(options)
    plan = _plan(options)
    made_on = machine.describe()
    print(tables.machine_line(made_on))
    measured: list[Record] = []
    for suite in suites:
        for case in cases_of(suite)(plan):
            found = measure(suite, case, plan, _progress)
            _progress("")
            print("\n".join(tables.case_lines(found)), flush=True)
            measured += found
        if options.json is not None:
            records.write(options.json, made_on, measured)
    made_on["load after"] = machine.load()
    print("\n".join([*tables.mean_lines(measured), *tables.verdict_lines(measured)]))
    if options.json is not None:
        records.write(options.json, made_on, measured)
    if options.plot is not None:
        plot.draw(options.plot, measured)
    for record in measured:
        if record.is_ours and record.refused:
            raise CommandError(
                f"{tables.title(record)}: {record.contender} refuses: {record.refused}"
            )


def _suites(options: argparse.Namespace) -> Sequence[str]:
    known = GROWING if options.growth else SUITES
    for name in options.suites:
        if name not in known:
            what = "suite that grows" if options.growth else "suite"
            raise CommandError(f"{name} is no {what}: {', '.join(known)}")
    return options.suites or known


def _plan(options: argparse.Namespace) -> Plan:
    asked = options.peers.split(",") if options.peers else list(PEERS)
    if unknown := [name for name in asked if name not in PEERS]:
        raise CommandError(f"{unknown[0]} is no peer: {', '.join(PEERS)}")
    absent = missing(asked)
    for name in absent:
        print(f"{name} is skipped: {' and '.join(PEERS[name])} not installed")
    if options.rounds is not None and options.rounds < 1:
        raise CommandError(f"--rounds {options.rounds}: give 1 or more")
    if not 0 < options.seconds < math.inf:
        raise CommandError(f"--seconds {options.seconds:g}: give a number above 0")
    rounds = 1 if options.quick and options.rounds is None else options.rounds
    peers = frozenset(asked) - frozenset(absent)
    threads = _threads(options.threads)
    return Plan(threads, peers, options.quick, options.growth, options.seconds, rounds)


def _threads(text: str | None) -> tuple[int, ...]:
    if text is None:
        return tuple(sorted({1, all_cores()}))
    numbers = [int(each) if each.isdecimal() else 0 for each in text.split(",")]
    if not all(1 <= number <= all_cores() for number in numbers):
        raise CommandError(f"--threads {text}: give numbers from 1 to {all_cores()}, as in 1,2")
    return tuple(sorted(set(numbers)))


def _progress(text: str) -> None:
    """One line that changes, where someone looks."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:100]}", end="", file=sys.stderr, flush=True)
