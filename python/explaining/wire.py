"""What a module sends: the bytes of each collective, and in FP8, and what is in the way of that."""

import json
from collections.abc import Iterator, Mapping, Set
from dataclasses import asdict, dataclass, replace
from typing import Any

from torch_mlir import ir

from mlir_fp8.base.context import format_location, symbol_name
from mlir_fp8.base.operations import callee, operations
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.collectives.quantize import (
    apart,
    bytes_of,
    group_size,
    name_of,
    reason_to_stay,
)
from mlir_fp8.lowering.rewriting.carries import counter_of
from mlir_fp8.lowering.rewriting.collectives import COLLECTIVES, PERMUTE, group_of, pairs
from mlir_fp8.lowering.rewriting.shardings import gathers, is_constraint
from mlir_fp8.lowering.rewriting.stablehlo import element_type, has_static_shape

SCHEMA_VERSION = 1
FP8, WIDE, OTHER = "FP8", "wide", "not floats"
_BITS = {"f64": 64, "f32": 32, "bf16": 16, "f16": 16}
_PASS = "fp8-quantize-collectives"
_UNWRITTEN = f"constrain what it moves (jax.lax.with_sharding_constraint), then {_PASS}"
_REGIONS = frozenset({"stablehlo.if", "stablehlo.case", "stablehlo.while"})
_EDITS = {
    "combines": "none: only what moves data, and sums, travels in FP8",
    "is among replicas": "export it for one replica of several partitions",
    "is among groups": "give all groups one size",
    "is among one": "drop it: nothing is sent",
    "is of f64": "convert to f32 before it",
    "has no static": "stablehlo-refine-dynamism",
    "has mlir_fp8.skip": "remove mlir_fp8.skip",
}


@dataclass(frozen=True)
class WireRow:
    """One collective, or a constraint for which XLA writes some.

    `bytes` are what each device sends for it in a step, `times` how often it runs in one; 0 where a
    loop does not tell, which is counted once. `fp8_bytes` are those of the same elements in FP8.
    `verdict` is "FP8", "wide" or "not floats"; `reason` says what keeps it wide and `edit` is the
    smallest that mends it.
    """

    location: str
    op: str
    operand: str
    result: str
    group: str
    bytes: int
    times: int
    fp8_bytes: int
    verdict: str
    reason: str = ""
    edit: str = ""


@dataclass(frozen=True)
class WireReport:
    """All rows of a module, and their sums; `stage` is "written" or "partitioned"."""

    file: str
    stage: str
    rows: tuple[WireRow, ...]

    @property
    def bytes(self) -> int:
        """What each device sends in a step."""
        return sum(row.bytes for row in self.rows)

    @property
    def fp8_bytes(self) -> int:
        """What it would send if all that may were FP8."""
        return sum(row.fp8_bytes for row in self.rows)

    def to_json(self) -> str:
        """The data under stable keys, as docs/multi_device.md describes them."""
        data: dict[str, Any] = {
            "version": SCHEMA_VERSION,
            "file": self.file,
            "stage": self.stage,
            "bytes": self.bytes,
            "fp8_bytes": self.fp8_bytes,
            "collectives": [asdict(row) for row in self.rows],
        }
        return json.dumps(data, indent=2)


def wire(module: ir.Module, name: str, written: WireReport | None = None) -> WireReport:
    """What `module` sends; it is left as it is. Rows are in the order of its text.

    With `written`, what a module sends as it is written, `module` is what XLA's partitioner made of
    that one.
    """
    load_fp8_dialect(module.context)
    with module.context, ir.Location.unknown():
        copy = module.operation.clone(ip=False).operation
        for op in operations(copy):
            if op.name in COLLECTIVES and len(op.operands) > 1:
                list(apart(op))
        counts = _counts(copy)
        rows = [_row(op, counts[op]) for op in operations(copy) if op in counts]
    if written is None:
        return WireReport(name, "written", tuple(rows))
    places = {row.location for row in written.rows}
    return WireReport(name, "partitioned", tuple(_of_xla(row, places) for row in rows))


def _of_xla(row: WireRow, places: Set[str]) -> WireRow:
    """`row`, with what mends it where the program has no collective there."""
    if not row.edit.startswith(_PASS) or row.location in places:
        return row
    return replace(row, reason="is XLA's, of no written reshard", edit=_UNWRITTEN)


def _counts(module: ir.Operation) -> dict[ir.Operation, int]:
    """How often each collective and reshard runs in a step; 0 where a loop does not tell."""
    functions = {symbol_name(op): op for op in operations(module, "func.func")}
    called = {callee(op) for op in operations(module, "func.call")}
    found: dict[ir.Operation, int] = {}
    for name, function in functions.items():
        if name in called:
            continue
        for op, times in _runs(function, 1, functions, (name,)):
            known = found.get(op, 0) if op in found else None
            found[op] = times if known is None else known + times if known and times else 0
    return found


def _runs(
    op: ir.Operation, times: int, functions: Mapping[str, ir.Operation], seen: tuple[str, ...]
) -> Iterator[tuple[ir.Operation, int]]:
    """The collectives in the regions of `op`, which runs `times`, and in what it calls."""
    for block in (block for region in op.regions for block in region.blocks):
        for inner in (view.operation for view in block.operations):
            if _is_sent(inner):
                yield inner, times
            elif inner.name == "func.call" and (name := callee(inner)) not in seen:
                if name in functions:
                    yield from _runs(functions[name], times, functions, (*seen, name))
            elif inner.name in _REGIONS:
                trips = counter_of(inner) if inner.name == "stablehlo.while" else (0, 1)
                yield from _runs(inner, times * (trips[1] if trips else 0), functions, seen)


def _is_sent(op: ir.Operation) -> bool:
    return op.name in COLLECTIVES or (is_constraint(op) and gathers(op))


def _row(op: ir.Operation, times: int) -> WireRow:
    x = op.operands[0]
    facts = (
        format_location(op.location),
        name_of(op).removeprefix("stablehlo."),
        str(x.type),
        str(op.results[0].type),
        _group(op),
    )
    if not has_static_shape(x):
        reason = reason_to_stay(op, 0)
        return WireRow(*facts, 0, times, 0, WIDE, reason, _edit(reason))
    sent = bytes_of(op) * max(times, 1)
    bits = _BITS.get(str(element_type(x)))
    if bits is None:
        element = str(element_type(x))
        is_small = element.startswith(("f8", "f6", "f4")) or element == "ui8"
        return WireRow(*facts, sent, times, sent, FP8 if is_small else OTHER)
    reason = reason_to_stay(op, 0)
    if reason:
        return WireRow(*facts, sent, times, sent, WIDE, reason, _edit(reason))
    small = sent * 8 // bits
    reason = "is written so"
    return WireRow(*facts, sent, times, small, WIDE, reason, _least(bytes_of(op)))


def _least(sent: int) -> str:
    """The pass, with the bound that lets so few bytes through."""
    return _PASS + ("" if sent >= 65536 else f"{{min-bytes={sent}}}")


def _edit(reason: str) -> str:
    return next((edit for start, edit in _EDITS.items() if reason.startswith(start)), "")


def _group(op: ir.Operation) -> str:
    if is_constraint(op):
        return "those of its shardings"
    if op.name == PERMUTE:
        count = len(pairs(op))
        return "1 pair" if count == 1 else f"{count} pairs"
    group = group_of(op)
    if group is None:
        return "replicas and partitions"
    kind = "replicas" if group.is_of_replicas else "devices"
    count = len(group.rows)
    return (
        f"{group_size(op)} {kind}" if count == 1 else f"{count} groups of {group_size(op)} {kind}"
    )
