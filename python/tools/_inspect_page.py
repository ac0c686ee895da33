"""An inspection as a page that is read on a terminal."""

from dataclasses import dataclass
from typing import Any

from mlir_fp8.dialects.stablehlo_versions import BASE_VERSION
from mlir_fp8.inspection.difference import Pair
from mlir_fp8.inspection.facts import Inspection

_KINDS = {
    "artifact": "StableHLO portable artifact",
    "exported": "exported by JAX, with a StableHLO portable artifact",
    "bytecode": "MLIR bytecode",
    "text": "MLIR text",
    "mhlo text": "MLIR text, MHLO",
    "hlo text": "HLO text",
    "zip": "zip archive (.pt2)",
    "binary": "unknown binary data",
    "empty": "nothing",
}
_TITLES = {
    "header": "header",
    "module": "module",
    "functions": "functions",
    "features": "needs, in how many ops",
    "small_floats": "small floats",
    "ops": "ops",
}
_LONGEST_TYPE = 96
_LABEL = 12


@dataclass(frozen=True)
class Style:
    """How headings stand out: with a terminal's bold, or not at all."""

    is_coloured: bool

    def heading(self, text: str) -> str:
        return f"\033[1m{text}\033[0m" if self.is_coloured else text


def page(facts: Inspection, style: Style, *, header_only: bool) -> str:
    """The page of one file."""
    lines = [style.heading(facts.name), *_header(facts)]
    if header_only or facts.error is not None:
        return "\n".join(lines) + "\n"
    lines += [_row("needs", _needs(facts)), *_constants(facts)]
    sections = (
        ("functions", _functions(facts)),
        (f"features newer than StableHLO {BASE_VERSION}", _features(facts)),
        ("small floats", _small_floats(facts)),
        (f"{sum(facts.ops.values())} ops", _ops(facts)),
    )
    for title, body in sections:
        if body:
            lines += ["", style.heading(title), *body]
    return "\n".join(lines) + "\n"


def difference_page(names: tuple[str, str], found: dict[str, dict[str, Pair]], style: Style) -> str:
    """The page of what differs between two files."""
    lines = [style.heading(f"{names[0]} -> {names[1]}")]
    if not found:
        lines.append("  no difference")
    for section, pairs in found.items():
        lines += ["", style.heading(_TITLES[section])]
        width = max(len(key) for key in pairs)
        for key, (first, second) in pairs.items():
            change = f"{_shown(first)} -> {_shown(second)}"
            long = len(change) > _LONGEST_TYPE
            parts = [f"{_shown(first)}", f"-> {_shown(second)}"] if long else [change]
            lines.append(f"  {key.replace('_', ' '):{width}}  {parts[0]}")
            lines += [f"  {'':{width}}  {part}" for part in parts[1:]]
    return "\n".join(lines) + "\n"


def _shown(value: Any) -> str:
    return "none" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _header(facts: Inspection) -> list[str]:
    header = facts.header
    rows = [
        ("kind", _KINDS[header.kind]),
        ("written for", header.stablehlo_version and f"StableHLO {header.stablehlo_version}"),
        ("producer", header.producer),
        ("bytecode", None if header.bytecode_version is None else f"v{header.bytecode_version}"),
        ("size", _bytes(header.size)),
    ]
    return [_row(label, value) for label, value in rows if value is not None]


def _needs(facts: Inspection) -> str:
    if facts.minimum_version is None:
        return "what no StableHLO version holds"
    version = f"StableHLO {facts.minimum_version}"
    setters = [
        f"{each.kind} {each.name}"
        for each in facts.features
        if each.version == facts.minimum_version
    ]
    return f"{version}, for {', '.join(setters)}" if setters else version


def _constants(facts: Inspection) -> list[str]:
    rows = [_row("constants", f"{facts.constants:,}, {_bytes(facts.constant_bytes)}")]
    largest = facts.largest_constant
    if largest is not None:
        where = f"{_bytes(largest.bytes)}, {largest.type} at {largest.location}"
        rows.append(_row("largest", where))
    return rows


def _row(label: str, value: str) -> str:
    return f"  {label:{_LABEL}}  {value}"


def _functions(facts: Inspection) -> list[str]:
    width = max((len(each.name) for each in facts.functions), default=0)
    return [
        f"  {each.visibility:7}  {each.name:{width}}  {_cut(each.type)}" for each in facts.functions
    ]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TYPE else f"{text[: _LONGEST_TYPE - 4]} ..."


def _features(facts: Inspection) -> list[str]:
    width = max((len(each.name) for each in facts.features), default=0)
    return [
        f"  {each.version:7}  {each.kind:9}  {each.name:{width}}  "
        f"{each.count:>5,} op{'s' if each.count > 1 else ' '}  at {each.location}"
        for each in facts.features
    ]


def _small_floats(facts: Inspection) -> list[str]:
    if not facts.small_floats:
        return []
    places = list(next(iter(facts.small_floats.values())))
    rows = [f"  {'':13}  " + "  ".join(f"{place:>9}" for place in places)]
    for type_, counts in facts.small_floats.items():
        rows.append(f"  {type_:13}  " + "  ".join(f"{counts[place]:9,}" for place in places))
    return rows


def _ops(facts: Inspection) -> list[str]:
    return [f"  {count:9,}  {name}" for name, count in facts.ops.items()]


def _bytes(count: int) -> str:
    if count < 1024:
        return f"{count} bytes"
    power = min(4, (count.bit_length() - 1) // 10)
    unit = ("KiB", "MiB", "GiB", "TiB")[power - 1]
    return f"{count / 1024**power:.1f} {unit} ({count:,} bytes)"
