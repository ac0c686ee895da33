"""Read the files that an interpreter run wrote, up to its end or its crash."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.interpreter.checks import not_almost_equal, not_close, not_equal
from mlir_fp8.interpreter.dense_values import storage_dtype
from mlir_fp8.interpreter.probes import Check, Point, Table

TABLE = "table.json"
_INDEX = "index.csv"
_LINE = re.compile(r"(?P<point>\w+)(?:\.(?P<part>real|imag))?,.*[/\\](?P<file>probe\d+\.npy)")
# What StableHLO's own tool takes where a check does not say: less strict for custom calls.
_TOLERANCE, _CALL_TOLERANCE = 1e-4, 1e-3
_MOST_ULP = 3


@dataclass(frozen=True)
class Recorded:
    """One value; integers narrower than a byte are in int8 and uint8."""

    spec: TensorSpec
    array: np.ndarray
    name: str | None = None
    """The probe's id, or what `interpreter.print` calls the value."""


@dataclass(frozen=True)
class Record:
    """The values in the order in which they came, and what the first failed check says."""

    results: tuple[Recorded, ...]
    probes: tuple[Recorded, ...]
    printed: tuple[Recorded, ...]
    failure: str | None


def read_record(directory: Path) -> Record:
    """All values that were written; results are complete after a run that came to its end."""
    table = _table(directory)
    latest: dict[int, np.ndarray] = {}
    probes: dict[str, list[Recorded]] = defaultdict(list)
    checks = {check.operands[-1]: check for check in table.checks}
    failure: str | None = None
    in_order: list[Recorded] = []
    printed: list[Recorded] = []
    for number, array in _arrays(directory, table):
        latest[number] = array
        point = table.points[number]
        if point.probe_id is not None:
            in_order.append(_recorded(point, array))
            probes[point.probe_id].append(in_order[-1])
        if point.printed_as is not None:
            printed.append(_recorded(point, array))
        if number in checks and failure is None:
            failure = _failure(checks[number], table, latest, probes)
    results = tuple(_recorded(table.points[n], latest[n]) for n in table.results if n in latest)
    return Record(results, tuple(in_order), tuple(printed), failure)


def reached_op(directory: Path) -> tuple[str, str] | None:
    """Name and place of the op that a traced run started last."""
    numbers = [m["point"] for m in _lines(directory) if m["point"].startswith("op")]
    return _table(directory).ops[int(numbers[-1][2:])] if numbers else None


def _table(directory: Path) -> Table:
    file = directory / TABLE
    return Table.from_json(json.loads(file.read_text())) if file.exists() else Table()


def _lines(directory: Path) -> Iterator[re.Match[str]]:
    index = directory / _INDEX
    if not index.exists():
        return
    for line in index.read_text().splitlines():
        match = _LINE.fullmatch(line)
        if match:
            yield match


def _arrays(directory: Path, table: Table) -> Iterator[tuple[int, np.ndarray]]:
    """Point and value of every line of the index; a value in two parts comes with its second."""
    real: np.ndarray | None = None
    for line in _lines(directory):
        if not line["point"].isdigit():
            continue
        stored = np.load(directory / line["file"], allow_pickle=False)
        if line["part"] == "real":
            real = stored
            continue
        number = int(line["point"])
        yield number, _restored(table.points[number], stored, real if line["part"] else None)


def _restored(point: Point, stored: np.ndarray, real: np.ndarray | None) -> np.ndarray:
    dtype = storage_dtype(point.element)
    if real is not None:
        array = np.empty(point.shape, dtype)
        array.real, array.imag = real.reshape(point.shape), stored.reshape(point.shape)
        return array
    # Only f6 and f4 come as other numbers (f32, of the same value); the rest are the bytes.
    if stored.dtype.itemsize != dtype.itemsize:
        return stored.astype(dtype).reshape(point.shape)
    return np.ascontiguousarray(stored).view(dtype).reshape(point.shape)


def _recorded(point: Point, array: np.ndarray) -> Recorded:
    return Recorded(
        TensorSpec(point.shape, point.element), array, point.probe_id or point.printed_as
    )


def _failure(
    check: Check,
    table: Table,
    latest: dict[int, np.ndarray],
    probes: dict[str, list[Recorded]],
) -> str | None:
    point = table.points[check.operands[0]]
    actual = latest[check.operands[0]]
    if "probe_id" in check.settings:
        found = probes[check.settings["probe_id"]]
        iteration = check.settings.get("iter", 0)
        name = f"'{check.settings['probe_id']}' in iteration {iteration}"
        if iteration >= len(found):
            return _said(check, f"nothing was recorded for probe {name}")
        other, expected = found[iteration].spec, found[iteration].array
    else:
        second = table.points[check.operands[1]]
        other, expected = TensorSpec(second.shape, second.element), latest[check.operands[1]]
    if other != TensorSpec(point.shape, point.element):
        ours = TensorSpec(point.shape, point.element)
        return _said(check, f"types don't match: {ours} (actual) vs {other} (expected)")
    return _said(check, _difference(check, point.element, actual, expected))


def _difference(check: Check, element: str, actual: np.ndarray, expected: np.ndarray) -> str | None:
    kind = check.op.removeprefix("check.").removeprefix("expect_").removesuffix("_const")
    is_integer = element.lstrip("u").startswith("i")
    if kind == "eq" and check.op == "check.eq" and not is_integer:
        return not_almost_equal(actual, expected, _TOLERANCE)
    if kind in ("eq", "serialized_eq"):
        return not_equal(actual, expected)
    if is_integer:
        return f"compares floats and complex numbers, not {element}: use check.expect_eq"
    if kind == "almost_eq":
        default = _TOLERANCE if "op" in check.settings else _CALL_TOLERANCE
        return not_almost_equal(actual, expected, check.settings.get("tolerance", default))
    least = check.settings.get("min_ulp_difference", 0)
    most = check.settings.get("max_ulp_difference", _MOST_ULP)
    return not_close(actual, expected, least, most, element)


def _said(check: Check, reason: str | None) -> str | None:
    return None if reason is None else f"{check.place}: '{check.op}' {reason}"
