"""A report as one HTML page: plots, a table of all values, and the JSON that its script shows."""

from collections.abc import Iterable, Iterator
from html import escape
from importlib.resources import files

from mlir_fp8.reporting import words
from mlir_fp8.reporting.choice import headroom
from mlir_fp8.reporting.distance import BROKEN, Distance
from mlir_fp8.reporting.findings import Findings, ValueReport
from mlir_fp8.reporting.overview import range_plot, sqnr_plot, width_class

_COLUMNS = (
    ("#", "program order"),
    ("value", "as MLIR spells it; calls before the slash"),
    ("op", ""),
    ("location", ""),
    ("type", ""),
    ("amax", "largest finite magnitude, before the rounding where there is one"),
    ("overflow %", "finite before the rounding, beyond the largest number of the format"),
    ("underflow %", "not zero before the rounding, zero after it"),
    ("NaN %", ""),
    ("own SQNR", "dB, against what was rounded"),
    ("SQNR", "dB, against the same program in f32"),
    ("headroom", "log2(max / amax), bits"),
    ("8 bits would give", "the 8-bit format, scaled per tensor, that loses least of this value"),
    ("blocks would give", "the block formats of 8, 6 and 4 bits that lose least of this value"),
)
_NUMERIC_FROM = 5
_BEYOND = 1e9
"""Where a sort puts what has no number."""


def page(found: Findings, json: str) -> str:
    """The whole page, with `json` of the same in it; it loads nothing, and needs no script."""
    folder = files("mlir_fp8.reporting")
    style, script = (folder.joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    title = escape(f"{found.module} · {found.entry}")
    return "".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            '<meta name="color-scheme" content="light dark">\n',
            f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n",
            *_header(found, title),
            *_plots(found),
            *_controls(found),
            *_table(found),
            f'<script type="application/json" id="data">{_script_safe(json)}</script>\n',
            f"<script>\n{script}</script>\n</body>\n</html>\n",
        )
    )


def _script_safe(json: str) -> str:
    """`<` is the one character by which a script element could end early."""
    return json.replace("<", "\\u003c")


def _header(found: Findings, title: str) -> Iterator[str]:
    rounded = [each for each in found.values if each.rounding]
    losses = [each.rounding.losses for each in rounded if each.rounding]
    tiles = (
        (len(found.values), "float values"),
        (sum(each.is_narrow for each in found.values), "narrow"),
        (len(rounded), "rounded"),
        (sum(each.overflow > 0 for each in losses), "with overflow"),
        (sum(each.underflow > 0 for each in losses), "with underflow"),
        (sum(each.after.nan > 0 for each in found.values), "with NaN"),
    )
    yield f"<header>\n<h1>{title}</h1>\n<ul class=tiles>"
    yield from (f"<li><b>{number}</b> {what}</li>" for number, what in tiles)
    yield "</ul>\n"
    said = [f"Left out: {each}." for each in found.left_out]
    if found.saturate:
        said.append("Conversions saturate.")
    yield from (f"<p class=note>{escape(line)}</p>\n" for line in (*said, *found.notes))
    yield "</header>\n<main>\n"


def _plots(found: Findings) -> Iterator[str]:
    yield '<p class="legend"><span class="w8">8 bits and less</span> '
    yield '<span class="w16">16 bits</span> <span class="w32">f32 and f64</span> '
    yield '<span class="bad">beyond the format</span></p>\n'
    yield "<figure><figcaption>Distance to the same program in f32: SQNR; equal is at the top"
    yield f"</figcaption>\n{sqnr_plot(found.values)}</figure>\n"
    yield "<figure><figcaption>Narrow values before rounding, smallest magnitude to amax, on the "
    yield f"range of the format</figcaption>\n{range_plot(found.values)}</figure>\n"


def _controls(found: Findings) -> Iterator[str]:
    elements = dict.fromkeys(each.value.spec.element for each in found.values)
    yield '<form id="filter" hidden>\n'
    yield '<label>Find <input type="search" name="text" placeholder="op, place, value"></label>\n'
    yield '<label>Type <select name="element"><option value="">all</option>'
    yield from (f"<option>{escape(element)}</option>" for element in elements)
    yield "</select></label>\n"
    yield '<label>Show <select name="kind"><option value="">all values</option>'
    yield '<option value="narrow">narrow</option><option value="rounded">rounded</option>'
    yield '<option value="lossy">with losses or NaN</option></select></label>\n'
    yield '<output id="shown"></output>\n</form>\n'
    yield "<noscript><p class=note>Without JavaScript: no sorting, filters and histograms.</p>"
    yield "</noscript>\n"


def _table(found: Findings) -> Iterator[str]:
    yield '<div class="wide"><table id="values">\n<caption>Values, worst SQNR first</caption>\n'
    yield "<thead><tr>"
    for index, (name, about) in enumerate(_COLUMNS):
        number = ' class="n"' if index >= _NUMERIC_FROM else ""
        title = f' title="{escape(about)}"' if about else ""
        yield f'<th scope="col"{number}><button type="button"{title}>{name}</button></th>'
    yield "</tr></thead>\n<tbody>\n"
    order = {id(each): index for index, each in enumerate(found.values)}
    for each in found.worst_first():
        yield _row(each, order[id(each)])
    yield "</tbody></table></div>\n</main>\n"


def _row(each: ValueReport, index: int) -> str:
    value, own = each.value, each.rounding
    count = each.after.count
    best, in_blocks = words.best(each), words.in_blocks(each)
    where = f"{value.scope} {value.place}".strip()
    losses = own.losses if own else None
    bits = _headroom(each)
    cells = (
        _text(str(index)),
        f'<th scope="row"><button type="button" aria-expanded="false">{escape(value.names[0])}'
        "</button></th>",
        _text(value.op),
        _text(where),
        f'<td><span class="{width_class(each.format)}">{escape(str(value.spec))}</span></td>',
        _number(words.magnitude(each.unrounded.amax), each.unrounded.amax),
        _share(losses.overflow if losses else None, count),
        _share(losses.underflow if losses else None, count),
        _share(each.after.nan, count),
        _sqnr(own.sqnr) if own else _number("", None),
        _sqnr(each.sqnr),
        _number("" if bits is None else f"{bits:.1f}", bits),
        _number(words.advice(each), best.scaled if best else None),
        _number(
            ", ".join(map(words.block_advice, in_blocks)),
            in_blocks[-1].sqnr_db if in_blocks else None,
        ),
    )
    kinds = " ".join(_kinds(each))
    return f'<tr id="v{index}" class="{kinds}">{"".join(cells)}</tr>\n'


def _kinds(each: ValueReport) -> Iterable[str]:
    if each.is_narrow:
        yield "narrow"
    if each.rounding:
        yield "rounded"
    losses = each.rounding.losses if each.rounding else None
    lost = losses and (losses.overflow or losses.underflow or losses.no_code)
    if lost or each.after.nan:
        yield "lossy"


def _headroom(each: ValueReport) -> float | None:
    return headroom(each.format, each.unrounded.amax) if each.unrounded.amax else None


def _sqnr(distance: Distance) -> str:
    if distance.db is not None:
        return _number(f"{distance.db:.1f}", distance.db)
    return _number(distance.kind, -_BEYOND if distance.kind == BROKEN else _BEYOND)


def _text(text: str) -> str:
    return f"<td>{escape(text)}</td>"


def _share(part: int | None, whole: int) -> str:
    if part is None or not whole:
        return _number("", None)
    text = words.share(part, whole)
    return _number(text, part / whole, kind="n bad" if part else "n")


def _number(text: str, number: float | None, kind: str = "n") -> str:
    key = "" if number is None else f' data-v="{number:.9g}"'
    return f'<td class="{kind}"{key}>{escape(text)}</td>'
