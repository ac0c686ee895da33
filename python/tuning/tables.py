"""Tables of costs from the times that the script on a card wrote."""

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.xla.costs import Costs
from mlir_fp8.lowering.gpu.xla.times import Timed
from mlir_fp8.tuning import card
from mlir_fp8.tuning.modules import CHIP

_XLA = "xla"


def times_in(file: str, data: bytes) -> dict[str, Any]:
    """What `run.py --json` wrote, `data` of `file`; raises `Fp8Error` where the card was wrong."""
    try:
        content = json.loads(data)
        known, wrong = content["format"] == card.FORMAT, [*content["wrong"]]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Fp8Error(f"{file}: no times of run.py ({error!r})") from error
    if not known:
        raise Fp8Error(f"{file}: times of format {content['format']}, not {card.FORMAT}")
    if wrong:
        more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise Fp8Error(f"{file}: the card's run failed: {wrong[0]}{more}")
    return content


def table_of(content: dict[str, Any], before: Costs) -> Costs:
    """The costs that `content` says; what it does not time is as in `before`.

    Raises `Fp8Error` where `content` has no times of a card.
    """
    try:
        table = _table(content, before)
        table.check()
    except (ValueError, TypeError, KeyError, ArithmeticError, AttributeError) as error:
        raise Fp8Error(f"no times of run.py ({error!r})") from error
    return table


def _table(content: dict[str, Any], before: Costs) -> Costs:
    rows: list[dict[str, Any]] = content["rows"]
    rates = {
        each["rate"]: round(each["amount"] / each["seconds"] / card.UNITS[each["unit"]], 1)
        for each in rows
        if "rate" in each
    }
    times = times_of([each for each in rows if "variant" in each])
    kept = [
        each for each in before.times if not any(_place(each) == _place(other) for other in times)
    ]
    return dataclasses.replace(
        before, device=content["device"], chip=CHIP, times=(*kept, *times), **rates
    )


def times_of(rows: Sequence[dict[str, Any]]) -> list[Timed]:
    """For each product the fastest form, beside XLA's time."""
    works: dict[str, list[dict[str, Any]]] = {}
    for each in rows:
        works.setdefault(each["name"], []).append(each)
    found: list[Timed] = []
    for variants in works.values():
        xla = [each["seconds"] for each in variants if each["variant"] == _XLA]
        own = [each for each in variants if each["variant"] != _XLA]
        if not xla or not own:
            continue
        best = min(own, key=lambda each: each["seconds"])
        m, n, k = best["size"]
        form = tuple(int(each) for each in best["variant"].split("-"))
        us = (round(1e6 * each, 2) for each in (best["seconds"], xla[0]))
        found.append(Timed(best["kernel"], best["kind"], m, n, k, form, *us))
    return found


def _place(timed: Timed) -> tuple[Any, ...]:
    return timed.kernel, timed.kind, timed.m, timed.n, timed.k
