"""Write the tables of docs/numerics.md from what the exhaustive runs recorded.

    python test/exhaustive/tables.py

A row holds all ops of the same outcome. What stands between the two markers is replaced.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from cast_cases import INTEGERS, TYPES
from results import load
from table_cells import Footnotes, agreement, casts_cell, outcome

from mlir_fp8.dialects.float_formats import SMALL_FLOATS

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "numerics.md"
MARKERS = ("<!-- tables -->", "<!-- /tables -->")
_HEAD = """## What was tried exhaustively

Made by `python test/exhaustive/tables.py` from what [ops.py](../test/exhaustive/ops.py),
[casts.py](../test/exhaustive/casts.py) and [cast_all_f32.py](../test/exhaustive/cast_all_f32.py)
found and recorded; `test_quick.py` beside them tries a slice of it in each run of the tests."""
_F8 = tuple(name for name, fmt in SMALL_FLOATS.items() if fmt.bits == 8)
F32_MODES = (
    "nearest-even",
    "nearest-even, saturating",
    "toward-zero",
    "toward-zero, saturating",
)
_NONE = "\N{EN DASH}"
_SMALL_ONLY = "small floats only"
CAST_GROUPS = {
    "eight f8": _F8,
    "f6, f4": tuple(name for name in SMALL_FLOATS if name not in _F8),
    **{name: (name,) for name in ("bf16", "f16", "f32", "f64")},
    "integers": INTEGERS,
}
_CAST_SOURCES = {
    **dict.fromkeys(SMALL_FLOATS, "all {n:,} codes"),
    "bf16": "all {n:,}",
    "f16": "all {n:,}",
    **dict.fromkeys(("i8", "ui8", "i16", "ui16"), "all {n:,}"),
}


def tables() -> str:
    """All of them, in Markdown, with the sentences that tell how to read them."""
    ops, casts = (load(HERE / "results" / f"{name}.json") for name in ("ops", "casts"))
    functions, blocks = (
        load(HERE / "results" / f"{name}.json") for name in ("transcendentals", "blocks")
    )
    parts = [_ops(ops["results"]), _judges(ops), _casts(casts), _f32_casts(casts), _blocks(blocks)]
    if functions:
        parts.append(_functions(functions))
    return "\n\n".join([_HEAD, *parts])


def _ops(results: dict[str, Any]) -> str:
    def cells(rows: dict[str, Any], notes: Footnotes) -> tuple[str, ...]:
        return tuple(outcome(rows[name]["llvm"], notes) for name in SMALL_FLOATS)

    unordered, notes = Footnotes(), Footnotes()
    rows = [
        (names, *cells(results[names.split("`")[1]], notes))
        for names, *_ in _grouped(results, lambda rows: cells(rows, unordered))
    ]
    return f"""### Ops on small floats: compiled code

Over all codes, all pairs of codes, and 65,536 random triples (`clamp`, `select`). "exact": every
result is the exact one, rounded once, NaN for NaN, with the right sign of zero. The reference is
rational arithmetic and mpmath with as many bits as it takes, in
[exact_ops.py](../test/exhaustive/exact_ops.py).

{_markdown(["op", *SMALL_FLOATS], rows)}

{notes.text()}"""


def _judges(ops: dict[str, Any]) -> str:
    judges = ("interpreter", "xla")

    def cells(rows: dict[str, Any]) -> tuple[str, ...]:
        return tuple(
            agreement({name: rows[name][judge] for name in SMALL_FLOATS}) for judge in judges
        )

    names = {"interpreter": "StableHLO's interpreter", "xla": "XLA:CPU"}
    heads = [f"{names[judge]} ({ops['judges'][judge]})" for judge in judges]
    return f"""### Which judge confirms

The same inputs by the other two judges, against the same reference. "agrees": in all results, where
a NaN of a format without NaN may be either zero.

{_markdown(["op", *heads], _grouped(ops["results"], cells))}"""


def _casts(casts: dict[str, Any]) -> str:
    rows: list[tuple[str, ...]] = []
    for source in TYPES:
        found = casts["results"][source]
        cells = [
            casts_cell([found[t] for t in group if t in found]) for group in CAST_GROUPS.values()
        ]
        largest = max(row["llvm"].get("cases", 0) for row in found.values())
        label = _CAST_SOURCES.get(source, "edges, up to {n:,}").format(n=largest)
        confirmed = [
            agreement({t: row[judge] for t, row in found.items()})
            for judge in ("interpreter", "xla")
        ]
        rows.append((f"{source}: {label}", *cells, *confirmed))
    return f"""### Casts

From the rows to the columns by `stablehlo.convert`, to small floats both with `saturate` and
without. "edges" are all values and midpoints of the target, two neighbours of each on both sides,
what rounds to a tie by way of f32, powers of two and random numbers. The other judges were asked
without `saturate`.

{_markdown(["from", *CAST_GROUPS, "interpreter", "XLA:CPU"], rows)}"""


def _f32_casts(casts: dict[str, Any]) -> str:
    """The other modes are options for the small floats alone."""
    rows = []
    modes = [m for m in F32_MODES if all(m in casts["all f32"][name] for name in SMALL_FLOATS)]
    for name in (*SMALL_FLOATS, "bf16", "f16"):
        found = casts["all f32"][name]
        cells = [
            casts_cell([{"llvm": found[mode]}]) if mode in found else _SMALL_ONLY for mode in modes
        ]
        rows.append((name, *cells))
    return f"""### Casts of all {1 << 32:,} numbers of f32

{_markdown(["to", *modes], rows)}"""


def _blocks(blocks: dict[str, Any]) -> str:
    """A judge that has no such rounding has a dash."""
    judges = ("microxcaling", "torchao", "transformer engine")
    rows = [
        (
            name,
            f"{_agreeing([row['decoded']])} ({row['decoded']['cases']:,})",
            f"{row['torchao']['scales']['cases']:,} and {row['torchao']['codes']['cases']:,}",
            *(_agreeing(list(row[each].values())) if each in row else _NONE for each in judges),
        )
        for name, row in blocks.items()
    ]
    heads = ["format", "all codes by all scales", "scales and codes tried", "microxcaling"]
    return f"""### Block formats: scales and codes

By [blocks.py](../test/exhaustive/blocks.py). "all codes by all scales": the f32 product, rounded
once. Scales of an amax of every exponent, at and around each mantissa where one changes; codes of
every value and midpoint, and of the numbers beside them, in blocks of every scale. Judges are
Microsoft's microxcaling, NVIDIA's formula for NVFP4 and TransformerEngine's kernel, all in numpy
([block_format_reference.py](../test/lowering/references/block_format_reference.py)), and torchao
0.18. With `ceil` torchao divides amax by MAX in f32, so that the number just above 2^k MAX has the
scale of 2^k, and so does TransformerEngine at the least scale. In blocks of that scale, 2^-127,
torchao divides by 2^-126, TransformerEngine by 1. Of NVFP4 torchao multiplies by a reciprocal,
which may take a tie for none. A judge without that rounding has a dash.

{_markdown([*heads, "torchao", "TransformerEngine"], rows)}"""


def _agreeing(found: list[dict[str, int]]) -> str:
    """ "exact", or in how many of what was tried another differs."""
    if not any(each["wrong"] for each in found):
        return "exact"
    return "differs in " + " and ".join(f"{each['wrong']:,}" for each in found)


def _functions(functions: dict[str, Any]) -> str:
    rows = [
        (
            f"`{name}`",
            f"{row['checked']:,}",
            f"{row['max_ulp']:.4f}",
            f"{row['correctly_rounded'] / row['checked']:.4%}",
            str(row["wrong_special_values"]),
            row["judge"],
        )
        for name, row in functions.items()
    ]
    heads = ["function", "numbers", "max ULP", "correctly rounded", "wrong NaN, infinity, zero"]
    return f"""### Functions of f32

{_markdown([*heads, "judge"], rows)}"""


def _grouped(
    results: dict[str, Any], cells: Callable[[dict[str, Any]], tuple[str, ...]]
) -> list[tuple[str, ...]]:
    """Rows of equal cells as one, under the names of all their ops, those of most ops first."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for op, rows in results.items():
        groups.setdefault(cells(rows), []).append(f"`{op}`")
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    return [(" ".join(names), *key) for key, names in ordered]


def _markdown(heads: list[str], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def written(page: str) -> str:
    """`page` with the tables in it, between the markers, which it must have."""
    before, rest = page.split(MARKERS[0])
    _, after = rest.split(MARKERS[1])
    return f"{before}{MARKERS[0]}\n\n{tables()}\n\n{MARKERS[1]}{after}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
