"""Checks and times the kernels beside this file on a GPU; needs jax and numpy alone.

    python run.py [--only PART,...] [--check | --time] [--seconds S] [--budget S] [--json FILE]

A child process does the work; one that is silent for a minute is ended, and the next goes on behind
what it hung at.
"""

import argparse
import functools
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import card
import numpy as np

HERE = Path(__file__).resolve().parent
_SILENCE = 60.0
_INTERRUPTED = 130
"""The exit status after Ctrl-C, by which what was whole is written."""
_FAR = 2.0**-5
"""From what XLA gives, relative L2: an f8 that rounds the other way is a step of 6 to 12%."""


def main(argv: list[str] | None = None) -> int:
    options = _options(argv)
    if options.child is not None:
        return _child(options)
    started, first = time.perf_counter(), 0
    lines: list[dict[str, Any]] = []
    wrong: list[str] = []
    device = ""
    total = len(_entries(options))
    while first < total:
        left = options.budget - (time.perf_counter() - started)
        if left <= 0:
            print(f"the budget of {options.budget} s ended before entry {first} of {total}")
            break
        first, made, is_ended = _supervised(options, first, left)
        for line in made:
            device = line.get("device", device)
            if "wrong" in line:
                wrong.append(line["wrong"])
                print(f"error: {wrong[-1]}", file=sys.stderr)
            elif "done" not in line and "device" not in line:
                lines.append(line)
            if options.json:
                content = {"format": card.FORMAT, "device": device, "rows": lines, "wrong": wrong}
                options.json.write_text(json.dumps(content, indent=1) + "\n")
        if is_ended:
            print(f"interrupted before entry {first} of {total}", file=sys.stderr)
            return _INTERRUPTED
    _summary(lines)
    return 1 if wrong else 0


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="parts of names, with commas between")
    parser.add_argument("--device", default="gpu", choices=("gpu", "cpu"))
    parser.add_argument("--check", action="store_true", help="values alone")
    parser.add_argument("--time", action="store_true", help="times alone")
    parser.add_argument("--seconds", type=float, default=0.05, help="of a round; five of each")
    parser.add_argument("--budget", type=float, default=3600.0, help="seconds of all")
    parser.add_argument("--json", type=_output)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def _output(name: str) -> Path:
    """A file that can be written, which is known before hours are spent."""
    file = Path(name)
    if file.is_dir() or not os.access(file if file.exists() else file.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"cannot write '{name}'")
    return file


def _entries(options: argparse.Namespace) -> list[dict[str, Any]]:
    try:
        index = json.loads((HERE / "index.json").read_text())
    except (OSError, ValueError) as error:
        raise SystemExit(f"error: no index.json of fp8-tune beside run.py ({error})") from None
    if index["format"] != card.FORMAT:
        raise SystemExit(f"error: index.json is of format {index['format']}, not {card.FORMAT}")
    only = [each for each in options.only.split(",") if each]
    found = [] if options.time else index["checks"]
    found = found if options.check else [*found, *index["rates"], *index["times"]]
    return [each for each in found if not only or any(o in each["name"] for o in only)]


def _supervised(
    options: argparse.Namespace, first: int, left: float
) -> tuple[int, list[dict[str, Any]], bool]:
    """Runs a child from entry `first` on; where to go on, what it said, whether Ctrl-C ended it."""
    command = [sys.executable, __file__, "--child", str(first), "--device", options.device,
               "--only", options.only, "--seconds", str(options.seconds)]  # fmt: skip
    command += ["--check"] * options.check + ["--time"] * options.time
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    made: list[dict[str, Any]] = []
    said = _Lines(made)
    try:
        return _heard(child, said, first, left), made, False
    except KeyboardInterrupt:
        child.kill()
        child.wait()
        assert child.stdout is not None
        said.take(child.stdout.read() or "")
        return _next(made, first), _whole(made), True


class _Lines:
    """Takes down lines of JSON in `made`, as they come in pieces, and prints all others."""

    def __init__(self, made: list[dict[str, Any]]) -> None:
        self.made, self._rest = made, ""

    def take(self, text: str) -> None:
        *whole, self._rest = (self._rest + text).split("\n")
        for line in whole:
            if line.startswith("{"):
                self.made.append(json.loads(line))
            else:
                print(line, flush=True)


def _heard(child: "subprocess.Popen[str]", said: _Lines, first: int, left: float) -> int:
    """Takes down what a child says; the entry to go on with."""
    assert child.stdout is not None
    made, end = said.made, time.perf_counter() + left
    os.set_blocking(child.stdout.fileno(), False)
    while True:
        patience = min(_SILENCE, end - time.perf_counter())
        ready = patience > 0 and select.select([child.stdout], [], [], patience)[0]
        text = child.stdout.read() if ready else None
        if not text:
            break
        said.take(text)
    at = _next(made, first)
    if child.poll() is None and not ready:
        child.kill()
        if patience < _SILENCE:  # the budget has ended: what an entry gave so far is no whole
            made[:] = _whole(made)
            return at
        made.append({"wrong": f"entry {at} is silent for {_SILENCE:.0f} s"})
        return at + 1
    if child.wait():
        made.append({"wrong": f"entry {at} ended its process with {child.returncode}"})
        return at + 1
    return at


def _next(made: list[dict[str, Any]], first: int) -> int:
    """The entry behind the last that was done."""
    return next((each["done"] for each in reversed(made) if "done" in each), first)


def _whole(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of entries that were done."""
    last = max((i + 1 for i, each in enumerate(made) if "done" in each), default=0)
    return made[:last]


def _reason(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]


def _child(options: argparse.Namespace) -> int:
    try:
        found = card.Card(options.device)
    except Exception as error:  # whatever jax raises where no device is
        text = _reason(error)
        _say(wrong=f"jax has no {options.device} here: {text}", done=len(_entries(options)))
        return 0
    return _Child(options, found).run()


class _Child:
    """The process on the card."""

    def __init__(self, options: argparse.Namespace, of: card.Card) -> None:
        self.options, self.card = options, of

    def run(self) -> int:
        name = f"{self.card.device.device_kind}, jax {self.card.jax.__version__}"
        print(name, flush=True)
        _say(device=name)
        for number, entry in enumerate(_entries(self.options)):
            if number < self.options.child:
                continue
            try:
                which = {"variants": self._time, "rate": self._rate, "digest": self._check}
                next(do for key, do in which.items() if key in entry)(entry)
            except Exception as error:  # whatever XLA raises
                text = _reason(error)
                _say(wrong=f"{entry['name']}: {text}", done=number + 1)
                if "CUDA error" in text:
                    return 0  # nothing runs in this process any more: the parent starts another
            _say(done=number + 1)
        return 0

    def _check(self, entry: dict[str, Any]) -> None:
        arrays = card.exact_arrays(entry["arguments"], entry["seed"])
        arguments = [self.card.put(each) for each in arrays]
        loaded = self.card.compile(HERE / entry["file"])
        for call in range(2):
            results = [np.asarray(each) for each in loaded(arguments)]
            if card.digest(results) != entry["digest"]:
                _say(wrong=f"{entry['name']}: call {call} gives other numbers than a CPU")
        _say(check=entry["name"])

    def _rate(self, entry: dict[str, Any]) -> None:
        arguments = self.card.arguments(entry["arguments"])
        loaded = self.card.compile(HERE / entry["file"])
        seconds = self.card.time_of(lambda: loaded(arguments), self.options.seconds)
        told = {key: entry[key] for key in ("rate", "name", "amount", "unit")}
        _say(**told, seconds=seconds)

    def _time(self, entry: dict[str, Any]) -> None:
        arguments = self.card.arguments(entry["arguments"])
        copies = entry["copies"]
        first: Any = None
        for variant in entry["variants"]:
            try:
                loaded = self.card.compile(HERE / variant["file"])
                result = loaded(arguments)[0]
            except Exception as error:  # whatever XLA raises
                text = str(error).splitlines()[0][:200]
                _say(wrong=f"{entry['name']}, {variant['name']}: {text}")
                continue
            far = None if first is None else self._far(result, first)
            first = result if first is None else first
            if far is not None and not far <= _FAR:
                _say(wrong=f"{entry['name']}, {variant['name']}: {far:.3g} off XLA's")
            seconds = self.card.time_of(functools.partial(loaded, arguments), self.options.seconds)
            seconds /= copies
            told = {key: entry[key] for key in ("kernel", "kind", "size", "name")}
            _say(**told, variant=variant["name"], seconds=seconds, far=far, compiled=loaded.seconds)

    def _far(self, got: Any, want: Any) -> float:
        jnp = self.card.jax.numpy
        a, b = (each.astype(jnp.float32) for each in (got, want))
        return float(jnp.linalg.norm(a - b) / jnp.linalg.norm(b))


def _say(**line: Any) -> None:
    print(json.dumps(line), flush=True)


def _summary(lines: list[dict[str, Any]]) -> None:
    checks = [each for each in lines if "check" in each]
    if checks:
        print(f"{len(checks)} checked")
    for each in lines:
        if "rate" in each:
            rate = each["amount"] / each["seconds"] / card.UNITS[each["unit"]]
            us = each["seconds"] * 1e6
            print(f"{each['rate']:28} {us:9.1f} us {rate:7.0f} {each['unit']}")
    times: dict[str, list[dict[str, Any]]] = {}
    for each in lines:
        if "variant" in each:
            times.setdefault(f"{each['kernel']} {each['name']}", []).append(each)
    for name, rows in times.items():
        m, n, k = rows[0]["size"]
        flop = 2.0 * m * n * k
        xla = next((each["seconds"] for each in rows if each["variant"] == "xla"), None)
        print(f"{name}" + (f": XLA {xla * 1e6:.1f} us, {flop / xla / 1e12:.0f} T" if xla else ""))
        own = sorted((e for e in rows if e["variant"] != "xla"), key=lambda e: e["seconds"])
        for each in own[:4]:
            print(f"    {each['variant']:20} {each['seconds'] * 1e6:9.1f} us "
                  f"{flop / each['seconds'] / 1e12:7.1f} T" + (
                      f" {xla / each['seconds']:.2f} of XLA" if xla else "") +
                  f" {each['far'] or 0:.2g} off, compiled {each['compiled']:.1f} s")  # fmt: skip


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
